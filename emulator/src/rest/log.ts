import { type Operation } from './routes';

/** A request as the control path reports it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly query: Readonly<Record<string, string>>;
  /** The JSON body, without the rows of an insert. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether it came with credentials; never which. */
  readonly authorized: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** null while it is not answered. */
  status: number | null;
  /** The caller went before the answer was complete. */
  aborted: boolean;
}

const MAX_LINES = 1000;

/** The last requests, and how many there were of each kind since the last reset. */
export class RequestLog {
  private requests: SeenRequest[] = [];
  private counts: Partial<Record<Operation, number>> = {};

  add(request: SeenRequest): void {
    this.requests.push(request);
    if (this.requests.length > MAX_LINES) this.requests.shift();
    this.counts[request.operation] = (this.counts[request.operation] ?? 0) + 1;
  }

  clear(): void {
    this.requests = [];
    this.counts = {};
  }

  get seen(): readonly SeenRequest[] {
    return this.requests;
  }

  get counters(): Readonly<Partial<Record<Operation, number>>> {
    return this.counts;
  }
}
