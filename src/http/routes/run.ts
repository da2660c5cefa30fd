import type { IncomingMessage } from 'node:http';

import { type RawEntry, readJsonBody, readUrlEncoded } from '../../endpoints/raw-entries';
import { hasConsumerQuery } from '../../endpoints/reserved-parameters';
import { chooseRepresentation } from '../../rendering/representation';
import { analyse, schemaOf } from '../../run/analyse';
import { run } from '../../run/run';
import type { Services } from '../../run/services';
import { tail } from '../../run/tail/tail';
import type { EventWriter, TailRequest } from '../../run/tail/types';
import type { BodyHead, BodyWriter, RunRequest } from '../../run/types';
import type { RequestTelemetry } from '../../telemetry';
import type { Exchange } from '../exchange';
import { hasBody, readBody } from '../request/body';
import { conditionalResponse, chooseCoding } from '../response/conditional';
import { isLogflareError, jsonResponse } from '../response/response';
import { HeaderList } from '../response/head';
import { checkAccept, HEADERS } from './catalogue';

export const VARY = 'Accept, Accept-Encoding, X-API-KEY, Authorization, LF-ENDPOINT-REDACT-PII';

/**
 * `GET`, `HEAD` and `POST /api/endpoints/query/:idOrName`: HTTP's side of a run. It needs Node's request alone, so that
 * Express can be left out where nothing but speed matters.
 *
 * @param logflareErrors whether errors of consumer queries are answered as Logflare does
 */
export async function answerRun(
  exchange: Exchange,
  idOrName: string,
  services: Services,
  logflareErrors = false,
): Promise<void> {
  const request = new HttpRunRequest(exchange, idOrName);
  try {
    await answer(exchange, request, services);
  } catch (error) {
    if (!logflareErrors || !isLogflareError(error) || !(await request.isJsonQuery())) throw error;
    exchange.failAsLogflare(error);
  }
}

async function answer(exchange: Exchange, request: HttpRunRequest, services: Services): Promise<void> {
  const answered = await run(request, services);
  if (answered === null) return;
  const { response, headers: fromRun } = answered;
  const headers = new HeaderList([...fromRun, 'Vary', VARY]);
  if (response.truncated) headers.set('X-Result-Truncated', 'true');
  const { contentType } = response;
  const bodied = exchange.request.method !== 'POST' && hasBody(exchange.request);
  // Caches know a GET by its URL alone, which with a body is not all that was sent.
  if (bodied) headers.set('Cache-Control', 'no-store');
  const method = bodied ? 'POST' : exchange.request.method;
  exchange.send(
    await conditionalResponse({ response, contentType, headers: headers.flat }, { method }, exchange.headers),
  );
}

/** A class, as one is made for every request: its methods are made once. */
class HttpRunRequest implements RunRequest {
  readonly id: string;
  readonly query: string | null;
  readonly arrived: number;
  #given: Promise<RawEntry[]> | null = null;

  constructor(
    protected readonly exchange: Exchange,
    readonly idOrName: string,
  ) {
    const { id, arrived, request } = exchange;
    this.id = id;
    this.arrived = arrived;
    this.query = hasBody(request) ? null : queryOf(request);
  }

  get signal(): AbortSignal {
    return this.exchange.signal;
  }

  header(name: string): readonly string[] {
    return this.exchange.header(name);
  }

  parameters(): Promise<RawEntry[]> {
    this.#given ??= readGiven(this.exchange);
    return this.#given;
  }

  /** Whether the request runs a consumer query and is answered in JSON; for an authorised caller only. */
  async isJsonQuery(): Promise<boolean> {
    try {
      if (!hasConsumerQuery(await this.parameters())) return false;
      return chooseRepresentation(this.header('accept').join(', ')) === 'application/json';
    } catch {
      return false;
    }
  }

  timed<T>(phase: string, step: () => Promise<T> | T): Promise<T> {
    return this.exchange.timed(phase, step);
  }

  record(attributes: RequestTelemetry): void {
    this.exchange.record(attributes);
  }

  expectUntil(deadline: number): void {
    this.exchange.expectUntil(deadline);
  }

  setHeaders(headers: readonly string[]): void {
    this.exchange.setHeaders(headers);
  }

  beginBody({ contentType, compressible, fileName, headers }: BodyHead): BodyWriter {
    const coding = compressible ? chooseCoding(this.exchange.headers.list('accept-encoding')) : null;
    const own = [
      'Vary',
      VARY,
      'Content-Type',
      contentType,
      'Content-Disposition',
      `attachment; filename="${fileName}"`,
    ];
    const encoded = coding === null ? [] : ['Content-Encoding', coding];
    return this.exchange.beginBody([...headers, ...own, ...encoded], coding);
  }
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  if (start === -1) return '';
  const end = url.indexOf('#', start);
  return url.slice(start + 1, end === -1 ? undefined : end);
}

/** The parameters of URL and body. */
async function readGiven(exchange: Exchange): Promise<RawEntry[]> {
  const { request } = exchange;
  const given = readUrlEncoded(queryOf(request));
  const body = hasBody(request) ? await readBody(exchange) : null;
  if (body === null) return given;
  const inBody = body.type === 'application/json' ? readJsonBody(body.text) : readUrlEncoded(body.text);
  exchange.record({ parameters: inBody.map(({ name }) => name) });
  return [...given, ...inBody];
}

/** `GET`, `HEAD` and `POST /api/endpoints/tail/:idOrName`: rows as they arrive, as `text/event-stream`. */
export function answerTail(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  return tail(new HttpTailRequest(exchange, idOrName), services);
}

class HttpTailRequest extends HttpRunRequest implements TailRequest {
  beginEvents(headers: readonly string[]): EventWriter {
    // Proxies hand events on as they come.
    const own = ['Content-Type', 'text/event-stream', 'Vary', VARY, 'X-Accel-Buffering', 'no'];
    return this.exchange.beginEvents([...headers, ...own]);
  }
}

/** `GET` and `POST /api/endpoints/analyze/:idOrName`: what a run would say, without running anything. */
export async function answerAnalysis(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  const analysis = await analyse(new HttpRunRequest(exchange, idOrName), services);
  checkAccept(exchange);
  exchange.send(jsonResponse(200, { result: analysis }, HEADERS));
}

/** `GET /api/endpoints/schema/:idOrName`: what the key may query there. */
export async function answerSchema(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  const schema = await schemaOf(new HttpRunRequest(exchange, idOrName), services);
  checkAccept(exchange);
  exchange.send(jsonResponse(200, { result: schema }, HEADERS));
}
