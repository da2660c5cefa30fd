/** Opens every service and wires them. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { resolverOf } from './analysis/resolve-stored';
import { StoredAnalyses, storedQueryOf } from './analysis/stored-analyses';
import { openCache } from './cache/open';
import { Warmer, type WarmingOutcome } from './cache/warmer';
import type { Collector, CollectorOptions } from './collector/collector';
import { FairSlots } from './concurrency/fair-slots';
import { Threads } from './concurrency/threads';
import type { Config, Secret } from './config';
import { type Catalogue, CatalogueError, type Endpoint, openCatalogue } from './endpoints';
import type { Engine } from './engines/contract';
import type { FolderStatus } from './engines/data-status';
import type { DuckDbOptions } from './engines/duckdb/engine/options';
import type { StartedProcess } from './engines/duckdb/process/start-process';
import type { Cause } from './engines/duckdb/process/watchdog';
import { ServiceError } from './errors';
import { tablesRead } from './googlesql/from-paths';
import { Health } from './health/health';
import { openExplorer } from './http/explorer/explorer';
import { drainable } from './http/server/drain';
import { Lifecycle } from './http/server/lifecycle';
import { createListener } from './http/server/listener';
import { openMetricsPort } from './http/server/metrics-port';
import { recordRefused } from './http/server/refused-requests';
import { createHttpServer } from './http/server/http-server';
import { sharesOf } from './http/server/shares';
import { welcome } from './http/server/welcome';
import { openKeyRing, START_KEY_FILE } from './keys';
import { admissionBounds, exportSlots } from './limits/admission';
import { BilledEngine } from './limits/billed-engine';
import { Budgets } from './limits/budget';
import { RateLimits } from './limits/rate-limits';
import { RedisSpending } from './limits/redis-spending';
import type { Log, OpenLog } from './log';
import { Metrics, readData, readHealth, readServices, watchProcess } from './metrics';
import { Encoder } from './rendering/columnar/encoder';
import { PageTokens } from './run/page-token';
import { PlanCache } from './run/plan-cache';
import type { Services } from './run/services';
import { Cursors } from './run/tail/cursor';
import { Tails } from './run/tail/tails';
import { secretOf } from './run/token-secret';
import { warm } from './run/warm';
import { Gate, typicalValues } from './sandbox';
import { VERSION } from './version';

/** How long a client may take to read a response after the latest deadline, in milliseconds, before it is cut off. */
const SLOW_READER = 30_000;

/** How long the end waits for the cancellation of a start, in milliseconds. */
const PATIENCE = 2_000;

export interface Service {
  readonly port: number;
  /** Resolves with what to print when requests are answered; rejects when the service cannot start. */
  readonly ready: Promise<string>;
  /** Ends the service: resolves when everything that was accepted is answered and every service is closed. */
  drain(): Promise<void>;
}

/**
 * Starts the service. It listens at once, so that probes have their answer while the services are still being opened.
 *
 * @param terminal whether a person reads what `ready` gives
 * @param engineProcess for the embedded engine, where it has been started already
 */
export async function startService(
  config: Config,
  log: OpenLog,
  terminal: boolean,
  engineProcess: StartedProcess | null = null,
): Promise<Service> {
  const lifecycle = new Lifecycle();
  const metrics = new Metrics();
  const health = new Health();
  readHealth(metrics, health);
  countDroppedLines(metrics, log);
  log.onFault((code) => {
    health.report('log', code === null ? null : `Lines of the log cannot be written (${code}) and are dropped.`);
  });
  const { corsOrigins, docs, metricsKey, logSql, logflareErrors, publicUrl } = config;
  const explorer = config.explorer === 'off' ? null : openExplorer(config.explorer, log);
  const tracing = config.tracing && (await import('./tracing/open.js')).openTracing(config.tracing, log);
  const server = createHttpServer(
    createListener({
      log,
      logSql,
      logflareErrors,
      collects: config.collect !== null,
      lifecycle,
      health,
      corsOrigins,
      docs,
      explorer,
      mcp: config.mcp,
      metrics,
      metricsKey,
      tracing,
      tls: publicUrl?.startsWith('https:') ?? false,
      shares: sharesOf(config.maxResponseBytes),
    }),
    recordRefused(log, metrics),
  );
  const drainListener = drainable(server);
  server.listen(config.port, config.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  log.info({ host: config.host, port }, 'listening');

  const closers: (() => Promise<void> | void)[] = [() => tracing?.close(), watchProcess(metrics)];
  if (config.metricsPort !== null) {
    const at = { host: config.host, port: config.metricsPort };
    closers.push(await openMetricsPort(at, { metrics, lifecycle, health, log }));
  }
  const ending = new AbortController();
  let onArrival = (): void => undefined;
  let endTails = (): void => undefined;

  async function open(): Promise<string> {
    const keys = await openKeyRing({
      apiKey: config.apiKey,
      ingestKey: config.collect?.publicToken ?? null,
      keysFile: config.keysFile,
      keysFileGiven: config.keysFileGiven,
      startKeyFile: config.engine === 'duckdb' ? START_KEY_FILE : null,
      log,
      report: health.report,
    });
    closers.push(() => {
      keys.close();
    });
    await rm(exportFolder(config), { recursive: true, force: true }).catch((error: unknown) => {
      log.warn({ err: error }, 'files of exports that were left cannot be removed');
    });
    const threads = new Threads();
    const collector = await openCollector(config, threads, { log, metrics, report: health.report });
    closers.push(() => collector?.close());
    const engineFor = (catalogue: Pick<Catalogue, 'current'>): Promise<Engine> =>
      openEngine(config, catalogue, log, async (options) => {
        const { openRemoteEngine } = await import('./engines/duckdb/process/open.js');
        const died = (cause: Cause): void => metrics.count('engineRestarts', { cause });
        const onStatus = ({ degraded }: FolderStatus): void => {
          health.report('data_folder', degraded);
          onArrival();
        };
        return openRemoteEngine({ ...options, signal: ending.signal, first: engineProcess, died, onStatus });
      });
    // The embedded engine, in a process of its own, needs nothing of the catalogue: both are opened at the same time. Sample logs are made
    // while stored queries are resolved.
    const embedded = config.bigquery === null ? engineFor({ current: () => [] }) : null;
    let opened: Engine | null = null;
    void embedded?.then(
      (engine) => (opened = engine),
      () => undefined,
    );
    closers.push(() => opened?.close());
    const catalogue = await openCatalogue(config.queriesDir, { log, report: health.report });
    closers.push(() => {
      catalogue.close();
    });
    const bare = await (embedded ?? engineFor(catalogue));
    opened = bare;
    const redis =
      config.redis &&
      (await import('./redis/connect.js')).connectRedis(config.redis, log, {
        report: (refusal) =>
          health.report(
            'redis',
            refusal === null ? null : `Redis refuses writes (${refusal}): results are not shared.`,
          ),
      });
    closers.push(() => redis?.close());
    const cache = await openCache(config.cache, redis);
    closers.push(() => cache.close());
    const budgets = new Budgets({ perDay: config.dailyBytes, shared: redis && new RedisSpending(redis) });
    closers.push(() => budgets.close());
    const engine = new BilledEngine(bare, { budgets, metrics, keyOf: (name) => keys.find(name) });
    const admission = new FairSlots(admissionBounds(config, bare));
    const gate = new Gate(engine, threads, bare.concurrency === undefined ? null : admission);
    closers.push(() => gate.close());
    const analyses = new StoredAnalyses(engine, gate);
    const resolved = catalogue.resolveWith(resolverOf(analyses), config.strictStart);
    if (config.strictStart) {
      const faults = await resolved;
      if (faults.length > 0) throw new CatalogueError(faults);
    } else {
      // A request waits for its own endpoint alone.
      const began = performance.now();
      void resolved.then(({ length }) => {
        if (lifecycle.draining) return;
        log.info({ ms: Math.round(performance.now() - began), faults: length }, 'every stored query is resolved');
      });
    }
    metrics.read('brokenEndpoints', () =>
      catalogue
        .current()
        .filter((endpoint) => catalogue.isBroken(endpoint))
        .map(({ name }) => [{ endpoint: name }, 1]),
    );
    const arrive = config.duckdb.dataDir !== null;
    const secret = config.tokenSecret ?? (arrive ? await secretOf(config.cacheDir) : null);
    const tails = openTails(config, engine, secret, metrics, log);
    onArrival = () => tails.wake();
    endTails = () => tails.close();
    const services: Services = {
      keys,
      catalogue,
      engine,
      gate,
      analyses,
      budgets,
      threads,
      rates: new RateLimits(config.rateLimit, redis),
      plans: new PlanCache(),
      pageTokens: new PageTokens(secret),
      tails,
      results: cache.results,
      usage: cache.usage,
      ...(collector === null
        ? {}
        : { ingest: { collector, authenticate: (header) => keys.authenticateIngest(header) } }),
      cacheState: () => (redis === null || (redis.state === 'closed' && redis.refusal === null) ? 'ok' : 'degraded'),
      now: nowOf(config.clock),
      pricePerTiB: config.pricePerTiB,
      admission,
      exportSlots: exportSlots(bare),
      ...exportFilesOf(config),
      defaults: {
        timeout: config.queryTimeout,
        exportTimeout: config.exportTimeout,
        maxBytesBilled: config.maxBytesBilled,
      },
      longestResponse: config.maxResponseBytes,
      escapeFormulas: config.csvEscapeFormulas,
    };
    await bare.opened;
    const warmer = openWarmer(services, config, metrics, log);
    closers.push(() => warmer.stop());
    lifecycle.open(services);
    warmer.start();
    const { results } = services;
    const { memory, shared } = cache;
    const { breaker: bigquery = null } = engine;
    const engineMemory = bare.resident === undefined ? null : () => bare.resident ?? 0;
    readServices(metrics, { admission, results, memory, warmer, budgets, redis, shared, bigquery, engineMemory });
    readData(metrics, () => bare.dataStatus?.() ?? null);
    metrics.read('build', () => [[{ version: VERSION, node: process.versions.node, engine: engine.kind }, 1]]);
    const endpoints = catalogue.current();
    log.info({ engine: engine.kind, endpoints: endpoints.map(({ name }) => name) }, 'ready');
    const { startKey } = keys;
    const { host } = config;
    const apiKey = config.apiKey !== null;
    return welcome({
      host,
      port,
      endpoints,
      startKey,
      apiKey,
      docs: docs !== 'off',
      explorer: explorer !== null,
      terminal,
    });
  }

  const ready = open();
  return {
    port,
    ready,
    async drain() {
      lifecycle.drain();
      endTails();
      // A start is cancelled: no load balancer has sent requests yet.
      if (lifecycle.opened) await sleep(config.drainDelay);
      else ending.abort();
      // Requests that are still arriving have the default timeout; a run may have a later deadline.
      const earliest = performance.now() + config.queryTimeout;
      const cutOff = (): number => Math.max(earliest, lifecycle.latestDeadline) + SLOW_READER;
      await drainListener(cutOff, (state) => lifecycle.hold(state === 'closing'));
      await Promise.race([ready.catch(() => undefined), sleep(PATIENCE, undefined, { ref: false })]);
      for (const close of closers.reverse()) await close();
    },
  };
}

/** null: logs are not taken in. */
async function openCollector(
  { collect }: Config,
  threads: Threads,
  surroundings: Pick<CollectorOptions, 'log' | 'metrics' | 'report'>,
): Promise<Collector | null> {
  if (collect === null) return null;
  const [{ Collector }, { readSources }] = await Promise.all([
    import('./collector/collector.js'),
    import('./collector/sources.js'),
  ]);
  const { dataDir, retention, minFree, maxBody } = collect;
  const sources = readSources(collect.sources);
  return Collector.open({ dataDir, sources, retention, minFree, maxBody, threads, ...surroundings });
}

function countDroppedLines(metrics: Metrics, log: OpenLog): void {
  metrics.read('logDropped', () => [[{}, log.dropped()]]);
}

function openTails(config: Config, engine: Engine, secret: Secret | null, metrics: Metrics, log: Log): Tails {
  const tails = new Tails({
    cursors: new Cursors(secret),
    mostPerKey: config.maxTailsPerKey,
    most: config.maxTails,
    endOf: (table) => {
      const status = engine.dataStatus?.() ?? null;
      const found = status?.tables.find((one) => one.table === table);
      return status === null ? null : { epoch: status.epoch, count: found?.arrived ?? 0 };
    },
    onRows: (endpoint, rows) => metrics.count('tailRows', { endpoint }, rows),
    onEnd: (tail_end) => metrics.count('tailEnds', { tail_end }),
    onFailure: (error) => log.warn({ err: error }, 'a live tail has failed'),
  });
  metrics.read('tailListeners', () => [[{}, tails.listeners]]);
  return tails;
}

/** Values of a metric's label, which dashboards know. */
const WARMING_LABELS = {
  refreshed: 'refreshed',
  'not due': 'not_due',
  busy: 'busy',
  gone: 'gone',
  failed: 'failed',
} as const satisfies Record<WarmingOutcome, string>;

function openWarmer(services: Services, { cache }: Config, metrics: Metrics, log: Log): Warmer {
  const warmed = (): Endpoint[] => services.catalogue.current().filter(({ cacheWarming }) => cacheWarming > 0);
  return new Warmer({
    usage: services.usage,
    intervals: (endpointId) => {
      const endpoint = services.catalogue.find(endpointId);
      if (endpoint === null || endpoint.cacheWarming === 0) return null;
      return { ttl: endpoint.cacheTtl * 1000, warming: endpoint.cacheWarming * 1000 };
    },
    bounds: () => {
      const all = warmed();
      if (all.length === 0) return null;
      return {
        shortest: Math.min(...all.map(({ cacheWarming }) => cacheWarming)) * 1000,
        longestTtl: Math.max(...all.map(({ cacheTtl }) => cacheTtl)) * 1000,
      };
    },
    refresh: (usage, age, holdOff, signal) => warm(usage, age, services, holdOff, signal),
    most: cache.maxWarmed,
    onOutcome: (outcome, error) => {
      const spent = error instanceof ServiceError && error.reason === 'budgetExceeded';
      metrics.count('warmerRuns', { warming: spent ? 'budget' : WARMING_LABELS[outcome] });
      if (outcome === 'failed' && !spent) log.warn({ err: error }, 'a cached result could not be refreshed');
    },
  });
}

/** A folder of their own: whatever a start finds there was left by a process that was killed. */
function exportFolder({ cacheDir }: Config): string {
  return resolve(cacheDir, 'exports');
}

/** What exports as files are made with. */
export function exportFilesOf(config: Config): Pick<Services, 'exportFile' | 'openEncoder'> {
  const exportFile: Services['exportFile'] = () => {
    const path = join(exportFolder(config), `${randomUUID()}.parquet`);
    return { path, maxBytes: config.maxExportFile };
  };
  return {
    exportFile,
    openEncoder: (columns, take) => new Encoder({ columns, file: exportFile() }, take),
  };
}

/** The clock of LQL's relative times: the fixed one, or the machine's. */
export function nowOf(clock: Config['clock']): () => bigint {
  if (clock !== null) return () => clock.epochMicros;
  return () => BigInt(Date.now()) * 1000n;
}

/** The embedded engine in this process: for one who runs one query. */
async function openHere(options: DuckDbOptions): Promise<Engine> {
  const { openDuckDbEngine } = await import('./engines/duckdb/engine/engine.js');
  return openDuckDbEngine(options);
}

/**
 * Only the engine in use is loaded: the other's libraries would cost start and memory.
 *
 * @param openEmbedded where the embedded engine runs
 */
export async function openEngine(
  config: Config,
  catalogue: Pick<Catalogue, 'current'>,
  log: Log,
  openEmbedded: (options: DuckDbOptions) => Promise<Engine> = openHere,
): Promise<Engine> {
  if (config.bigquery === null) {
    return openEmbedded({
      ...config.duckdb,
      cacheDir: config.cacheDir,
      exportsDir: exportFolder(config),
      now: config.clock?.epochMicros ?? null,
      maxResultBytes: config.maxResponseBytes,
      log,
    });
  }
  const { openBigQueryEngine } = await import('./engines/bigquery/engine.js');
  return openBigQueryEngine({
    ...config.bigquery,
    maxBytesBilled: config.maxBytesBilled,
    inspectConsumerQueries: config.sandboxDryRun,
    storedQueries: catalogue
      .current()
      .filter(({ query }) => tablesRead(query).length > 0)
      .map((endpoint) => ({
        endpoint: endpoint.name,
        sql: endpoint.sql,
        parameters: typicalValues(storedQueryOf(endpoint)),
      })),
    clock: config.clock,
    maxConcurrent: config.maxRunning,
    maxResultBytes: config.maxResponseBytes,
    log,
  });
}
