/**
 * Reading texts off the thread that serves everybody (docs/decisions/bounded-work.md): one near the bounds takes tens of
 * milliseconds to read, resolve and translate.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { ServiceError } from '../../contract/service-error';
import { QueryError } from '@logquay/googlesql/types';
import { AllowanceSpent, withAllowance } from '../allowance';
import { type RunLimits, unlimited } from '../deadline';
import { WorkerDied, WorkerPool, WorkerTimeout } from '../worker-pool';

/**
 * A piece of work that a thread can do. What goes in and what comes out is plain data (docs/decisions/bounded-work.md):
 * a thread gets and gives copies. It may throw QueryError.
 */
export interface Task<Input, Output> {
  /** The module that exports it: its `__filename`. A thread loads that. */
  readonly file: string;
  /** The name it is exported under. */
  readonly name: string;
  readonly run: (input: Input) => Output;
}

/** In UTF-16 units. */
const SHORT = 1024;
/** Milliseconds that such a text has there. */
const ALLOWANCE = 15;
/** Milliseconds of a thread's own time. Work within the bounds takes a tenth of it. */
const DEADLINE = 3_000;
/** A thread's heap in MiB. */
const HEAP = 128;
const MAX_THREADS = 4;
/** Milliseconds: a thread that has read long texts keeps some 40 MB, and starts within a tenth of a second. */
const IDLE = 60_000;

interface Order {
  readonly file: string;
  readonly name: string;
  readonly input: unknown;
}

type Answer =
  | { readonly output: unknown }
  | { readonly refusal: Pick<QueryError, 'fault' | 'message' | 'span' | 'details'> }
  | { readonly failure: string };

/** Whether work on a text is begun on the thread that asks: most of it is done in a few milliseconds. */
export function isShort(text: string): boolean {
  return text.length <= SHORT;
}

export class Threads {
  readonly #pool: WorkerPool<Order, Answer>;

  constructor({ deadline = DEADLINE }: { deadline?: number } = {}) {
    this.#pool = new WorkerPool({
      file: join(__dirname, 'thread.js'),
      // Two at the least: one is always left to the other keys.
      threads: Math.max(2, Math.min(MAX_THREADS, availableParallelism() - 1)),
      deadline,
      heap: HEAP,
      idle: IDLE,
    });
  }

  /**
   * Does `task` at once where `text` is short and the work turns out to be little; else on a thread. Node gives threads no loader
   * for TypeScript: where the program runs from its sources, as under test, it is all done at once.
   *
   * @throws what the task throws; ServiceError `resourcesExceeded` where the thread dies of it or is ended past the deadline;
   *   while it waits, as WorkerPool.run
   */
  async do<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    text: string,
    waiting: RunLimits = unlimited(),
  ): Promise<Output> {
    if (task.file.endsWith('.ts')) return task.run(input);
    if (isShort(text)) {
      try {
        return withAllowance(ALLOWANCE, () => task.run(input));
      } catch (error) {
        if (!(error instanceof AllowanceSpent)) throw error;
      }
    }
    return this.run(task, input, waiting);
  }

  /** Does `task` on a thread. @throws as `do` */
  async run<Input, Output>(task: Task<Input, Output>, input: Input, waiting: RunLimits = unlimited()): Promise<Output> {
    const { file, name } = task;
    if (file.endsWith('.ts')) return task.run(input);
    const answer = await this.#pool.run({ file, name, input }, waiting).catch((cause: unknown) => {
      if (!(cause instanceof WorkerTimeout || cause instanceof WorkerDied)) throw cause;
      const message = 'The query or its result takes too much time or memory. Ask for less.';
      throw new ServiceError('resourcesExceeded', message, {}, { cause });
    });
    // The thread ran this very task.
    if ('output' in answer) return answer.output as Output;
    if ('failure' in answer) throw new Error(answer.failure);
    const { fault, message, span, details } = answer.refusal;
    throw new QueryError(fault, message, span, details);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
