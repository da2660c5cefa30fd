import type { Collector } from '../../collector/collector';
import { ServiceError } from '../../errors';
import { countRate } from '../../run/authorise';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { readBatchBody } from '../request/batch-body';
import { jsonResponse } from '../response/response';

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
