import type { CompletedRequest } from '../telemetry';
import type { Metrics } from './metrics';
import { NONE } from './table';

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
