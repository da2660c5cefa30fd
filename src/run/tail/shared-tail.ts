/** One evaluation of rows as they arrive, for all who listen to the same. */
import { SharedNames, sleep, SYSTEM_CLOCK, type RunLimits, yieldToEventLoop } from '@logquay/duckdb-engine/concurrency';
import { ERRORS, ServiceError } from '../../errors';
import { type TailPosition, eventText, type ArrivingRows } from './types';
import type { Listener, Place, TailFailure } from './listener';

/** Where the rows of a table end now. */
export type EndOf = (table: string) => { readonly epoch: string; readonly count: number } | null;

/** Tries again after a failure that may pass, and milliseconds before the first of them. */
const MOST_FAILURES = 6;
const FIRST_RETRY = 250;
/** Milliseconds between two looks whether the others have come as far. */
const LOOK_AGAIN = 50;
/** Events that are written in one turn of the event loop: sealing an id takes some microseconds. */
const AT_ONCE = 500;

export class SharedTail {
  readonly #listeners = new Set<Listener>();
  readonly #ended = new AbortController();
  #at: Place;
  #running = false;
  /** Name of the key that has paid last. */
  #paid = '';

  constructor(
    readonly query: ArrivingRows,
    private readonly options: {
      readonly endOf: EndOf;
      readonly onRows: (rows: number) => void;
      readonly onFailure: (error: unknown) => void;
    },
  ) {
    this.#at = this.end;
  }

  /** Behind the last row that is known to have arrived. */
  get end(): Place {
    const end = this.options.endOf(this.query.table);
    return end === null ? { epoch: '', after: 0 } : { epoch: end.epoch, after: end.count };
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** Rows may have arrived. */
  wake(): void {
    if (!this.#running && !this.isEmpty) void this.#advance();
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  close(): void {
    this.#ended.abort();
  }

  /** Gives a listener what it has not been given yet, at its own pace, and then what arrives. */
  async join(listener: Listener): Promise<void> {
    try {
      while (!listener.isEnded) {
        if (this.isEmpty && !this.#running) this.#at = this.end;
        const { after } = listener.position;
        const alone = this.isEmpty && !this.#running;
        if (after === this.#at.after || (alone && after > this.#at.after)) {
          this.#at = { ...this.#at, after };
          this.#listeners.add(listener);
          this.wake();
          return;
        }
        if (after > this.#at.after) await sleep(SYSTEM_CLOCK, LOOK_AGAIN);
        else await this.#step(listener, this.#at.after);
      }
    } catch (error) {
      if (!listener.isEnded) this.#fail([listener], error);
    }
  }

  async #step(listener: Listener, upTo: number): Promise<void> {
    const { position } = listener;
    const { rows, ...end } = await this.#trying([listener], () =>
      this.query.rows({ ...position, upTo, whole: false }, this.#limits(listener.key.name)),
    );
    const bytes = await rowEvents(rows, { ...position, upTo: end.upTo, given: 0 }, (place) => listener.idOf(place));
    listener.position = { epoch: end.epoch, after: end.upTo };
    if (rows.length === 0) return;
    this.options.onRows(rows.length);
    await listener.giveWhenRead(bytes);
  }

  async #advance(): Promise<void> {
    this.#running = true;
    try {
      while (!this.isEmpty && this.end.after > this.#at.after) {
        const at = this.#at;
        const range = { ...at, upTo: this.end.after, whole: false };
        const { rows, upTo, epoch } = await this.#trying(this.#listeners, () =>
          this.query.rows(range, this.#limits(this.#nextPayer()), this.#payers()),
        );
        const written = new Map<string, Uint8Array>();
        for (;;) {
          // Others may join meanwhile.
          const missing = [...this.#listeners].find(({ purpose }) => !written.has(purpose));
          if (missing === undefined) break;
          const bytes = await rowEvents(rows, { ...at, upTo, given: 0 }, (place) => missing.idOf(place));
          written.set(missing.purpose, bytes);
        }
        this.#at = { epoch, after: upTo };
        for (const listener of [...this.#listeners]) {
          listener.position = this.#at;
          if (rows.length === 0) continue;
          this.options.onRows(rows.length);
          listener.give(written.get(listener.purpose)!);
        }
      }
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#fail([...this.#listeners], error);
    } finally {
      this.#running = false;
    }
    // What arrived while the loop ended.
    if (this.end.after > this.#at.after) this.wake();
  }

  /** What the engine cannot answer now it may answer soon; who waits for it hears of that. */
  async #trying<T>(waiting: Iterable<Listener>, work: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await work();
      } catch (error) {
        const passes = !(error instanceof ServiceError) || ERRORS[error.reason].retryable;
        if (!passes || failures === MOST_FAILURES || this.#ended.signal.aborted) throw error;
        const pause = FIRST_RETRY * 2 ** (failures - 1);
        const reason = error instanceof ServiceError ? error.reason : 'internalError';
        for (const listener of waiting) listener.note(`${reason}, tried again in ${String(pause / 1000)} s`);
        await sleep(SYSTEM_CLOCK, pause, this.#ended.signal);
      }
    }
  }

  /** The keys that listen pay by rotation. */
  #nextPayer(): string {
    const keys = [...new Set([...this.#listeners].map(({ key }) => key.name))];
    this.#paid = keys[(keys.indexOf(this.#paid) + 1) % keys.length] ?? this.query.plan.payer;
    return this.#paid;
  }

  /** Who pays now, and others who listen: where the one has no slot, another may have. */
  #payers(): SharedNames {
    return new SharedNames(this.#paid, ...[...this.#listeners].map(({ key }) => key.name));
  }

  #limits(keyName: string): RunLimits {
    return { deadline: performance.now() + this.query.timeout, signal: this.#ended.signal, keyName };
  }

  #fail(listeners: readonly Listener[], thrown: unknown): void {
    this.options.onFailure(thrown);
    const error: TailFailure & { readonly message: string } =
      thrown instanceof ServiceError
        ? { reason: thrown.reason, message: thrown.message, ...thrown.details }
        : { reason: 'internalError', message: 'Something went wrong inside.' };
    for (const listener of listeners) listener.end('failed', error.message, error);
  }
}

/** Rows as events, each with the position behind it. */
export async function rowEvents(
  rows: readonly string[],
  { epoch, after, upTo, given }: TailPosition,
  idOf: (position: TailPosition) => string | null,
): Promise<Uint8Array> {
  const parts: string[] = [];
  for (const [i, row] of rows.entries()) {
    if (i % AT_ONCE === AT_ONCE - 1) await yieldToEventLoop();
    const isLast = i === rows.length - 1;
    const position = isLast ? { epoch, after: upTo, upTo, given: 0 } : { epoch, after, upTo, given: given + i + 1 };
    const id = idOf(position);
    parts.push(eventText({ ...(id === null ? {} : { id }), data: row }));
  }
  return Buffer.from(parts.join(''));
}
