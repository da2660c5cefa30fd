import { StoredAnalyses } from '../analysis/stored-analyses';
import { nowOf, openEngine } from '../app';
import { MemoryStore } from '../cache/memory-store';
import { MemoryUsageBook } from '../cache/memory-usage-book';
import { Results } from '../cache/results';
import { Threads } from '../concurrency/threads';
import { readConfig } from '../config';
import { openCatalogue } from '../endpoints';
import type { Key } from '../keys';
import { Admission } from '../limits/admission';
import { RateLimits } from '../limits/rate-limits';
import { openLog } from '../log';
import { PlanCache } from '../run/plan-cache';
import { run } from '../run/run';
import type { RunRequest } from '../run/types';
import { Gate } from '../sandbox';

export interface LocalRequest {
  /** Name or id. */
  readonly endpoint: string;
  /** Names and values as a URL would have them, the reserved ones among them. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly redact: boolean;
  /** The media type of the result. */
  readonly accept: string;
}

/** Whoever may start this process may read its data anyway. */
const OPERATOR: Key = {
  name: 'operator',
  endpoints: '*',
  pins: new Map(),
  redact: false,
  allowSql: true,
  rateLimit: null,
  dailyBytes: null,
  expires: null,
};

/**
 * Runs a stored endpoint in this process: the same way as a request's (src/run/run.ts), without HTTP, keys and cache.
 *
 * @throws ServiceError as for a caller; ConfigError, CatalogueError and DataFault as at a start; AbortError by the signal
 */
export async function runLocally(
  request: LocalRequest,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly truncated: boolean }> {
  const config = readConfig(environment);
  // Only warnings, unless LOG_LEVEL is set: the output is the result.
  const log = openLog(environment['LOG_LEVEL'] ? config.logLevel : 'warn', process.stderr);
  const catalogue = await openCatalogue(config.queriesDir, { log });
  const closers: (() => Promise<void> | void)[] = [() => catalogue.close()];
  try {
    signal.throwIfAborted();
    const threads = new Threads();
    closers.push(() => threads.close());
    const engine = await openEngine(config, catalogue, log);
    closers.push(() => engine.close());
    signal.throwIfAborted();
    const gate = new Gate(engine, threads);
    closers.push(() => gate.close());
    const { response } = await run(toRunRequest(request, signal), {
      keys: { authenticate: () => OPERATOR, find: () => OPERATOR },
      catalogue,
      engine,
      gate,
      analyses: new StoredAnalyses(engine, gate),
      threads,
      now: nowOf(config.clock),
      pricePerTiB: config.pricePerTiB,
      admission: new Admission({ runningPerKey: 1, running: 1, waiting: 0 }),
      rates: new RateLimits({ perKey: 0, perEndpoint: 0, sync: null }),
      plans: new PlanCache(),
      results: new Results({
        memory: new MemoryStore({ bytes: 0, maxEntry: 0 }),
        shared: null,
        staleIfError: 0,
        leaseTime: config.cache.leaseTime,
      }),
      usage: new MemoryUsageBook(0),
      cacheState: () => 'ok',
      defaults: { timeout: config.queryTimeout, maxBytesBilled: config.maxBytesBilled },
      longestResponse: config.maxResponseBytes,
      escapeFormulas: config.csvEscapeFormulas,
    });
    return { bytes: response.bytes, truncated: response.truncated };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function toRunRequest({ endpoint, parameters, redact, accept }: LocalRequest, signal: AbortSignal): RunRequest {
  const headers = new Map([
    ['accept', accept],
    ['lf-endpoint-redact-pii', String(redact)],
  ]);
  return {
    id: 'local',
    idOrName: endpoint,
    query: null,
    header: (name) => [headers.get(name) ?? []].flat(),
    parameters: () => Promise.resolve(parameters.map(([name, text]) => ({ name, value: { kind: 'text', text } }))),
    arrived: performance.now(),
    signal,
    timed: async (_phase, step) => step(),
    record: () => undefined,
    expectUntil: () => undefined,
    setHeaders: () => undefined,
  };
}
