/** `POST /mcp`: the Model Context Protocol over HTTP (docs/mcp.md). */
import { ServiceError } from '../../errors';
import type { McpOverHttp } from '../../mcp/http-handler';
import { authenticate } from '../../run/authorise';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { readBody } from '../request/body';
import type { Cors } from '../response/cors';

/** Headers of a message that the protocol reads. */
const READ = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'];

export class McpRoute {
  #handler: Promise<McpOverHttp> | null = null;

  constructor(private readonly cors: Cors) {}

  async answer(exchange: Exchange, services: Services): Promise<void> {
    // A page that was not let in must not speak for a browser that can reach the service.
    if (!this.cors.allows(exchange.headers)) {
      throw new ServiceError('accessDenied', 'Pages of this origin may not use the service.');
    }
    const key = authenticate(exchange, services);
    const body = await readBody(exchange);
    const message = parsed(body?.type === 'application/json' ? body.text : '');
    const onError = (error: unknown): void => exchange.logFailure(error);
    const handler = await this.#loaded();
    const response = await handler.answer(webRequest(exchange, body?.text ?? ''), message, {
      key,
      caller: exchange,
      services,
      onError,
    });
    const own = ['content-type', 'mcp-protocol-version', 'allow'].flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [name, value];
    });
    exchange.send({
      status: response.status,
      headers: [...own, 'Cache-Control', 'no-store'],
      body: response.body === null ? null : Buffer.from(await response.arrayBuffer()),
    });
  }

  /** The SDK is loaded by the first message. */
  #loaded(): Promise<McpOverHttp> {
    this.#handler ??= import('../../mcp/http-handler.js').then(({ McpOverHttp: Loaded }) => new Loaded());
    return this.#handler;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ServiceError('invalidParameter', 'The body must be a message of JSON-RPC, as JSON.', {}, { cause });
  }
}

function webRequest({ headers, request: { method = 'POST' }, signal }: Exchange, body: string): Request {
  const given = READ.flatMap((name) => {
    const value = headers.list(name);
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  return new Request('http://logquay/mcp', { method, headers: given, body, signal });
}
