/** Opens every service and wires them. */
import path from 'node:path';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { resolverOf, storedQueryOf } from './analysis/stored-analyses';
import { openCache } from './cache/open';
import { Warmer, type WarmingOutcome } from './cache/warmer';
import { DECLARED_TABLES } from './engines/log-schema';
import type { Collector } from '@logquay/collector';
import { FairSlots, Threads } from '@logquay/duckdb-engine/concurrency';
import { Parts } from './concurrency/parts';
import { type Catalogue, openCatalogue } from './endpoints/catalogue';
import type { Endpoint } from './endpoints/endpoint';
import { SharedSearches } from './endpoints/shared-searches';
import { CatalogueError } from './endpoints/settings';
import { FolderTables, TABLES_NAME } from './endpoints/tables-endpoint';
import { ServiceError } from './errors';
import { type KeyRing, openKeyRing } from './keys/key-ring';
import { START_KEY_FILE } from './keys/keys-file';
import { Metrics } from './metrics/metrics';
import { watchProcess } from './metrics/process';
import { readData, readHealth, readServices } from './metrics/readings';
import { typicalValues } from './sandbox/cte-columns';
import { Gate } from './sandbox/gate';
import type { Config, Secret } from './config';
import type { Engine, FolderStatus, DuckDbOptions } from '@logquay/duckdb-engine/contract';
import { openExplorer } from './http/explorer';
import { createHttpServer, recordRefused } from './http/server/http-server';
import { secretOf } from './run/sealed-texts';
import type { StartedProcess, Cause } from '@logquay/duckdb-engine';
import { RedisUsage, UsageCounts, UsageFolder } from './limits/usage-counts';
import { AuditLog } from './http/audit-log';
import { tablesRead } from '@logquay/googlesql/syntax';
import { Health } from './health/health';
import { type Drain, drainable } from './http/server/drain';
import { Lifecycle } from './http/server/lifecycle';
import { createListener } from './http/server/listener';
import { openMetricsPort } from './http/server/metrics-port';
import { sharesOf } from './limits/byte-shares';
import { welcome } from './http/server/welcome';
import { admissionBounds } from './limits/admission';
import { BilledEngine } from './limits/billed-engine';
import { Budgets, RedisSpending } from './limits/budget';
import { RateLimits } from './limits/rate-limits';
import type { Log, OpenLog } from './log';
import { PageTokens } from './run/page-query';
import type { RedisConnection } from './redis/connection';
import { exportFolder, servicesOf } from './run/open-services';
import type { Services } from './run/services';
import { Cursors } from './run/tail/types';
import { Tails } from './run/tail/tails';
import { warm } from './run/warm';
import { VERSION } from './version';

/** How long a client may take to read a response after the latest deadline, in milliseconds, before it is cut off. */
const SLOW_READER = 30_000;

/** How long the end waits for the cancellation of a start, in milliseconds. */
const PATIENCE = 2_000;

/** What a service consists of, in the order in which it is opened; it is closed in the reverse order. */
export const PARTS = [
  'tracing',
  'audit log',
  'process metrics',
  'metrics port',
  'keys',
  'collector',
  'engine',
  'catalogue',
  'tables',
  'redis',
  'cache',
  'usage',
  'budgets',
  'gate',
  'warmer',
] as const;

/** A running service: one listener, and the parts that answer its requests. */
export class Service {
  /** Resolves with what to print when requests are answered; rejects when the service cannot start. */
  readonly ready: Promise<string>;
  readonly #parts = new Parts(PARTS);
  readonly #ending = new AbortController();
  #tails: Tails | null = null;
  #tables: FolderTables | null = null;

  private constructor(
    private readonly config: Config,
    private readonly log: OpenLog,
    private readonly state: State,
    private readonly listening: { readonly port: number; readonly drain: Drain },
    private readonly start: Start,
    private readonly consumption: UsageCounts,
  ) {
    this.ready = this.#open();
  }

  /**
   * Starts the service. It listens at once, so that probes have their answer while the parts are still being opened.
   *
   * @param terminal whether a person reads what `ready` gives
   * @param engineProcess for the embedded engine, where it has been started already
   */
  static async start(
    config: Config,
    log: OpenLog,
    terminal: boolean,
    engineProcess: StartedProcess | null = null,
  ): Promise<Service> {
    const state = { lifecycle: new Lifecycle(), metrics: new Metrics(), health: new Health() };
    const { metrics, health } = state;
    readHealth(metrics, health);
    metrics.read('logDropped', () => [[{}, log.dropped()]]);
    log.onFault((code) => {
      health.report('log', code === null ? null : `Lines of the log cannot be written (${code}) and are dropped.`);
    });
    const { corsOrigins, docs, mcp, metricsKey, logSql, logflareErrors, publicUrl } = config;
    const consumption = new UsageCounts();
    const audit = config.auditFile === null ? null : new AuditLog(config.auditFile, logSql);
    audit?.onFault((code) => {
      const message = code === null ? null : `Lines of the audit log cannot be written (${code}) and are dropped.`;
      if (message !== null) log.warn(message);
      health.report('audit_log', message);
    });
    if (audit !== null) metrics.read('auditDropped', () => [[{}, audit.dropped]]);
    const explorer = config.explorer === 'off' ? null : openExplorer(config.explorer, config.explorerEmbed, log);
    const tracing = config.tracing && (await import('./tracing/open.js')).openTracing(config.tracing, log);
    const server = createHttpServer(
      createListener({
        ...state,
        log,
        logSql,
        logflareErrors,
        collects: config.collect !== null,
        corsOrigins,
        docs,
        explorer,
        mcp,
        metricsKey,
        tracing,
        tell: (id, request, url) => {
          consumption.count(request);
          audit?.write(id, request, url);
        },
        tls: publicUrl?.startsWith('https:') ?? false,
        shares: sharesOf(config.maxResponseBytes),
      }),
      recordRefused(log, metrics),
    );
    const drain = drainable(server);
    server.listen(config.port, config.host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    log.info({ host: config.host, port }, 'listening');
    const metricsPort =
      config.metricsPort === null
        ? null
        : await openMetricsPort({ host: config.host, port: config.metricsPort }, { ...state, log });
    const service = new Service(config, log, state, { port, drain }, { terminal, engineProcess }, consumption);
    service.#parts.opened('tracing', () => tracing?.close());
    service.#parts.opened('audit log', () => audit?.close());
    service.#parts.opened('process metrics', watchProcess(metrics));
    service.#parts.opened('metrics port', () => metricsPort?.());
    return service;
  }

  get port(): number {
    return this.listening.port;
  }

  /** Ends the service: resolves when everything that was accepted is answered and every part is closed. */
  async drain(): Promise<void> {
    const { lifecycle } = this.state;
    lifecycle.drain();
    this.#tails?.close();
    // A start is cancelled: no load balancer has sent requests yet.
    if (lifecycle.opened) await sleep(this.config.drainDelay);
    else this.#ending.abort();
    // Requests that are still arriving have the default timeout; a run may have a later deadline.
    const earliest = performance.now() + this.config.queryTimeout;
    const cutOff = (): number => Math.max(earliest, lifecycle.latestDeadline) + SLOW_READER;
    await this.listening.drain(cutOff, (state) => lifecycle.hold(state === 'closing'));
    await Promise.race([this.ready.catch(() => undefined), sleep(PATIENCE, undefined, { ref: false })]);
    await this.#parts.close();
  }

  /** Opens the parts in their order. @returns what to print */
  async #open(): Promise<string> {
    const { config, log } = this;
    const { lifecycle, metrics } = this.state;
    const keys = await this.#openKeys();
    await rm(exportFolder(config), { recursive: true, force: true }).catch((error: unknown) => {
      log.warn({ err: error }, 'files of exports that were left cannot be removed');
    });
    const threads = new Threads();
    const collector = await this.#openCollector(threads);
    const { bare, catalogue } = await this.#openEngineAndCatalogue();
    const redis = await this.#openRedis();
    const cache = await openCache(config.cache, redis);
    this.#parts.opened('cache', () => cache.close());
    this.consumption.open(
      redis === null ? new UsageFolder(path.join(config.cacheDir, 'usage')) : new RedisUsage(redis),
    );
    this.#parts.opened('usage', () => this.consumption.close());
    const budgets = new Budgets({ perDay: config.dailyBytes, shared: redis && new RedisSpending(redis) });
    this.#parts.opened('budgets', () => budgets.close());
    const engine = new BilledEngine(bare, { budgets, metrics, keyOf: (name) => keys.budgetOf(name) });
    const admission = new FairSlots(admissionBounds(config, engine));
    const gate = new Gate(engine, threads, engine.concurrency === undefined ? null : admission);
    this.#parts.opened('gate', () => gate.close());
    const arrive = config.duckdb.dataDir !== null;
    const secret = config.tokenSecret ?? (arrive ? await secretOf(config.cacheDir) : null);
    const tails = openTails(config, engine, secret, metrics, log);
    this.#tails = tails;
    const services = servicesOf(config, {
      keys,
      catalogue,
      engine,
      gate,
      budgets,
      threads,
      rates: new RateLimits(config.rateLimit, redis),
      pageTokens: new PageTokens(secret),
      tails,
      results: cache.results,
      usage: cache.usage,
      consumption: this.consumption,
      ...(config.searchesFile === null ? {} : { searches: this.#openSearches(config.searchesFile) }),
      ...(collector === null
        ? {}
        : { ingest: { collector, authenticate: (header) => keys.authenticateIngest(header) } }),
      cacheState: () => (redis === null || (redis.state === 'closed' && redis.refusal === null) ? 'ok' : 'degraded'),
      admission,
    });
    await this.#resolveQueries(services, catalogue);
    await engine.opened;
    await this.#openTables(engine, catalogue);
    const warmer = openWarmer(services, config, metrics, log);
    this.#parts.opened('warmer', () => warmer.stop());
    lifecycle.open(services);
    warmer.start();
    const { memory, shared, results } = cache;
    const { breaker: bigquery = null } = engine;
    const engineMemory = engine.resident === undefined ? null : () => engine.resident ?? 0;
    readServices(metrics, { admission, results, memory, warmer, budgets, redis, shared, bigquery, engineMemory });
    readData(metrics, () => engine.dataStatus?.() ?? null);
    metrics.read('build', () => [[{ version: VERSION, node: process.versions.node, engine: engine.kind }, 1]]);
    const endpoints = catalogue.current();
    log.info({ engine: engine.kind, endpoints: endpoints.map(({ name }) => name) }, 'ready');
    return welcome({
      host: config.host,
      port: this.port,
      endpoints,
      tables:
        catalogue.find(TABLES_NAME)?.builtIn === undefined
          ? null
          : (engine.dataStatus?.()?.tables.filter(({ rows }) => rows > 0) ?? null),
      startKey: keys.startKey,
      apiKey: config.apiKey !== null,
      docs: config.docs !== 'off',
      explorer: config.explorer !== 'off',
      terminal: this.start.terminal,
    });
  }

  #openSearches(file: string): SharedSearches {
    let known: string | null = null;
    return new SharedSearches(file, (fault) => {
      if (fault !== null && fault !== known) this.log.warn(fault);
      known = fault;
      this.state.health.report('searches_file', fault);
    });
  }

  async #openKeys(): Promise<KeyRing> {
    const { config, log } = this;
    const keys = await openKeyRing({
      apiKey: config.apiKey,
      ingestKey: config.collect?.publicToken ?? null,
      keysFile: config.keysFile,
      keysFileGiven: config.keysFileGiven,
      startKeyFile: config.engine === 'duckdb' ? START_KEY_FILE : null,
      log,
      report: this.state.health.report,
    });
    this.#parts.opened('keys', () => keys.close());
    return keys;
  }

  /** null: logs are not taken in. */
  async #openCollector(threads: Threads): Promise<Collector | null> {
    const { log, config } = this;
    const { metrics, health } = this.state;
    const { collect } = config;
    if (collect === null) return null;
    const [{ Collector }, { readSources }] = await Promise.all([
      import('@logquay/collector'),
      import('@logquay/collector'),
    ]);
    const { dataDir, retention, minFree, maxBody } = collect;
    const sources = readSources(collect.sources);
    const report = (fault: string | null): void => health.report('collector', fault);
    const { schemaFile } = config.duckdb;
    const bounds = { dataDir, sources, declared: DECLARED_TABLES, schemaFile, retention, minFree, maxBody };
    const collector = await Collector.open({ ...bounds, threads, log, metrics, report });
    this.#parts.opened('collector', () => collector.close());
    return collector;
  }

  /**
   * The embedded engine, in a process of its own, needs nothing of the catalogue: both are opened at the same time. Sample logs are made
   * while stored queries are resolved.
   */
  async #openEngineAndCatalogue(): Promise<{ readonly bare: Engine; readonly catalogue: Catalogue }> {
    const { config, log } = this;
    const embedded = config.bigquery === null ? this.#openEngine({ current: () => [] }) : null;
    embedded?.catch(() => undefined);
    const catalogue = await openCatalogue(config.queriesDir, { log, report: this.state.health.report });
    this.#parts.opened('catalogue', () => catalogue.close());
    return { bare: await (embedded ?? this.#openEngine(catalogue)), catalogue };
  }

  async #openEngine(catalogue: Pick<Catalogue, 'current'>): Promise<Engine> {
    const { metrics, health } = this.state;
    const engine = await openEngine(this.config, catalogue, this.log, async (options) => {
      const { openRemoteEngine } = await import('@logquay/duckdb-engine');
      const died = (cause: Cause): void => metrics.count('engineRestarts', { cause });
      const onStatus = ({ degraded }: FolderStatus): void => {
        health.report('data_folder', degraded);
        this.#tails?.wake();
        void this.#tables?.look();
      };
      const { engineProcess: first } = this.start;
      return openRemoteEngine({ ...options, signal: this.#ending.signal, first, died, onStatus });
    });
    this.#parts.opened('engine', () => engine.close());
    return engine;
  }

  /** Serves the tables of the data folder, with those that there are from the first request on. */
  async #openTables(engine: Engine, catalogue: Catalogue): Promise<void> {
    if (!this.config.tables) return;
    const tables = new FolderTables(engine, this.log, (endpoint) => catalogue.serve(endpoint));
    this.#parts.opened('tables', () => tables.close());
    this.#tables = tables;
    await tables.look();
  }

  async #openRedis(): Promise<RedisConnection | null> {
    const { config, log } = this;
    if (config.redis === null) return null;
    const { connectRedis } = await import('./redis/connection.js');
    const redis = connectRedis(config.redis, log, {
      report: (refusal) => {
        const message = refusal === null ? null : `Redis refuses writes (${refusal}): results are not shared.`;
        this.state.health.report('redis', message);
      },
    });
    this.#parts.opened('redis', () => redis.close());
    return redis;
  }

  /** @throws CatalogueError for stored queries that cannot be resolved, where the start is to fail then */
  async #resolveQueries({ analyses }: Services, catalogue: Catalogue): Promise<void> {
    const { strictStart } = this.config;
    const { lifecycle, metrics } = this.state;
    const began = performance.now();
    const resolved = catalogue.resolveWith(resolverOf(analyses), strictStart);
    if (strictStart) {
      const faults = await resolved;
      if (faults.length > 0) throw new CatalogueError(faults);
    } else {
      // A request waits for its own endpoint alone.
      void resolved.then(({ length }) => {
        if (lifecycle.draining) return;
        const ms = Math.round(performance.now() - began);
        this.log.info({ ms, faults: length }, 'every stored query is resolved');
      });
    }
    const broken = (): Endpoint[] => catalogue.current().filter((endpoint) => catalogue.isBroken(endpoint));
    metrics.read('brokenEndpoints', () => broken().map(({ name }) => [{ endpoint: name }, 1]));
  }
}

/** What is there from the first moment. */
interface State {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly health: Health;
}

/** What is needed of a start only. */
interface Start {
  readonly terminal: boolean;
  readonly engineProcess: StartedProcess | null;
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

/** The embedded engine in this process: for one who runs one query. */
async function openHere(options: DuckDbOptions): Promise<Engine> {
  const { openDuckDbEngine } = await import('@logquay/duckdb-engine/in-process');
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
      declared: DECLARED_TABLES,
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
