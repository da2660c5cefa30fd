import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import type { Collector } from '@logquay/collector';
import { ServiceError } from '../../errors';
import { authenticate, countRate } from '../../run/authorise';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { noRoom, receive } from '../request/body';
import type { RequestHeaders } from '../request/headers';
import { jsonResponse } from '../response/response';

const unpack = promisify(gunzip);

/**
 * The body of a request that brings a batch of logs: JSON, as it is or with gzip. Without a type it counts as JSON.
 *
 * @param longest bytes, unpacked
 * @throws ServiceError as `receive`, unsupportedMediaType
 */
export async function readBatchBody(exchange: Exchange, longest: number): Promise<Buffer> {
  const { headers } = exchange;
  const packed = isPacked(headers);
  const type = headers.list('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/json';
  if (type !== 'application/json') {
    throw new ServiceError('unsupportedMediaType', 'A batch of logs must be JSON, in UTF-8.', {
      allowed: ['application/json'],
    });
  }
  const body = await receive(exchange, longest, () => tooLarge(longest));
  return packed ? unpacked(exchange, body, longest) : body;
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

/** `POST /api/logs` and its other paths: stores a batch of logs, and answers when it is written (docs/collector.md). */
export async function answerCollect(exchange: Exchange, services: Services): Promise<void> {
  const { ingest } = services;
  if (ingest === undefined) throw new ServiceError('notFound', 'There is nothing under this path.');
  const key = ingest.authenticate((header) => exchange.header(header));
  exchange.record({ key: key.name });
  await countRate(exchange, key, services);
  const { collector } = ingest;
  const source = sourceOf(exchange.request.url ?? '');
  await collector.admit();
  const { table, events, refused } = await store(exchange, collector, source, key.name);
  exchange.record({ table, events });
  // The words of Logflare's answer.
  exchange.send(jsonResponse(200, { message: 'Logged!', ...(refused === 0 ? {} : { refused }) }));
}

async function store(
  exchange: Exchange,
  collector: Collector,
  source: string,
  keyName: string,
): ReturnType<Collector['collect']> {
  const body = await exchange.timed('read', () =>
    readBatchBody(exchange, collector.maxBody).catch((error: unknown) => {
      throw collector.refused(error);
    }),
  );
  const deadline = performance.now() + PATIENCE;
  exchange.expectUntil(deadline);
  return collector.collect({ source, body }, { deadline, signal: exchange.signal, keyName });
}

/** By name or UUID. */
function sourceOf(url: string): string {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const sources = [...query.getAll('source_name'), ...query.getAll('source')];
  if (sources.length === 1 && sources[0] !== '') return sources[0] ?? '';
  throw new ServiceError('invalidParameter', 'The URL must name one source, in "source_name" or "source".', {
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
