/**
 * Threads for work that would hold up the thread that serves everybody (docs/decisions/bounded-work.md). Keys take turns, no
 * key has every thread, and a thread that works past the deadline or dies is replaced.
 */
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { ServiceError } from '../contract/service-error';
import { SYSTEM_CLOCK } from './clock';
import { deadlineExceeded, remaining, type RunLimits } from './deadline';
import { FairQueue } from './fair-slots';

/**
 * Milliseconds that a thread of this process has had a processor, by its number to Linux; null where the system does not
 * tell. Unlike a clock on the wall it stands still while the thread waits for a processor.
 */
function threadTime(thread: string | null): number | null {
  if (thread === null) return null;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    const milliseconds = Number(nanoseconds) / 1e6;
    return milliseconds > 0 ? milliseconds : null;
  } catch {
    return null;
  }
}

export interface PoolOptions {
  /** Run by each thread. It posts `{ ready: true, thread }` once it can work, `thread` being its `threadName`, then one answer to each message. */
  readonly file: string;
  readonly threads: number;
  /** Milliseconds for one piece of work, of the thread's own time where the system counts that. */
  readonly deadline: number;
  /** Heap of a thread in MiB: work that needs more ends its thread, not the process. */
  readonly heap: number;
  /** Milliseconds for a thread to start; default: 10 s. */
  readonly startWithin?: number;
  /** Milliseconds without work after which a thread ends, and its memory is free; default: never. */
  readonly idle?: number;
}

/** The work took longer than the deadline. */
export class WorkerTimeout extends Error {
  override readonly name = 'WorkerTimeout';
}

/** The thread ended while it worked: of too little memory, as a rule. */
export class WorkerDied extends Error {
  override readonly name = 'WorkerDied';
}

/** Pieces of work that wait for a thread: of one key, and of all. */
export const WAITING_PER_KEY = 32;
const WAITING = 256;
/** MiB of a thread's young generation. */
const YOUNG_GENERATION = 6;
/** Milliseconds. */
const START_DEADLINE = 10_000;
/** A thread that gets no processor is waited for, up to so many deadlines on the clock. */
const LONGEST_WAIT = 40;

interface Job<Input, Output> {
  readonly keyName: string;
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

interface Seat<Input, Output> {
  readonly worker: Worker;
  ready: boolean;
  /** See `threadTime`. */
  thread: string | null;
  job: Job<Input, Output> | null;
  timer: NodeJS.Timeout | null;
}

type Message<Output> = { readonly ready: true; readonly thread: string | null } | { readonly answer: Output };

/** Threads are started when they are first needed. */
export class WorkerPool<Input, Output> {
  readonly #seats = new Set<Seat<Input, Output>>();
  readonly #queue = new FairQueue<Job<Input, Output>>();
  readonly #running = new Map<string, number>();
  #closed = false;

  constructor(private readonly options: PoolOptions) {}

  /**
   * Has a thread work on `input`, which is copied.
   *
   * @throws WorkerTimeout, WorkerDied; ServiceError `tooManyConcurrentQueries` where too much of the key's work waits already,
   *   `deadlineExceeded` where no thread is free in time, `backendUnavailable` where one does not start; the signal's reason
   */
  async run(input: Input, limits: RunLimits): Promise<Output> {
    const { signal, keyName = '' } = limits;
    if (this.#closed) throw new Error('The threads are closed.');
    signal.throwIfAborted();
    if (this.#queue.sizeOf(keyName) >= WAITING_PER_KEY) throw tooManyWait();
    if (this.#queue.size >= WAITING) this.#makeRoom(keyName);
    let stop = (): void => undefined;
    const answer = new Promise<Output>((resolve, reject) => {
      const job: Job<Input, Output> = { keyName, input, resolve, reject };
      const stopWaiting = (error: unknown): void => {
        this.#queue.remove(keyName, job);
        reject(error);
      };
      const onAbort = (): void => stopWaiting(signal.reason);
      const cancelTimer = SYSTEM_CLOCK.after(remaining(limits), () =>
        stopWaiting(deadlineExceeded('The deadline passed before the query was read.')),
      );
      signal.addEventListener('abort', onAbort);
      stop = () => {
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
      };
      this.#queue.push(keyName, job);
      this.#dispatch();
    });
    return answer.finally(() => stop());
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closed = new Error('The threads are closed.');
    for (let job = this.#queue.shift(() => true); job !== undefined; job = this.#queue.shift(() => true))
      job.reject(closed);
    await Promise.all([...this.#seats].map((seat) => this.#end(seat, closed)));
  }

  /** @throws ServiceError where no key or group has two more that wait: a place would be worth no more to another */
  #makeRoom(keyName: string): void {
    const surplus = this.#queue.surplus(keyName);
    if (surplus === undefined) throw tooManyWait();
    this.#queue.remove(surplus.keyName, surplus);
    surplus.reject(tooManyWait());
  }

  /** One thread is always left to the other keys. */
  #mayRun(key: string): boolean {
    return (this.#running.get(key) ?? 0) < Math.max(1, this.options.threads - 1);
  }

  #dispatch(): void {
    for (const seat of this.#seats) if (seat.ready && seat.job === null) this.#give(seat);
    if (this.#closed || this.#seats.size >= this.options.threads) return;
    const starting = [...this.#seats].filter(({ ready }) => !ready).length;
    if (this.#queue.keys.filter((key) => this.#mayRun(key)).length > starting) this.#start();
  }

  #give(seat: Seat<Input, Output>): void {
    const job = this.#queue.shift((key) => this.#mayRun(key));
    if (job === undefined) return;
    if (seat.timer !== null) clearTimeout(seat.timer);
    seat.job = job;
    this.#running.set(job.keyName, (this.#running.get(job.keyName) ?? 0) + 1);
    seat.worker.ref();
    seat.worker.postMessage(job.input);
    this.#watch(seat, job);
  }

  /** The seat's job, which is done with. */
  #taken(seat: Seat<Input, Output>): Job<Input, Output> | null {
    const { job } = seat;
    seat.job = null;
    if (job === null) return null;
    const running = (this.#running.get(job.keyName) ?? 1) - 1;
    if (running > 0) this.#running.set(job.keyName, running);
    else this.#running.delete(job.keyName);
    return job;
  }

  #start(): void {
    const { file, heap } = this.options;
    const seat: Seat<Input, Output> = {
      worker: new Worker(file, {
        resourceLimits: { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: YOUNG_GENERATION },
      }),
      ready: false,
      thread: null,
      job: null,
      timer: null,
    };
    this.#seats.add(seat);
    seat.timer = setTimeout(
      () => void this.#end(seat, new WorkerTimeout('It took too long to start.')),
      this.options.startWithin ?? START_DEADLINE,
    );
    seat.worker.on('message', (message: Message<Output>) => this.#hear(seat, message));
    seat.worker.on('error', (cause) => void this.#end(seat, new WorkerDied(cause.message, { cause })));
    seat.worker.on('exit', () => void this.#end(seat, new WorkerDied('A thread ended.')));
  }

  #hear(seat: Seat<Input, Output>, message: Message<Output>): void {
    if (seat.timer !== null) clearTimeout(seat.timer);
    seat.timer = null;
    seat.worker.unref();
    if ('ready' in message) {
      seat.ready = true;
      seat.thread = message.thread;
    } else {
      this.#taken(seat)?.resolve(message.answer);
    }
    this.#dispatch();
    this.#rest(seat);
  }

  /** Ends a thread that gets no work for some time. */
  #rest(seat: Seat<Input, Output>): void {
    const { idle } = this.options;
    if (idle === undefined || seat.job !== null || !this.#seats.has(seat)) return;
    seat.timer = setTimeout(() => void this.#end(seat, new WorkerDied('The thread had nothing to do.')), idle).unref();
  }

  /**
   * Ends the thread at the deadline. Where this thread was busy past it, an answer that has come meanwhile is heard first; where
   * others kept that one waiting, it gets the time that it has not had.
   */
  #watch(seat: Seat<Input, Output>, job: Job<Input, Output>): void {
    const { deadline } = this.options;
    const begun = { at: performance.now(), spent: threadTime(seat.thread) };
    const look = (): void => {
      if (seat.job !== job) return;
      const waited = performance.now() - begun.at;
      const now = threadTime(seat.thread);
      const spent = now === null || begun.spent === null ? waited : now - begun.spent;
      if (spent >= deadline || waited >= deadline * LONGEST_WAIT) {
        void this.#end(seat, new WorkerTimeout('The work took too long.'));
      } else {
        lookIn(deadline - spent);
      }
    };
    const lookIn = (milliseconds: number): void => {
      seat.timer = setTimeout(() => setImmediate(look), milliseconds);
    };
    lookIn(deadline);
  }

  /** Ends a thread: its job fails with `error`; where it has not started, what waits for it does. */
  async #end(seat: Seat<Input, Output>, error: Error): Promise<void> {
    if (!this.#seats.delete(seat)) return;
    if (seat.timer !== null) clearTimeout(seat.timer);
    if (seat.ready) this.#taken(seat)?.reject(error);
    else this.#queue.shift(() => true)?.reject(notStarted(error));
    const ended = seat.worker.terminate();
    if (!this.#closed) this.#dispatch();
    await ended;
  }
}

/** Where the machine is busy, or memory is short: another time it may. */
function notStarted(cause: Error): ServiceError {
  const message = 'A thread of the service did not start in time.';
  return new ServiceError('backendUnavailable', message, { retryAfter: 1 }, { cause });
}

function tooManyWait(): ServiceError {
  return new ServiceError('tooManyConcurrentQueries', 'Too many queries wait to be read.', { retryAfter: 1 });
}
