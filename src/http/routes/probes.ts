import { ServiceError } from '../../errors';
import type { Degradation, Health } from '../../health/health';
import { jsonResponse } from '../response/response';
import { errorResponse } from '../response/error';
import type { Exchange } from '../exchange';
import type { Lifecycle, Readiness } from '../server/lifecycle';

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
 * Everybody sees whether the service is degraded; the details name files and endpoints and are for the operator.
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
    const { engine, cacheState } = lifecycle.services();
    exchange.send(jsonResponse(200, { status, engine: engine.kind, cache: cacheState(), ...impaired }));
    return;
  }
  const error = errorResponse(new ServiceError('backendUnavailable', WHY[status], { retryAfter: 1 }), exchange.id);
  const body = { status, ...(JSON.parse(String(error.body)) as object), ...impaired };
  exchange.send({ ...error, body: Buffer.from(JSON.stringify(body)) });
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
