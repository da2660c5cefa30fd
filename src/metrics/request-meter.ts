import type { Count, Spread } from './cells';
import type { CompletedRequest } from '../telemetry';
import type { Metrics } from './metrics';
import { LABELS, NONE } from './table';

/** Cells of one route and endpoint, found once. */
interface Cells {
  /** By reason, or by status if there was no error. */
  readonly requests: Map<string | number, Count>;
  readonly duration: Spread;
  readonly bytes: Count;
  readonly cache: Map<string, Count>;
}

/** Counts requests. It is on the way of every answer: a few look-ups by name and additions. */
export class RequestMeter {
  readonly #cells = new Map<string, Map<string, Cells>>();
  readonly #keys = new Map<string, Map<number, Count>>();
  readonly #phases: ReadonlyMap<string, Spread>;

  constructor(private readonly metrics: Metrics) {
    this.#phases = new Map(LABELS.phase.map((phase) => [phase, metrics.spread('phaseDuration', { phase })]));
  }

  count(request: Omit<CompletedRequest, 'method' | 'arrived'>): void {
    const { route = NONE, endpoint = NONE, key = NONE, status, reason, cache, stored, phases } = request;
    const cells = this.#of(route, endpoint);
    held(cells.requests, status === 499 ? status : (reason ?? status), () =>
      this.metrics.count('requests', { route, endpoint, status: String(status), reason: reason ?? NONE }),
    ).add();
    cells.duration.observe(request.milliseconds / 1000);
    cells.bytes.add(request.bytes);
    held(
      held(this.#keys, key, () => new Map<number, Count>()),
      status,
      () => this.metrics.count('keyRequests', { key, status: String(status) }),
    ).add();
    if (cache !== undefined) {
      held(cells.cache, cache, () => this.metrics.count('cacheRequests', { endpoint, cache })).add();
    }
    if (stored !== undefined) {
      this.metrics.count('cacheWrites', { endpoint, write: stored ? 'stored' : 'not_stored' }).add();
    }
    for (const { name, milliseconds } of phases) this.#phases.get(name)?.observe(milliseconds / 1000);
    // What fails in the gate gets no further.
    if (request.query !== undefined && reason !== undefined && lastStep(phases) === 'gate') {
      this.metrics.count('sandboxRefusals', { language: request.query.language, reason }).add();
    }
  }

  #of(route: string, endpoint: string): Cells {
    const ofRoute = held(this.#cells, route, () => new Map<string, Cells>());
    return held(ofRoute, endpoint, () => ({
      requests: new Map<string | number, Count>(),
      duration: this.metrics.spread('requestDuration', { route, endpoint }),
      bytes: this.metrics.count('responseBytes', { route, endpoint }),
      cache: new Map<string, Count>(),
    }));
  }
}

/** The last step begun: steps that hold others are done after those. */
function lastStep(phases: CompletedRequest['phases']): string | undefined {
  return phases.filter(({ name }) => name !== 'cache').at(-1)?.name;
}

/** Names that a map holds before it is emptied: those in use find their cells again, those that are gone do not stay. */
const MOST_HELD = 1000;

/** What a map holds under a name; made when it holds nothing. */
function held<Name, Value>(map: Map<Name, Value>, name: Name, make: () => Value): Value {
  let value = map.get(name);
  if (value === undefined) {
    value = make();
    if (map.size >= MOST_HELD) map.clear();
    map.set(name, value);
  }
  return value;
}
