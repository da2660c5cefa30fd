import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../config';
import type { Engine } from '@logquay/duckdb-engine/contract';
import { mayRun } from '../../endpoints/catalogue';
import { TABLES_NAME } from '../../endpoints/tables-endpoint';
import { ServiceError } from '../../errors';
import { presentedKey } from '../../keys/key';
import type { Metrics } from '../../metrics/metrics';
import type { Exchange } from '../exchange';
import type { RequestHeaders } from '../request/headers';
import type { Degradation, Health } from '../../health/health';
import { jsonResponse, errorResponse } from '../response/response';
import type { Lifecycle, Readiness } from '../server/lifecycle';

/** Requires METRICS_KEY, which is not a key for endpoints. @throws ServiceError unauthenticated */
function checkMetricsKey(headers: RequestHeaders, key: Secret): void {
  const presented = presentedKey((name) => headers.values(name));
  if (timingSafeEqual(hashOf(presented), hashOf(key.reveal()))) return;
  throw new ServiceError('unauthenticated', 'The key is not valid.');
}

/** Whether the request presents METRICS_KEY. @param key null: not configured */
export function hasMetricsKey(headers: RequestHeaders, key: Secret | null): boolean {
  if (key === null) return false;
  try {
    checkMetricsKey(headers, key);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Hashes have equal length: comparing them takes constant time. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Metrics, and the key without which nobody reads them. */
export interface GuardedMetrics {
  readonly metrics: Metrics;
  readonly key: Secret;
}

/** `GET /metrics` on the service's own port. @throws ServiceError unauthenticated */
export async function answerMetrics(exchange: Exchange, { metrics, key }: GuardedMetrics): Promise<void> {
  checkMetricsKey(exchange.headers, key);
  await answerText(exchange, metrics);
}

export async function answerText(exchange: Exchange, metrics: Metrics): Promise<void> {
  const body = Buffer.from(await metrics.text());
  exchange.send({ status: 200, headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }, body });
}

const WHY: Readonly<Record<Exclude<Readiness, 'ready'>, string>> = {
  starting: 'The service is starting.',
  draining: 'The service is ending.',
  'engine-unavailable': 'The engine does not answer.',
};

/** `GET /health`: the process is alive. It needs no key. */
export function answerHealth(exchange: Exchange): void {
  exchange.send(jsonResponse(200, { status: 'ok' }));
}

/**
 * `GET /ready`: whether to send requests here. A 503 has the shape of every error, next to the state.
 *
 * Everybody sees whether the service is degraded; the details name files and endpoints and are for the operator. Who may run the
 * endpoint of all tables sees which have rows.
 */
export async function answerReady(
  exchange: Exchange,
  lifecycle: Lifecycle,
  health: Pick<Health, 'degradations'>,
  operator: boolean,
): Promise<void> {
  const status = await lifecycle.readiness();
  const impaired = impairment(health.degradations, operator);
  if (status === 'ready') {
    const { catalogue, engine, cacheState } = lifecycle.services();
    const key = lifecycle.presentedKey((name) => exchange.header(name));
    const tables = catalogue.find(TABLES_NAME);
    const seesTables = tables?.builtIn !== undefined && (operator || (key !== null && mayRun(key, tables)));
    const named = seesTables ? { tables: tablesWithRows(engine) } : {};
    exchange.send(jsonResponse(200, { status, engine: engine.kind, cache: cacheState(), ...impaired, ...named }));
    return;
  }
  const error = errorResponse(new ServiceError('backendUnavailable', WHY[status], { retryAfter: 1 }), exchange.id);
  const body = { status, ...(JSON.parse(String(error.body)) as object), ...impaired };
  exchange.send({ ...error, body: Buffer.from(JSON.stringify(body)) });
}

/** Of the data folder, with how many they have. */
function tablesWithRows(engine: Pick<Engine, 'dataStatus'>): readonly object[] {
  const tables = engine.dataStatus?.()?.tables ?? [];
  return tables.flatMap(({ table, rows }) => (rows > 0 ? { table, rows } : []));
}

function impairment(degradations: readonly Degradation[], operator: boolean): object {
  return {
    ...(degradations.length > 0 ? { degraded: true } : {}),
    ...(operator ? { detail: degradations.map(describe) } : {}),
  };
}

function describe({ component, message, since }: Degradation): object {
  return { component, message, since: new Date(since).toISOString() };
}
