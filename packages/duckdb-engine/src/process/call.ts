import type { LineForm, Lines, RunLimits } from '../contract/contract';
import { remaining } from '../concurrency/deadline';
import type { NamedType } from '@logquay/googlesql/types';
import type { PartSink, Written } from './lines-file';
import type { Answers, Request, ToEngine } from './messages';
import type { RowsPlace, WrittenRows } from './rows-memory';
import type { Scheduled } from './schedule';
import type { Stopwatch } from './stopwatch';

export interface Reply {
  readonly answer: Answers[keyof Answers];
  /** Of a run. */
  readonly lines: Lines;
}

export interface CallOptions {
  readonly request: Request;
  /** The call is cancelled by the signal; its deadline is sent to the process. */
  readonly limits: RunLimits;
  /** Milliseconds that it may take at all, from when it is sent: the process is ended then; null: until the deadline. */
  readonly allowance: number | null;
  /** Of a stream. */
  readonly sink?: PartSink;
}

/** One request to an engine's process, which may be sent more than once. */
export class Call implements Scheduled {
  deaths = 0;
  /** Since it was sent; null: it was not. */
  sent: Stopwatch | null = null;
  /** Since it was cancelled over there; null: it was not. */
  cancelled: Stopwatch | null = null;
  /** Bytes that the process had in memory when it was sent. */
  residentBefore = 0;
  /** For its rows, in the process that it was sent to last. */
  place: RowsPlace | null = null;
  #parts: Uint8Array[] = [];
  #count = 0;
  /** Settles when the sink has taken what there is. */
  #taking: Promise<void> = Promise.resolve();
  #handedOn = false;
  #announced = false;

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
    return {
      kind: 'call',
      id: this.id,
      request,
      timeout: remaining(limits),
      keyName: this.keyName,
      place: this.place?.at ?? null,
    };
  }

  /** It is sent, perhaps again. @param resident bytes of the process in memory @param place for its rows */
  begin(watch: Stopwatch, resident: number, place: RowsPlace | null): void {
    this.beginAgain();
    this.residentBefore = resident;
    this.place = place;
    this.sent = watch;
  }

  /** Whether something has reached somebody: it cannot be run again. Of a copy, somebody may be reading the file. */
  get handedOn(): boolean {
    return this.#handedOn || (this.options.request.kind === 'copy' && this.sent !== null);
  }

  /** The query of a run is run again in the same process. */
  beginAgain(): void {
    this.#parts = [];
    this.#count = 0;
  }

  /** The columns of a stream are known. */
  announce(columns: readonly NamedType[], form: LineForm): void {
    if (this.#announced) return;
    this.#announced = true;
    this.options.sink?.begin({ columns, bytesProcessed: null, bytesBilled: null }, form);
  }

  gather(lines: Uint8Array, count: number): void {
    this.#parts.push(lines);
    this.#count += count;
  }

  /** @param taken is called when the sink has taken them */
  take(lines: Uint8Array | Written, count: number, taken: () => void): void {
    this.#handedOn = true;
    this.#taking = this.#taking.then(() => this.options.sink?.take(lines, count)).then(taken);
    // Whoever waits for the answer has it.
    this.#taking.catch(() => undefined);
  }

  /** @param written of its rows; they are read now */
  resolve(answer: Reply['answer'], written: WrittenRows | null): void {
    try {
      if (written !== null) this.#parts.unshift(this.place!.read(written.size));
    } catch (error) {
      this.reject(error);
      return;
    }
    this.#count += written?.count ?? 0;
    this.#taking.then(
      () => this.settle.resolve({ answer, lines: { parts: this.#parts, count: this.#count } }),
      (error: unknown) => this.settle.reject(error),
    );
  }

  reject(error: unknown): void {
    this.settle.reject(error);
  }
}
