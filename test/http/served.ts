import { StoredAnalyses } from '../../src/analysis/stored-analyses';
import { Threads } from '../../packages/duckdb-engine/src/concurrency/threads/threads';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { ServiceError } from '../../src/errors';
import type { Key } from '../../src/keys/key';
import { Metrics } from '../../src/metrics/metrics';
import { Gate } from '../../src/sandbox/gate';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { MemoryStore, MemoryUsageBook } from '../../src/cache/memory';
import type { Explorer } from '../../src/http/explorer';
import { createHttpServer, recordRefused } from '../../src/http/server/http-server';
import type { Tracing } from '../../src/tracing/request-spans';
import { Results } from '../../src/cache/results';
import { Secret } from '../../src/config';
import { readDefinition } from '../../src/endpoints/definition';
import type {
  Engine,
  EngineQuery,
  EngineResult,
  LineSink,
  RunLimits,
  TableSchemas,
} from '../../packages/duckdb-engine/src/contract/contract';
import type { NamedType } from '../../packages/googlesql/src/types';
import { Health } from '../../src/health/health';
import { drainable } from '../../src/http/server/drain';
import { Lifecycle } from '../../src/http/server/lifecycle';
import { sharesOf, type Shares } from '../../src/limits/byte-shares';
import { createListener } from '../../src/http/server/listener';
import { FairSlots, type SlotBounds } from '../../packages/duckdb-engine/src/concurrency/fair-slots';
import { exportSlots } from '../../src/limits/admission';
import { BilledEngine, type Billing } from '../../src/limits/billed-engine';
import { Budgets } from '../../src/limits/budget';
import { RateLimits } from '../../src/limits/rate-limits';
import { openLog } from '../../src/log';
import { PageTokens } from '../../src/run/page-query';
import { PlanCache } from '../../src/run/plan-cache';
import type { Services } from '../../src/run/services';
import { settled } from '../manual-clock';
import { until } from '../until';

/** An engine whose answers a test decides: what is tested here is what HTTP makes of them. */
export class ScriptedEngine implements Engine {
  readonly kind: Engine['kind'];
  readonly target: string = 'scripted';
  readonly dryRun: Engine['dryRun'] = null;
  readonly queries: EngineQuery[] = [];
  columns: readonly string[] = ['id', 'message'];
  rows: readonly string[] = ['{"id":1,"message":"one"}', '{"id":2,"message":null}'];
  truncated = false;
  bytes: { processed: bigint | null; billed: bigint | null } = { processed: null, billed: null };
  /** What a run does before it answers. */
  onRun: (query: EngineQuery, limits: RunLimits) => Promise<void> = () => Promise.resolve();
  onPing: (limits: RunLimits) => Promise<void> = () => Promise.resolve();

  constructor(kind: Engine['kind'] = 'duckdb') {
    this.kind = kind;
  }

  async run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    this.queries.push(query);
    await this.onRun(query, limits);
    const columns = this.columns.map((name): NamedType => ({ name, type: { kind: 'STRING' } }));
    return {
      columns,
      rows: this.rows,
      truncated: this.truncated,
      bytesProcessed: this.bytes.processed,
      bytesBilled: this.bytes.billed,
    };
  }

  async stream(query: EngineQuery, limits: RunLimits, sink: LineSink): Promise<boolean> {
    const { columns, rows, truncated, bytesProcessed, bytesBilled } = await this.run(query, limits);
    sink.begin({ columns, bytesProcessed, bytesBilled }, 'json');
    for (const row of rows) await sink.take(Buffer.from(`${row}\n`), 1);
    return truncated;
  }

  tables(): Promise<TableSchemas> {
    return Promise.resolve({ schemas: new Map(), names: [] });
  }

  describe(): Promise<readonly NamedType[]> {
    return Promise.reject(new Error('Nobody asks for this.'));
  }

  inspect(): Promise<void> {
    return Promise.reject(new Error('Nobody asks for this.'));
  }

  ping(limits: RunLimits): Promise<void> {
    return this.onPing(limits);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const NOBODY: Key = {
  name: 'nobody',
  endpoints: '*',
  pins: new Map(),
  redact: false,
  allowSql: false,
  export: false,
  rateLimit: null,
  dailyBytes: null,
  expires: null,
};

/** Keys by their secrets. */
export const KEYS: Readonly<Record<string, Key>> = {
  all: { ...NOBODY, name: 'all' },
  other: { ...NOBODY, name: 'other' },
  pinned: { ...NOBODY, name: 'pinned', pins: new Map([['project', 'abc']]) },
  listed: { ...NOBODY, name: 'listed', endpoints: ['test.plain'] },
  masked: { ...NOBODY, name: 'masked', redact: true },
  slow: { ...NOBODY, name: 'slow', rateLimit: 2 / 59 },
  poor: { ...NOBODY, name: 'poor', dailyBytes: 100n },
  exporter: { ...NOBODY, name: 'exporter', export: true },
  'poor-exporter': { ...NOBODY, name: 'poor-exporter', export: true, dailyBytes: 100n },
  'pinned-exporter': { ...NOBODY, name: 'pinned-exporter', export: true, pins: new Map([['project', 'abc']]) },
  'masked-sql': { ...NOBODY, name: 'masked-sql', redact: true, allowSql: true },
};

/** The stored endpoints of test/http/queries. */
export const ENDPOINTS = ['test.plain', 'test.typed', 'test.masked'].map((name) => {
  const { endpoint, faults } = readDefinition(readFileSync(path.join(__dirname, `queries/${name}.sql`)));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
});

export interface ServedOptions {
  readonly engine?: Engine;
  readonly endpoints?: readonly Endpoint[];
  readonly bounds?: Partial<SlotBounds>;
  /** Name of an endpoint that is broken. */
  readonly broken?: string;
  readonly corsOrigins?: '*' | readonly string[];
  readonly docs?: 'open' | 'key' | 'off';
  readonly explorer?: Explorer;
  readonly longestResponse?: number;
  /** Requests per second; without, as many as come. */
  readonly rate?: number;
  readonly dailyBytes?: bigint;
  /** Without, there is no `/metrics`. */
  readonly metricsKey?: string | null;
  readonly logSql?: boolean;
  readonly logflareErrors?: boolean;
  readonly health?: Health;
  readonly timeout?: number;
  readonly searches?: Services['searches'];
  readonly tracing?: Tracing;
  /** Behind TLS. */
  readonly tls?: boolean;
  readonly shares?: Partial<Shares>;
  /** Still loading. */
  readonly starting?: boolean;
}

export interface Served {
  readonly server: Server;
  readonly port: number;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  /** Lines of the log. */
  readonly logged: string[];
  /** Resolves when no response is under way, and all that have ended are logged, counted and traced. */
  idle(): Promise<void>;
  /** As app.ts: `slack` milliseconds after the latest deadline. */
  drain(slack: number): Promise<void>;
  close(): Promise<void>;
}

/** A listening server over doubles of keys and catalogue; everything between socket and engine is the real thing. */
export async function serve(options: ServedOptions = {}): Promise<Served> {
  const logged: string[] = [];
  const lines = { write: (line: string) => logged.push(line) > 0 } as unknown as NodeJS.WritableStream;
  const lifecycle = new Lifecycle();
  const metrics = new Metrics();
  const log = openLog('info', lines);
  const server = createHttpServer(
    createListener({
      log,
      logSql: options.logSql ?? false,
      logflareErrors: options.logflareErrors ?? false,
      lifecycle,
      corsOrigins: options.corsOrigins ?? [],
      docs: options.docs ?? 'open',
      mcp: true,
      explorer: options.explorer ?? null,
      metrics,
      metricsKey: options.metricsKey ? new Secret(options.metricsKey) : null,
      tracing: options.tracing ?? null,
      tls: options.tls ?? false,
      health: options.health ?? new Health(),
      shares: { ...sharesOf(0), ...options.shares },
    }),
    recordRefused(log, metrics),
  );
  const drain = drainable(server);
  let open = 0;
  server.on('request', (_request, response) => {
    open++;
    response.once('close', () => open--);
  });
  if (options.starting !== true) lifecycle.open(services(options, metrics));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    lifecycle,
    metrics,
    logged,
    idle: async () => {
      await until(() => open === 0);
      await settled();
    },
    drain: (slack) => {
      lifecycle.drain();
      const earliest = performance.now();
      return drain(() => Math.max(earliest, lifecycle.latestDeadline) + slack);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** The services of a run over doubles of keys and catalogue. */
export function services(options: ServedOptions, metrics: Metrics): Services {
  const { engine: bare = new ScriptedEngine(), endpoints = ENDPOINTS, bounds, rate = 0, dailyBytes = null } = options;
  const keyOf: Billing['keyOf'] = (name) => Object.values(KEYS).find((key) => key.name === name) ?? null;
  const budgets = new Budgets({ perDay: dailyBytes, shared: null });
  const engine = new BilledEngine(bare, { metrics, budgets, keyOf });
  const gate = new Gate(engine);
  return {
    keys: {
      authenticate(header) {
        const key = KEYS[header('x-api-key')[0] ?? ''];
        if (key === undefined) throw new ServiceError('unauthenticated', 'This request needs a key.');
        return key;
      },
      find: (name) => Object.values(KEYS).find((key) => key.name === name) ?? null,
    },
    catalogue: {
      isBroken: ({ name }) => name === options.broken,
      resolution: () => null,
      current: () => endpoints,
      find: (idOrName) => endpoints.find(({ id, name }) => name === idOrName || id === idOrName.toLowerCase()) ?? null,
    },
    engine,
    gate,
    analyses: new StoredAnalyses(engine, gate),
    budgets,
    threads: new Threads(),
    rates: new RateLimits(rate, null),
    plans: new PlanCache(),
    pageTokens: new PageTokens(null),
    usage: new MemoryUsageBook(10),
    ...(options.searches === undefined ? {} : { searches: options.searches }),
    cacheState: () => 'ok',
    results: new Results({
      memory: new MemoryStore({ bytes: 64 * 1024 * 1024, maxEntry: 8 * 1024 * 1024 }),
      shared: null,
      staleIfError: 60_000,
      leaseTime: 5000,
    }),
    now: () => 0n,
    pricePerTiB: 6.25,
    admission: new FairSlots({ perName: 16, total: 64, waiting: 100, ...bounds }),
    exportSlots: exportSlots(engine),
    exportFile: () => {
      throw new Error('Exports are made by the real process alone.');
    },
    openEncoder: () => {
      throw new Error('Exports are made by the real process alone.');
    },
    defaults: { timeout: options.timeout ?? 30_000, exportTimeout: 60_000, maxBytesBilled: 1000n },
    longestResponse: options.longestResponse ?? 64 * 1024 * 1024,
    escapeFormulas: true,
  };
}
