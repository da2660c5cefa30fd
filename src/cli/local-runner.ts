import { openEngine } from '../app';
import { MemoryStore, MemoryUsageBook } from '../cache/memory';
import { Results } from '../cache/results';
import { FairSlots, Threads } from '@logquay/duckdb-engine/concurrency';
import { Parts } from '../concurrency/parts';
import { type Config, readConfig } from '../config';
import { type Catalogue, openCatalogue } from '../endpoints/catalogue';
import { FolderTables } from '../endpoints/tables-endpoint';
import { type Engine, ForwardingEngine } from '@logquay/duckdb-engine/contract';
import type { NamedType } from '@logquay/googlesql/types';
import type { Key } from '../keys/key';
import { RateLimits } from '../limits/rate-limits';
import { type Log, openLog } from '../log';
import type { EncodedResponse } from '../rendering/encoded-response';
import { servicesOf } from '../run/open-services';
import { PageTokens } from '../run/page-query';
import { run } from '../run/run';
import type { Services } from '../run/services';
import type { RunRequest } from '../run/types';
import { Gate } from '../sandbox/gate';

export interface LocalRequest {
  /** Name or id. */
  readonly endpoint: string;
  /** Names and values as a URL would have them, the reserved ones among them. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly redact: boolean;
  /** The media type of the result. */
  readonly accept: string;
}

export interface LocalResult {
  readonly response: EncodedResponse;
  /** The columns of the result with their types. */
  readonly columns: readonly NamedType[];
}

/** Runs stored endpoints in this process: the same way as a request's (src/run/run.ts), without HTTP, keys file and cache. */
export interface LocalRunner {
  /** @throws ServiceError as for a caller; AbortError by the signal */
  run(request: LocalRequest, key: Key, signal: AbortSignal): Promise<LocalResult>;
  close(): Promise<void>;
}

/** The same, for who runs more than endpoints. */
export interface OpenRunner extends LocalRunner {
  /** What a run of a key uses. */
  services(key: Key): Services;
}

/**
 * Opens the engine of `config` for runs over `catalogue`.
 *
 * @throws DataFault, ServiceError as at a start; AbortError by the signal
 */
export async function openLocalRunner(
  config: Config,
  catalogue: Catalogue,
  log: Log,
  signal: AbortSignal,
): Promise<OpenRunner> {
  const parts = new Parts(['threads', 'engine', 'tables', 'gate']);
  try {
    signal.throwIfAborted();
    const threads = new Threads();
    parts.opened('threads', () => threads.close());
    const engine = await openEngine(config, catalogue, log);
    parts.opened('engine', () => engine.close());
    signal.throwIfAborted();
    const tables = config.tables ? new FolderTables(engine, log, (endpoint) => catalogue.serve(endpoint)) : null;
    if (tables !== null) parts.opened('tables', () => tables.close());
    await tables?.look();
    const gate = new Gate(engine, threads);
    parts.opened('gate', () => gate.close());
    return {
      run: async (request, key, runSignal) => {
        const recording = new RecordingEngine(engine);
        const services = localServices(config, { catalogue, engine: recording, gate, threads }, key);
        const answered = await run(toRunRequest(request, runSignal), services);
        if (answered === null) throw new Error('Exports are for callers over HTTP.');
        return { response: answered.response, columns: recording.columns };
      },
      services: (key) => localServices(config, { catalogue, engine, gate, threads }, key),
      close: () => parts.close(),
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** As of the service, without keys, bounds and a cache. */
function localServices(
  config: Config,
  opened: Pick<Services, 'catalogue' | 'engine' | 'gate' | 'threads'>,
  key: Key,
): Services {
  return servicesOf(config, {
    ...opened,
    keys: { authenticate: () => key, find: () => key },
    admission: new FairSlots({ perName: 1, total: 1, waiting: 0 }),
    budgets: { left: () => null, check: () => Promise.resolve() },
    rates: new RateLimits(0, null),
    pageTokens: new PageTokens(null),
    results: new Results({
      memory: new MemoryStore({ bytes: 0, maxEntry: 0 }),
      shared: null,
      staleIfError: 0,
      leaseTime: config.cache.leaseTime,
    }),
    usage: new MemoryUsageBook(0),
    cacheState: () => 'ok',
  });
}

/** The engine, whose results' columns are remembered. */
class RecordingEngine extends ForwardingEngine {
  /** Of the last result. */
  columns: readonly NamedType[] = [];

  override async run(...call: Parameters<Engine['run']>): ReturnType<Engine['run']> {
    const result = await super.run(...call);
    this.columns = result.columns;
    return result;
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
    beginBody: () => {
      throw new Error('Exports are for callers over HTTP.');
    },
  };
}

/** Whoever may start this process may read its data anyway. */
export const OPERATOR: Key = {
  name: 'operator',
  endpoints: '*',
  pins: new Map(),
  redact: false,
  allowSql: true,
  export: false,
  rateLimit: null,
  dailyBytes: null,
  expires: null,
  operator: true,
};

/**
 * Runs a stored endpoint in this process, as the operator.
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
  try {
    const runner = await openLocalRunner(config, catalogue, log, signal);
    try {
      const { response } = await runner.run(request, OPERATOR, signal);
      return { bytes: response.bytes, truncated: response.truncated };
    } finally {
      await runner.close();
    }
  } finally {
    catalogue.close();
  }
}
