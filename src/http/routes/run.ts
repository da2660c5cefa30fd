import type { IncomingMessage } from 'node:http';

import { type RawEntry, readJsonBody, readUrlEncoded } from '../../endpoints';
import { run } from '../../run/run';
import type { Services } from '../../run/services';
import type { RunRequest } from '../../run/types';
import type { RequestTelemetry } from '../../telemetry';
import { readBody } from '../request/body';
import type { Exchange } from '../exchange';
import { conditionalResponse } from '../response/conditional';
import type { RequestHeaders } from '../request/headers';

const VARY = 'Accept, Accept-Encoding, X-API-KEY, Authorization, LF-ENDPOINT-REDACT-PII';

/**
 * `GET`, `HEAD` and `POST /api/endpoints/query/:idOrName`: HTTP's side of a run. It needs Node's request alone, so that
 * Express can be left out where nothing but speed matters.
 */
export async function answerRun(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  const { response, headers: fromRun } = await run(new HttpRunRequest(exchange, idOrName), services);
  const headers = [...fromRun, 'Vary', VARY];
  if (response.truncated) headers.push('X-Result-Truncated', 'true');
  const { contentType } = response;
  exchange.send(await conditionalResponse({ response, contentType, headers }, exchange.request, exchange.headers));
}

/** A class, as one is made for every request: its methods are made once. */
export class HttpRunRequest implements RunRequest {
  readonly id: string;
  readonly query: string | null;
  readonly arrived: number;

  constructor(
    private readonly exchange: Exchange,
    readonly idOrName: string,
  ) {
    const { id, arrived, request } = exchange;
    this.id = id;
    this.arrived = arrived;
    this.query = request.method === 'POST' ? null : queryOf(request);
  }

  get signal(): AbortSignal {
    return this.exchange.signal;
  }

  header(name: string): readonly string[] {
    return this.exchange.header(name);
  }

  parameters(): Promise<RawEntry[]> {
    const { request, headers } = this.exchange;
    return readGiven(request, headers);
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
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  if (start === -1) return '';
  const end = url.indexOf('#', start);
  return url.slice(start + 1, end === -1 ? undefined : end);
}

/** The parameters of URL and body. A body says something with POST alone: with GET it has no meaning (RFC 9110, 9.3.1). */
async function readGiven(request: IncomingMessage, headers: RequestHeaders): Promise<RawEntry[]> {
  const given = readUrlEncoded(queryOf(request));
  const body = request.method === 'POST' ? await readBody(request, headers) : null;
  if (body === null) return given;
  return [...given, ...(body.type === 'application/json' ? readJsonBody(body.text) : readUrlEncoded(body.text))];
}
