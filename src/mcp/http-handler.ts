import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';

import { createServer, type ServerOptions } from './server';

/** Answers one message of the protocol over HTTP, in every revision that the SDK serves; nothing is kept between messages. */
export class McpOverHttp {
  readonly #handler: McpHttpHandler;
  /** What each message is served with, by the information that travels with it. */
  readonly #options = new WeakMap<object, ServerOptions>();

  constructor() {
    this.#handler = createMcpHandler(
      ({ authInfo }) => {
        const options = authInfo === undefined ? undefined : this.#options.get(authInfo.extra ?? {});
        if (options === undefined) throw new Error('A message comes with its caller.');
        return createServer(options);
      },
      // Streams would outlive the key's check, and the tools change with the files: clients list them again.
      { responseMode: 'json', legacy: 'stateless', keepAliveMs: 0, maxSubscriptions: 0 },
    );
  }

  /** @param body the parsed message */
  answer(request: Request, body: unknown, options: ServerOptions): Promise<Response> {
    const extra = {};
    this.#options.set(extra, options);
    const authInfo = { token: '', clientId: options.key.name, scopes: [], extra };
    return this.#handler.fetch(request, { authInfo, parsedBody: body });
  }
}
