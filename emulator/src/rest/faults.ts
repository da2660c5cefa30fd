import { BigQueryError } from '../query/error';
import { invalid } from '../query/error';
import { record, text } from './read';
import { type Operation } from './routes';

/**
 * What goes wrong with a request:
 * `error` a Google error with `status`, `reason`, `message`, and `retryAfter` seconds; `html` an HTML page with `status`, as a
 * proxy answers; `empty` a `status` with no body; `hang` no answer until the caller goes; `slow` the answer after `delayMs`;
 * `slowBody` half of it, the rest after `delayMs`; `reset` the connection cut before anything is done; `resetBody` after half
 * of the answer; `lost` when all is done and the answer is due; `brokenJson` half of the JSON as if it were whole;
 * `malformedSchema` an answer whose schema does not fit its rows; `unfinished` the job found unfinished by `polls` looks (-1:
 * for ever; with `untimed` it has no time limit either); `jobError` the job fails as it ends, after `polls` (0) looks, with
 * `reason` and `message`.
 */
export const KINDS = [
  'error',
  'html',
  'empty',
  'hang',
  'slow',
  'slowBody',
  'reset',
  'resetBody',
  'lost',
  'brokenJson',
  'malformedSchema',
  'unfinished',
  'jobError',
] as const;
export type FaultKind = (typeof KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The operation that it meets; `page` is a request for a page after the first, `any` every one. */
  readonly on: Operation | 'page' | 'any';
  /** Matching requests that pass before it strikes. */
  skip: number;
  /** Requests that it strikes. */
  times: number;
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfter: number | null;
  readonly delayMs: number;
  readonly polls: number;
  readonly untimed: boolean;
}

/** What is done to a job as it starts. */
export interface JobFault {
  readonly held: number;
  /** Whether the job goes on beyond its own time limit. */
  readonly untimed: boolean;
  readonly failure: BigQueryError | null;
}

/** Statuses that need no reason spelt out. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'invalidQuery',
  401: 'authError',
  403: 'rateLimitExceeded',
  404: 'notFound',
  429: 'rateLimitExceeded',
  500: 'internalError',
  502: 'backendError',
  503: 'backendError',
};

/** Faults waiting for their requests, in the order in which they were given. */
export class Faults {
  private waiting: Fault[] = [];

  /** Throws `BigQueryError` for what is no fault. */
  add(json: unknown): void {
    this.waiting.push(faultOf(record(json)));
  }

  clear(): void {
    this.waiting = [];
  }

  get pending(): readonly Fault[] {
    return this.waiting;
  }

  /** The transport's fault for a request. */
  forRequest(operation: Operation, query: URLSearchParams): Fault | null {
    return this.take((fault) => {
      if (fault.kind === 'unfinished' || fault.kind === 'jobError') return false;
      const page = operation === 'results' && (query.get('pageToken') ?? '') !== '';
      return fault.on === 'any' || fault.on === operation || (fault.on === 'page' && page);
    });
  }

  /** The fault for the next job. */
  forJob(): JobFault | null {
    const fault = this.take(({ kind }) => kind === 'unfinished' || kind === 'jobError');
    if (fault === null) return null;
    const { kind, polls, untimed } = fault;
    if (kind === 'jobError') return { held: polls, untimed, failure: new BigQueryError(fault.reason, fault.message) };
    return { held: polls < 0 ? Infinity : polls, untimed, failure: null };
  }

  private take(matches: (fault: Fault) => boolean): Fault | null {
    for (const fault of this.waiting) {
      if (!matches(fault)) continue;
      if (fault.skip > 0) {
        fault.skip -= 1;
        continue;
      }
      fault.times -= 1;
      if (fault.times === 0) this.waiting = this.waiting.filter((other) => other !== fault);
      return fault;
    }
    return null;
  }
}

function faultOf(json: Readonly<Record<string, unknown>>): Fault {
  const kind = KINDS.find((name) => name === json['kind']);
  if (kind === undefined) throw invalid(`A fault is one of ${KINDS.join(', ')}, not ${String(json['kind'])}`);
  const number = (name: string, otherwise: number) => (typeof json[name] === 'number' ? json[name] : otherwise);
  const status = number('status', 503);
  return {
    kind,
    on: (text(json['on']) ?? (kind === 'malformedSchema' ? 'query' : 'any')) as Fault['on'],
    skip: number('skip', 0),
    times: number('times', 1),
    status,
    reason: text(json['reason']) ?? REASONS[status] ?? 'backendError',
    message: text(json['message']) ?? 'Injected by the control path',
    retryAfter: typeof json['retryAfter'] === 'number' ? json['retryAfter'] : null,
    delayMs: number('delayMs', 1000),
    polls: number('polls', kind === 'unfinished' ? 1 : 0),
    untimed: json['untimed'] === true,
  };
}
