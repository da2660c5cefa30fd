import type { RunLimits } from '../../contract';
import { remaining } from '../../../concurrency/deadline';
import type { Answers, Request, ToEngine } from './messages';
import type { Scheduled } from './schedule';
import type { Stopwatch } from './stopwatch';

export interface Reply {
  readonly answer: Answers[keyof Answers];
  /** Of a run. */
  readonly rows: readonly string[];
}

export interface CallOptions {
  readonly request: Request;
  /** The call is cancelled by the signal; its deadline is sent to the process. */
  readonly limits: RunLimits;
  /** Milliseconds that it may take at all, from when it is sent: the process is ended then; null: until the deadline. */
  readonly allowance: number | null;
}

/** One request to an engine's process, which may be sent more than once. */
export class Call implements Scheduled {
  deaths = 0;
  /** Since it was sent; null: it was not. */
  sent: Stopwatch | null = null;
  /** Since it was cancelled over there; null: it was not. */
  cancelled: Stopwatch | null = null;
  #rows: string[] = [];

  constructor(
    readonly id: number,
    readonly options: CallOptions,
    private readonly settle: { resolve(reply: Reply): void; reject(error: unknown): void },
  ) {}

  get keyName(): string {
    return this.options.limits.keyName ?? '';
  }

  get isProbe(): boolean {
    return this.options.request.kind === 'ping';
  }

  get message(): ToEngine {
    const { request, limits } = this.options;
    return { kind: 'call', id: this.id, request, timeout: remaining(limits), keyName: this.keyName };
  }

  /** It is sent, perhaps again. */
  begin(watch: Stopwatch): void {
    this.#rows = [];
    this.sent = watch;
  }

  take(rows: readonly string[]): void {
    this.#rows = this.#rows.length === 0 ? [...rows] : this.#rows.concat(rows);
  }

  resolve(answer: Reply['answer']): void {
    this.settle.resolve({ answer, rows: this.#rows });
  }

  reject(error: unknown): void {
    this.settle.reject(error);
  }
}
