/** `POST /mcp`: the Model Context Protocol over HTTP (docs/agents.md). */
import { readJson } from '../../endpoints/raw-entries';
import { ServiceError } from '../../errors';
import type { Key } from '../../keys/key';
import type { McpOverHttp } from '../../mcp/http-handler';
import { chooseRepresentation } from '../../rendering/representation';
import { authenticate, countRate } from '../../run/authorise';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { readBody } from '../request/body';
import type { Cors } from '../response/cors';

/** Messages of one batch: each may list all tools. */
const MOST_MESSAGES = 10;

/** Headers of a message that the protocol reads. */
const READ = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'];

export class McpRoute {
  #handler: Promise<McpOverHttp> | null = null;

  constructor(private readonly cors: Cors) {}

  async answer(exchange: Exchange, services: Services): Promise<void> {
    // A page that was not let in must not speak for a browser that can reach the service.
    if (!this.cors.allows(exchange.headers)) {
      throw new ServiceError('accessDenied', 'Pages of this origin may not use the service.');
    }
    const key = authenticate(exchange, services);
    const first = await refusalOf(exchange, key, services);
    chooseRepresentation(exchange.headers.list('accept'), ['application/json']);
    const body = await readBody(exchange);
    const text = body?.type === 'application/json' ? body.text : '';
    const message = readJson(text, 'The body');
    const others = Array.isArray(message) ? message.slice(1, MOST_MESSAGES + 1) : [];
    const refusals = [first, ...(await Promise.all(others.map(() => refusalOf(exchange, key, services))))];
    if (others.length === MOST_MESSAGES) {
      throw new ServiceError('invalidParameter', `A batch has at most ${String(MOST_MESSAGES)} messages.`);
    }
    const refusal = refusals.find((one) => one !== null) ?? null;
    // A model reads why a call of its own is refused; of anything else a client hears.
    if (refusal !== null && !isCall(message)) throw refusal;
    const onError = (error: unknown): void => exchange.logFailure(error);
    const handler = await this.#loaded();
    const options = { key, caller: exchange, services, refusal, onError };
    const response = await handler.answer(webRequest(exchange, text), message, options);
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

/** Counts one message against the rate of its key. @returns why it must not be done; null: it may */
async function refusalOf(exchange: Exchange, key: Key, services: Services): Promise<ServiceError | null> {
  try {
    await countRate(exchange, key, services);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function isCall(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'method' in message && message.method === 'tools/call';
}

function webRequest({ headers, request: { method = 'POST' }, signal }: Exchange, body: string): Request {
  const given = READ.flatMap((name) => {
    const value = headers.list(name);
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  // What a client takes has been looked at: the SDK asks for both of these forms, and the answer is JSON.
  const both: [string, string] = ['accept', 'application/json, text/event-stream'];
  return new Request('http://logquay/mcp', { method, headers: [...given, both], body, signal });
}
