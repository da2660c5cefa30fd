import type { FolderStatus, TableStatus } from '@logquay/duckdb-engine/contract';
import { COMPONENTS, type Health } from '../health/health';
import type { CompletedRequest } from '../telemetry';
import type { Metrics } from './metrics';
import { LABELS, NONE } from './table';

/** What a scrape reads; null: this process has no such service. */
export interface Sources {
  readonly admission: { readonly held: number; readonly waiting: number };
  readonly memory: { readonly size: { readonly entries: number; readonly bytes: number } };
  readonly results: { readonly inFlight: number };
  readonly warmer: { readonly warmed: number };
  readonly budgets: { today(): readonly { readonly key: string; readonly limit: bigint; readonly spent: bigint }[] };
  readonly redis: { readonly state: string; readonly counts: Readonly<Record<string, number>> } | null;
  /** The cache's store in Redis. */
  readonly shared: { readonly unreadable: number } | null;
  /** State of the breaker in front of BigQuery. */
  readonly bigquery: (() => string) | null;
  /** Bytes in memory of the embedded engine's processes. */
  readonly engineMemory: (() => number) | null;
}

/** Keys of whose budgets there are gauges. */
const MOST_BUDGETS = 200;

/** Registers the gauge of impaired components. */
export function readHealth(metrics: Metrics, health: Pick<Health, 'degradations'>): void {
  metrics.read('degraded', () => {
    const degraded = new Set(health.degradations.map(({ component }) => component));
    return COMPONENTS.map((component) => [{ component }, degraded.has(component) ? 1 : 0]);
  });
}

/** Tables of which there are gauges. */
const MOST_TABLES = 200;

/** Registers the gauges of a data folder. @param status null: there is none */
export function readData(metrics: Metrics, status: () => FolderStatus | null): void {
  const tables = (): readonly TableStatus[] => (status()?.tables ?? []).slice(0, MOST_TABLES);
  metrics.read('dataRows', () => tables().map(({ table, rows }) => [{ table }, rows]));
  metrics.read('dataBytes', () => tables().map(({ table, bytes }) => [{ table }, bytes]));
  metrics.read('dataFiles', () =>
    tables().flatMap(({ table, files, faults }) => [
      [{ table, file: 'read' }, files - faults],
      [{ table, file: 'set_aside' }, faults],
    ]),
  );
  metrics.read('dataBehind', () => tables().map(({ table, behind }) => [{ table }, behind]));
  metrics.read('dataConversions', () => tables().map(({ table, conversions }) => [{ table }, conversions]));
  metrics.read('dataLeftOut', () =>
    tables().flatMap(({ table, leftOut, ignoredFields, nulledValues }) => {
      const counts = { ...leftOut, ignored_field: ignoredFields, nulled_value: nulledValues };
      return LABELS.left_out.map((left_out) => [{ table, left_out }, counts[left_out] ?? 0] as const);
    }),
  );
}

/** Registers the gauges of the services. */
export function readServices(metrics: Metrics, sources: Sources): void {
  const { admission, memory, results, warmer, budgets } = sources;
  metrics.read('admissionRunning', () => [[{}, admission.held]]);
  metrics.read('admissionWaiting', () => [[{}, admission.waiting]]);
  metrics.read('cacheMemoryBytes', () => [[{}, memory.size.bytes]]);
  metrics.read('cacheMemoryEntries', () => [[{}, memory.size.entries]]);
  metrics.read('inFlight', () => [[{}, results.inFlight]]);
  metrics.read('warmed', () => [[{}, warmer.warmed]]);
  const today = (): ReturnType<typeof budgets.today> => budgets.today().slice(0, MOST_BUDGETS);
  metrics.read('budgetLimit', () => today().map(({ key, limit }) => [{ key }, Number(limit)]));
  metrics.read('budgetSpent', () => today().map(({ key, spent }) => [{ key }, Number(spent)]));
  if (sources.bigquery !== null) metrics.read('bigqueryBreaker', statesOf(sources.bigquery));
  const { engineMemory } = sources;
  if (engineMemory !== null) metrics.read('engineMemory', () => [[{}, engineMemory()]]);
  const { redis, shared } = sources;
  if (redis !== null) readRedis(metrics, redis);
  if (shared !== null) metrics.read('redisUnreadable', () => [[{}, shared.unreadable]]);
}

function readRedis(metrics: Metrics, redis: NonNullable<Sources['redis']>): void {
  metrics.read(
    'redisBreaker',
    statesOf(() => redis.state),
  );
  metrics.read('redisFailures', () => LABELS.failure.map((failure) => [{ failure }, redis.counts[failure] ?? 0]));
}

/** One value for each state: 1 for the one that is. */
function statesOf(state: () => string): () => [{ state: string }, number][] {
  return () => LABELS.state.map((one) => [{ state: one }, one === state() ? 1 : 0]);
}

/** Counts requests. */
export class RequestMeter {
  constructor(private readonly metrics: Metrics) {}

  count(request: Omit<CompletedRequest, 'method' | 'arrived'>): void {
    const { metrics } = this;
    const { route = NONE, endpoint = NONE, key = NONE, reason, cache, stored, phases } = request;
    const status = String(request.status);
    metrics.count('requests', { route, endpoint, status, reason: (status === '499' ? undefined : reason) ?? NONE });
    metrics.count('keyRequests', { key, status });
    metrics.observe('requestDuration', { route, endpoint }, request.milliseconds / 1000);
    metrics.count('responseBytes', { route, endpoint }, request.bytes);
    if (cache !== undefined) metrics.count('cacheRequests', { endpoint, cache });
    if (stored !== undefined) metrics.count('cacheWrites', { endpoint, write: stored ? 'stored' : 'not_stored' });
    for (const { name, milliseconds } of phases) metrics.observe('phaseDuration', { phase: name }, milliseconds / 1000);
    // What fails in the gate gets no further.
    if (request.query !== undefined && reason !== undefined && lastStep(phases) === 'gate') {
      metrics.count('sandboxRefusals', { language: request.query.language, reason });
    }
  }
}

/** The last step begun: steps that hold others are done after those. */
function lastStep(phases: CompletedRequest['phases']): string | undefined {
  return phases.filter(({ name }) => name !== 'cache').at(-1)?.name;
}
