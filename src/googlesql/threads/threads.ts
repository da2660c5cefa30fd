/**
 * Threads that read long texts (docs/decisions/long-texts.md). A text near the bounds takes tens of milliseconds to read,
 * resolve and translate: on the thread that serves everybody, others would wait for it.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { QueryError, ServiceError } from '../../errors';
import type { Task } from './task';

/** Texts up to here, in UTF-16 units, are done with in a few milliseconds on the thread that asks. */
const SHORT = 1024;
/** Milliseconds of waiting and work. Work within the bounds takes far less; a thread past it is ended. */
const DEADLINE = 30_000;
/** Texts that wait for a thread. */
const MAX_WAITING = 100;
/** A thread's heap in MiB: a text that needs more ends its thread, not the process. */
const HEAP = 256;
const MAX_THREADS = 4;
const THREAD_FILE = join(__dirname, 'thread.js');

interface Order {
  readonly file: string;
  readonly name: string;
  readonly input: unknown;
}

interface Job {
  readonly order: Order;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | null;
}

interface Thread {
  readonly worker: Worker;
  job: Job | null;
}

type Answer =
  | { readonly output: unknown }
  | { readonly refusal: Pick<QueryError, 'fault' | 'message' | 'span' | 'details'> }
  | { readonly failure: string };

/** A pool that is started when first asked, one processor left to others. A thread that dies is replaced. */
export class Threads {
  readonly #threads = new Set<Thread>();
  readonly #waiting: Job[] = [];
  readonly #size = Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
  readonly #deadline: number;
  #closed = false;

  constructor({ deadline = DEADLINE }: { deadline?: number } = {}) {
    this.#deadline = deadline;
  }

  /**
   * Does `task` at once where `text`, which decides how long it takes, is short; else on a thread. Node gives threads no
   * loader for TypeScript: where the program runs from its sources, as under test, it is all done at once.
   *
   * @throws what the task throws; ServiceError `resourcesExceeded` where the thread dies of it or is ended past the
   *   deadline, `tooManyConcurrentQueries` where too many wait
   */
  async do<Input, Output>(task: Task<Input, Output>, input: Input, text: string): Promise<Output> {
    if (text.length <= SHORT || task.file.endsWith('.ts')) return task.run(input);
    if (this.#closed) throw new Error('The threads are closed.');
    if (this.#waiting.length >= MAX_WAITING) {
      const message = 'Too many long queries are waiting to be read.';
      throw new ServiceError('tooManyConcurrentQueries', message, { retryAfter: 1 });
    }
    const { file, name } = task;
    const output = await new Promise((resolve, reject) => {
      const job: Job = { order: { file, name, input }, resolve, reject, timer: null };
      job.timer = setTimeout(() => this.#giveUp(job), this.#deadline);
      this.#waiting.push(job);
      this.#dispatch();
    });
    // The thread ran this very task.
    return output as Output;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) settle(job, new Error('The threads are closed.'));
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, new Error('The threads are closed.'))));
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && !this.#closed) {
      const idle = [...this.#threads].find(({ job }) => job === null);
      const thread = idle ?? (this.#threads.size < this.#size ? this.#start() : null);
      if (thread === null) return;
      const job = this.#waiting.shift() ?? null;
      thread.job = job;
      thread.worker.ref();
      thread.worker.postMessage(job?.order);
    }
  }

  #start(): Thread {
    const worker = new Worker(THREAD_FILE, { resourceLimits: { maxOldGenerationSizeMb: HEAP } });
    const thread: Thread = { worker, job: null };
    this.#threads.add(thread);
    worker.on('message', (answer: Answer) => this.#hear(thread, answer));
    const died = (): void => void this.#end(thread, tooMuch());
    worker.on('error', died);
    worker.on('exit', died);
    return thread;
  }

  #hear(thread: Thread, answer: Answer): void {
    const { job } = thread;
    thread.job = null;
    thread.worker.unref();
    if (job !== null) settle(job, answer);
    this.#dispatch();
  }

  #giveUp(job: Job): void {
    const at = this.#waiting.indexOf(job);
    if (at >= 0) this.#waiting.splice(at, 1);
    for (const thread of this.#threads) if (thread.job === job) void this.#end(thread, tooMuch());
    settle(job, tooMuch());
  }

  async #end(thread: Thread, error: Error): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    if (thread.job !== null) settle(thread.job, error);
    thread.job = null;
    const ended = thread.worker.terminate();
    this.#dispatch();
    await ended;
  }
}

/** Answers a job, once. */
function settle(job: Job, answer: Answer | Error): void {
  if (job.timer !== null) clearTimeout(job.timer);
  job.timer = null;
  if (answer instanceof Error) job.reject(answer);
  else if ('output' in answer) job.resolve(answer.output);
  else if ('failure' in answer) job.reject(new Error(answer.failure));
  else {
    const { fault, message, span, details } = answer.refusal;
    job.reject(new QueryError(fault, message, span, details));
  }
}

function tooMuch(): ServiceError {
  return new ServiceError('resourcesExceeded', 'The query takes too much time or memory to be read. Make it shorter.');
}
