/**
 * The second opinion (docs/sandbox.md): node-sql-parser reads a masked text in a worker thread, since its time can
 * grow exponentially with the text. Where it reads the text, what it sees must be what our own parser saw.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { threadTime } from './thread-time';

/** Names in lower case, parts joined by dots; null: the parser cannot read the text and has no vote. */
export type Opinion = { readonly tables: readonly string[]; readonly functions: readonly string[] } | null;

/** The text was not read within the deadline. */
export class OpinionTimeout extends Error {
  override readonly name = 'OpinionTimeout';
}

/** Milliseconds from when a loaded worker takes up a text, of its own time where the system counts that. */
const DEADLINE = 250;
/** A worker that gets no processor is waited for, up to so many deadlines on the clock. */
const LONGEST_WAIT = 8;
/** Milliseconds for a worker to start and load the parser. */
const START_DEADLINE = 10_000;
const WORKERS = 2;
/** A worker's heap in MiB: a text that needs more ends its worker, not the process. */
const WORKER_HEAP = 128;
const WORKER_FILE = join(__dirname, 'second-opinion-worker.js');

interface Question {
  readonly text: string;
  readonly resolve: (opinion: Opinion) => void;
  readonly reject: (error: Error) => void;
}

interface Seat {
  readonly worker: Worker;
  ready: boolean;
  /** See `threadTime`. */
  thread: string | null;
  question: Question | null;
  timer: NodeJS.Timeout | null;
}

type Message = { ready: true; thread: string | null } | { id: number; taken: true } | { id: number; reading: Opinion };

/** A pool of at most two workers, started when first asked. A worker past its deadline is ended and replaced. */
export class SecondOpinion {
  readonly #seats = new Set<Seat>();
  readonly #waiting: Question[] = [];
  readonly #deadline: number;
  #closed = false;

  constructor({ deadline = DEADLINE }: { deadline?: number } = {}) {
    this.#deadline = deadline;
  }

  /** @throws OpinionTimeout past the deadline; Error when no worker can be started or the pool is closed. */
  ask(text: string): Promise<Opinion> {
    if (this.#closed) return Promise.reject(new Error('The second opinion is closed.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const question of this.#waiting.splice(0)) question.reject(new Error('The second opinion is closed.'));
    await Promise.all([...this.#seats].map((seat) => this.#end(seat, new Error('The second opinion is closed.'))));
  }

  #dispatch(): void {
    for (const seat of this.#seats) if (seat.ready && seat.question === null) this.#give(seat);
    const starting = [...this.#seats].filter((seat) => !seat.ready).length;
    if (this.#waiting.length > starting && this.#seats.size < WORKERS && !this.#closed) this.#start();
  }

  #give(seat: Seat): void {
    const question = this.#waiting.shift();
    if (question === undefined) return;
    seat.question = question;
    seat.worker.ref();
    seat.worker.postMessage({ id: 0, text: question.text });
  }

  #start(): void {
    const worker = new Worker(WORKER_FILE, { resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP } });
    const seat: Seat = { worker, ready: false, thread: null, question: null, timer: null };
    this.#seats.add(seat);
    seat.timer = setTimeout(() => void this.#end(seat, new Error('The second parser did not start.')), START_DEADLINE);
    worker.on('message', (message: Message) => this.#hear(seat, message));
    worker.on('error', (error) => void this.#end(seat, error));
    worker.on('exit', () => void this.#end(seat, new Error('The second parser ended.')));
  }

  #hear(seat: Seat, message: Message): void {
    if (seat.timer !== null) clearTimeout(seat.timer);
    seat.timer = null;
    if ('ready' in message) {
      seat.ready = true;
      seat.thread = message.thread;
      seat.worker.unref();
    } else if ('taken' in message) {
      this.#await(seat);
      return;
    } else {
      seat.question?.resolve(message.reading);
      seat.question = null;
      seat.worker.unref();
    }
    this.#dispatch();
  }

  /**
   * Gives the worker up at its deadline. Where this thread was busy past it, an answer that has come meanwhile is heard
   * first; where other processes kept the worker waiting, it gets the time that it has not had.
   */
  #await(seat: Seat): void {
    const { question } = seat;
    const taken = { at: performance.now(), spent: threadTime(seat.thread) };
    const look = (): void => {
      if (seat.question !== question) return;
      const waited = performance.now() - taken.at;
      const now = threadTime(seat.thread);
      const spent = now === null || taken.spent === null ? waited : now - taken.spent;
      if (spent >= this.#deadline || waited >= this.#deadline * LONGEST_WAIT) {
        void this.#end(seat, new OpinionTimeout());
      } else {
        lookIn(this.#deadline - spent);
      }
    };
    const lookIn = (milliseconds: number): void => {
      seat.timer = setTimeout(() => setImmediate(look), milliseconds);
    };
    lookIn(this.#deadline);
  }

  /** Gives up a worker: its question fails with `error`, others waiting are given to a new one. */
  async #end(seat: Seat, error: Error): Promise<void> {
    if (!this.#seats.delete(seat)) return;
    if (seat.timer !== null) clearTimeout(seat.timer);
    const unanswered = seat.question ?? (seat.ready ? null : (this.#waiting.shift() ?? null));
    seat.question = null;
    unanswered?.reject(error);
    const ended = seat.worker.terminate();
    if (!this.#closed) this.#dispatch();
    await ended;
  }
}
