import type { IncomingMessage } from 'node:http';

import { type RawEntry, readJsonBody, readUrlEncoded } from '../endpoints';
import { run } from '../run';
import type { Rooms, RunAnswer } from '../run/request';
import type { Answer } from './answer';
import { readBody } from './body';
import { clientHas } from './conditional';
import { chooseCoding } from './content-coding';
import type { Exchange } from './exchange';
import type { RequestHeaders } from './headers';

const VARY = 'Accept, Accept-Encoding, X-API-KEY, Authorization, LF-ENDPOINT-REDACT-PII';

/**
 * `GET`, `HEAD` and `POST /api/endpoints/query/:idOrName`: HTTP's side of a run. It needs Node's request alone, so that
 * Express can be left out where nothing but speed matters.
 */
export async function answerRun(exchange: Exchange, idOrName: string, rooms: Rooms): Promise<void> {
  const { request, headers } = exchange;
  const query = queryOf(request);
  const answer = await run(
    {
      id: exchange.id,
      idOrName,
      query: request.method === 'POST' ? null : query,
      header: (name) => headers.values(name),
      parameters: () => readGiven(query, request, headers),
      arrived: exchange.arrived,
      get signal() {
        return exchange.signal;
      },
      timed: (phase, step) => exchange.timed(phase, step),
      about: (what) => Object.assign(exchange.told, what),
      also: (headers) => exchange.also(headers),
    },
    rooms,
  );
  exchange.answer(await resultAnswer(answer, request, headers));
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  if (start === -1) return '';
  const end = url.indexOf('#', start);
  return url.slice(start + 1, end === -1 ? undefined : end);
}

/** The parameters of URL and body. A body says something with POST alone: with GET it has no meaning (RFC 9110, 9.3.1). */
async function readGiven(query: string, request: IncomingMessage, headers: RequestHeaders): Promise<RawEntry[]> {
  const given = readUrlEncoded(query);
  const body = request.method === 'POST' ? await readBody(request, headers) : null;
  if (body === null) return given;
  return [...given, ...(body.type === 'application/json' ? readJsonBody(body.text) : readUrlEncoded(body.text))];
}

/** The finished bytes as an answer: 304 for who has them already, packed for who can unpack them. */
async function resultAnswer(
  { finished, headers: told }: RunAnswer,
  request: IncomingMessage,
  headers: RequestHeaders,
): Promise<Answer> {
  const common = {
    ...told,
    ETag: finished.etag,
    Vary: VARY,
    ...(finished.truncated ? { 'X-Result-Truncated': 'true' } : {}),
  };
  // A POST selects no representation that a client could hold (RFC 9110, 13.1).
  if (request.method !== 'POST' && clientHas(headers.list('if-none-match'), finished.etag)) {
    return { status: 304, headers: common, body: null };
  }
  const coding = chooseCoding(headers.list('accept-encoding'));
  const packed = coding === null ? null : finished.encoded(coding);
  return {
    status: 200,
    headers: {
      ...common,
      'Content-Type': finished.contentType,
      ...(packed === null ? {} : { 'Content-Encoding': coding ?? 'identity' }),
    },
    body: packed === null ? finished.bytes : await packed,
  };
}
