import type { Log } from '../log';

/** Milliseconds between two lines of a key. */
const EVERY = 60_000;

interface Sum {
  batches: number;
  events: number;
  bytes: number;
}

/** Who stored how much, as one line of the log for each key and minute. */
export class Audit {
  readonly #sums = new Map<string, Sum>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly log: Pick<Log, 'info'>) {
    this.#timer = setInterval(() => this.#write(), EVERY);
    this.#timer.unref();
  }

  add(key: string, { events, bytes }: Pick<Sum, 'events' | 'bytes'>): void {
    const sum = this.#sums.get(key) ?? { batches: 0, events: 0, bytes: 0 };
    this.#sums.set(key, {
      batches: sum.batches + 1,
      events: sum.events + events,
      bytes: sum.bytes + bytes,
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#write();
  }

  #write(): void {
    for (const [key, sum] of this.#sums) this.log.info({ key, ...sum }, 'events were stored');
    this.#sums.clear();
  }
}
