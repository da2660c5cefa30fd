import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

import { abortError } from '@logquay/duckdb-engine/concurrency';
import { createServer, type ServerOptions } from './server';

/**
 * Answers messages of the protocol over HTTP, in every revision that the SDK serves; nothing is kept between messages. Answers are JSON:
 * streams would outlive the key's check, and the tools change with the files: clients list them again.
 */
export class McpOverHttp {
  /** What each message is served with, by the information that travels with it. */
  readonly #options = new WeakMap<object, ServerOptions>();
  /** For the revision 2026-07-28. As nothing is sent before a result, it answers JSON. */
  readonly #handler = createMcpHandler(
    ({ authInfo }) => {
      const options = authInfo === undefined ? undefined : this.#options.get(authInfo.extra ?? {});
      if (options === undefined) throw new Error('A message comes with its caller.');
      return createServer(options);
    },
    { legacy: 'reject', keepAliveMs: 0, maxSubscriptions: 0 },
  );

  /** @param body what is parsed of the request's */
  async answer(request: Request, body: unknown, options: ServerOptions): Promise<Response> {
    if (await isLegacyRequest(request, body)) return answerLegacy(request, body, options);
    const extra = {};
    this.#options.set(extra, options);
    const authInfo = { token: '', clientId: options.key.name, scopes: [], extra };
    return this.#handler.fetch(request, { authInfo, parsedBody: body });
  }
}

/** By the earlier revisions, which alone know batches. */
async function answerLegacy(request: Request, body: unknown, options: ServerOptions): Promise<Response> {
  const server = createServer(options);
  await server.connect(new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true }));
  const transport = server.transport as WebStandardStreamableHTTPServerTransport;
  // A call that is cancelled has no answer, for which the answer to its batch would wait for ever.
  const parsedBody = Array.isArray(body) ? body.filter((message) => !isCancellation(message)) : body;
  try {
    return await new Promise<Response>((resolve, reject) => {
      const leave = (): void => reject(abortError());
      if (request.signal.aborted) leave();
      request.signal.addEventListener('abort', leave, { once: true });
      transport.handleRequest(request, { parsedBody }).then(resolve, reject);
    });
  } finally {
    await server.close();
  }
}

function isCancellation(message: unknown): boolean {
  return (message as { readonly method?: unknown } | null)?.method === 'notifications/cancelled';
}
