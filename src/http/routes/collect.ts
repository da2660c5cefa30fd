import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import type { Collector } from '@logquay/collector';
import type { RunLimits } from '@logquay/duckdb-engine/concurrency';
import { ServiceError } from '../../errors';
import type { Key } from '../../keys/key';
import { authenticate, countRate } from '../../run/authorise';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { noRoom, receive } from '../request/body';
import type { RequestHeaders } from '../request/headers';
import { jsonResponse } from '../response/response';

const unpack = promisify(gunzip);

export const JSON_TYPE = 'application/json';

/** Whoever sends logs, once its request counts and logs can be stored. */
interface Sender {
  readonly collector: Collector;
  readonly key: Key;
}

/** @throws ServiceError notFound: no logs are taken in; unauthenticated, accessDenied, rateLimitExceeded */
export async function admitSender(exchange: Exchange, services: Services): Promise<Sender> {
  const { ingest } = services;
  if (ingest === undefined) throw new ServiceError('notFound', 'There is nothing under this path.');
  const key = ingest.authenticate((header) => exchange.header(header));
  exchange.record({ key: key.name });
  await countRate(exchange, key, services);
  return { collector: ingest.collector, key };
}

/**
 * The body of a request that brings logs, as it is or with gzip.
 *
 * @param types that are read
 * @throws ServiceError as `Collector.admit` and `receive`, unsupportedMediaType
 */
export async function readBatchBody(
  exchange: Exchange,
  collector: Collector,
  types: readonly string[],
): Promise<Buffer> {
  await collector.admit();
  return exchange.timed('read', () =>
    readPacked(exchange, types, collector.maxBody).catch((error: unknown) => {
      throw collector.refused(error);
    }),
  );
}

async function readPacked(exchange: Exchange, types: readonly string[], longest: number): Promise<Buffer> {
  const { headers } = exchange;
  const packed = isPacked(headers);
  if (!types.includes(contentType(headers) ?? JSON_TYPE)) {
    throw new ServiceError('unsupportedMediaType', 'Logs of this type are not read.', { allowed: types });
  }
  const body = await receive(exchange, longest, () => tooLarge(longest));
  return packed ? unpacked(exchange, body, longest) : body;
}

/** Without its parameters; undefined: there is none. */
export function contentType(headers: RequestHeaders): string | undefined {
  return headers.list('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
}

function isPacked(headers: RequestHeaders): boolean {
  const coding = headers.list('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === 'gzip') return coding === 'gzip';
  throw new ServiceError('unsupportedMediaType', 'This content coding is not read.', { allowed: ['gzip', 'identity'] });
}

async function unpacked(exchange: Exchange, packed: Buffer, longest: number): Promise<Buffer> {
  const holding = exchange.holdBody();
  // How long it gets is not known before.
  if (!holding.take(longest, packed)) throw noRoom();
  try {
    const body = await unpack(packed, { maxOutputLength: longest });
    holding.take(body.length);
    holding.give(packed);
    return body;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(longest);
    throw new ServiceError('invalidParameter', 'The body is not gzip.', {}, { cause });
  }
}

function tooLarge(longest: number): ServiceError {
  return new ServiceError('payloadTooLarge', `A batch may have ${String(longest)} bytes.`, {
    hint: 'Send smaller batches, or raise COLLECT_MAX_BODY.',
  });
}

/** Milliseconds that a batch may wait to be read. */
const PATIENCE = 20_000;

/** How long the events of a request may wait to be read, and for whom. */
export function limitsOf(exchange: Exchange, key: Key): RunLimits {
  const deadline = performance.now() + PATIENCE;
  exchange.expectUntil(deadline);
  return { deadline, signal: exchange.signal, keyName: key.name };
}

/** `POST /api/logs` and its other paths: stores a batch of logs, and answers when it is written (docs/data.md). */
export async function answerCollect(exchange: Exchange, services: Services): Promise<void> {
  const { collector, key } = await admitSender(exchange, services);
  const source = sourceOf(exchange, collector.sources);
  const body = await readBatchBody(exchange, collector, [JSON_TYPE]);
  const { project = null } = key;
  const { table, events, refused } = await collector.collect({ source, body, project }, limitsOf(exchange, key));
  exchange.record({ table, events });
  // The words of Logflare's answer.
  exchange.send(jsonResponse(200, { message: 'Logged!', ...(refused === 0 ? {} : { refused }) }));
}

/**
 * The source of all events, by name or UUID: of the URL, else of the header that COLLECT_SOURCES names; null: each event names its own.
 *
 * @throws ServiceError invalidParameter
 */
function sourceOf(exchange: Exchange, { header, member }: Collector['sources']): string | null {
  const { url = '' } = exchange.request;
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const inUrl = [...query.getAll('source_name'), ...query.getAll('source')];
  const inHeader = header === null ? [] : exchange.header(header);
  const sources = inUrl.length > 0 ? inUrl : inHeader;
  if (sources.length === 0 && member !== null) return null;
  if (sources.length === 1 && sources[0] !== '') return sources[0] ?? '';
  const places = ['"source_name" or "source" of the URL', ...(header === null ? [] : [`the header ${header}`])];
  throw new ServiceError('invalidParameter', `The request must name one source, in ${places.join(', or in ')}.`, {
    parameter: 'source_name',
  });
}

/**
 * Refuses what Supabase Studio sends to list and edit log drains: it must not show one that is not there.
 *
 * @throws ServiceError notImplemented, after unauthenticated
 */
export function refuseDrains(exchange: Exchange, services: Pick<Services, 'keys'>): never {
  authenticate(exchange, services);
  throw new ServiceError(
    'notImplemented',
    'Log drains are not configured here: configure them as sinks of Vector, which sends the logs.',
  );
}
