import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceError } from '../contract/service-error';
import type { FolderStatus } from '../contract/contract';
import { abortError } from '../concurrency/deadline';
import type { Contents } from '../engine/database';
import type { Log } from '../engine/log';
import { Call, type CallOptions, type Reply } from './call';
import { EngineProcess } from './engine-process';
import { toError, type FromEngine, type Opening, type Request } from './messages';
import { type RefusedRequests, tooMuch } from './refused-requests';
import { Schedule } from './schedule';
import { isRunning, type StartedProcess, startProcess } from './start-process';
import { Stopwatch } from './stopwatch';
import { type Cause, PATIENCE, type Patience, Watchdog } from './watchdog';

/** How long a suspect is on trial beyond the time that it ran before, in milliseconds, and at most. */
const TRIAL = 1_000;
const LONGEST_TRIAL = 5_000;
/** How long a process may take to end by itself, in milliseconds. */
const LAST_WORDS = 2_000;
/** Between two tries to start a process that does not start, in milliseconds: doubled each time, up to the last. */
const FIRST_RETRY = 250;
const LAST_RETRY = 5_000;

export interface SupervisorOptions {
  /** What the log calls it; default: the engine's process. */
  readonly name?: string;
  /** The compiled child.ts. */
  readonly file: string;
  /** A process that has been started already, for its first start. */
  readonly first?: StartedProcess | null;
  /** @param before what the process before held; null: this is the first */
  readonly opening: (before: Contents | null) => Opening;
  /** Bytes in memory beyond which the process is ended. */
  readonly maxResident: number;
  /** Bytes in memory beyond which it is replaced between two calls: what calls leave behind is nobody's fault; default: none. */
  readonly replacedAbove?: number;
  /** Milliseconds without a call after which it is ended, to be started again by the next; null: it is always there. */
  readonly idle: number | null;
  readonly refused: RefusedRequests;
  readonly patience?: Patience;
  readonly log: Log;
  /** A process died of `cause`. */
  readonly died?: (cause: Cause) => void;
  /** Takes what is known of the data folder whenever it changes. */
  readonly onStatus?: (status: FolderStatus) => void;
}

/** A process, and where it stands. */
interface Current {
  readonly process: EngineProcess;
  readonly watchdog: Watchdog;
  open: boolean;
  /** It has grown by all that it has done, and gets no more calls. */
  worn: boolean;
  /** Why it is being ended, and for one of which calls; none: for any that runs. */
  ending: { readonly cause: Cause; readonly suspects: ReadonlySet<Call> } | null;
  readonly ended: Promise<void>;
}

interface Settle {
  resolve(): void;
  reject(error: Error): void;
}

/** Requests that are answered with rows. */
const PLACED: ReadonlySet<Request['kind']> = new Set(['run', 'arrived']);

/**
 * Keeps one process of the engine: starts it, sends it calls, and ends it when a call does not end in time, when it takes
 * too much memory, or no longer listens. Calls that ran then and are not the reason are sent to the next one.
 */
export class Supervisor {
  readonly #schedule = new Schedule<Call>();
  /** Every call that is not over, by its number. */
  readonly #calls = new Map<number, Call>();
  #current: Current | null = null;
  #starting = false;
  #contents: Contents | null = null;
  #target = '';
  #status: FolderStatus | null = null;
  #idling: NodeJS.Timeout | undefined;
  #trial: NodeJS.Timeout | undefined;
  #nextId = 1;
  #closed = false;

  #first: StartedProcess | null;
  /** Whether a process that ends is the reason why the service does not start, rather than one to be replaced. */
  #startsService = false;
  readonly #onReadable: Settle;
  /** Resolves when rows can be read for the first time; rejects where the data cannot be opened, and with AbortError when it is closed. */
  readonly readable: Promise<void>;

  constructor(private readonly options: SupervisorOptions) {
    this.#first = options.first ?? null;
    let onReadable: Settle | undefined;
    this.readable = new Promise((resolve, reject) => (onReadable = { resolve, reject }));
    this.#onReadable = onReadable!;
    // A rejection is for who awaits it.
    this.readable.catch(() => undefined);
  }

  get #name(): string {
    return this.options.name ?? "The engine's process";
  }

  /** Names the data that the process holds. */
  get target(): string {
    return this.#target;
  }

  /** What the process knows of the data folder; null: there is none. */
  get status(): FolderStatus | null {
    return this.#status;
  }

  /** Bytes in memory, with those of processes that it has started; 0 while there is no process. */
  get resident(): number {
    return this.#current?.process.resident ?? 0;
  }

  /** @throws DataFault and other errors: what the process cannot open; AbortError when it is closed meanwhile */
  async open(): Promise<void> {
    this.#startsService = true;
    const error = await this.#begin('opened');
    if (this.#closed) throw abortError();
    if (error !== null) throw error;
  }

  /**
   * Settles when the call has ended over there, which may be after deadline and signal.
   *
   * @throws whatever ended it; ServiceError `resourcesExceeded` or `backendError` where it ended the process
   */
  async call(options: CallOptions): Promise<Reply> {
    const { signal } = options.limits;
    signal.throwIfAborted();
    if (this.#closed) throw abortError();
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const call = new Call(this.#nextId++, options, { resolve, reject });
        this.#calls.set(call.id, call);
        if (!call.isProbe) this.#schedule.add(call);
        onAbort = () => this.#cancel(call);
        signal.addEventListener('abort', onAbort);
        clearTimeout(this.#idling);
        this.#ensure();
        if (call.isProbe && this.#current?.open === true) this.#current.process.send(call.message);
        this.#dispatch();
      });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the process: by its own will, or 2 seconds later. Whoever waits gets AbortError. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#onReadable.reject(abortError());
    clearTimeout(this.#idling);
    clearTimeout(this.#trial);
    for (const call of [...this.#calls.values()]) this.#over(call, () => call.reject(abortError()));
    await this.#retire();
  }

  /** Ends the process at once, for who ends at once. */
  kill(): void {
    this.#closed = true;
    this.#current?.process.kill();
  }

  #cancel(call: Call): void {
    const { signal } = call.options.limits;
    if (this.#current !== null && this.#schedule.running.has(call)) {
      call.cancelled = new Stopwatch(this.#current.process.cpuTime);
      this.#current.process.send({ kind: 'cancel', id: call.id });
    } else this.#over(call, () => call.reject(signal.reason));
  }

  #over(call: Call, settle: () => void): void {
    this.#calls.delete(call.id);
    this.#schedule.delete(call);
    settle();
    call.place?.release();
    this.#replaceWorn();
    this.#dispatch();
    if (this.#calls.size > 0 || this.options.idle === null || this.#closed) return;
    clearTimeout(this.#idling);
    this.#idling = setTimeout(() => void this.#retire(), this.options.idle).unref();
  }

  #replaceWorn(): void {
    const { replacedAbove } = this.options;
    const current = this.#current;
    if (replacedAbove === undefined || current === null || !current.open || current.ending !== null) return;
    current.worn ||= current.process.resident > replacedAbove;
    if (!current.worn || this.#schedule.running.size > 0) return;
    void this.#retire();
    if (this.#calls.size > 0) this.#ensure();
  }

  #dispatch(): void {
    const current = this.#current;
    if (current === null || !current.open || current.worn || current.ending !== null) return;
    const before = this.#schedule.onTrial;
    for (const call of this.#schedule.take()) {
      if (call === this.#schedule.onTrial && call !== before) this.#try(call);
      const place = PLACED.has(call.options.request.kind) ? current.process.acquirePlace() : null;
      call.begin(new Stopwatch(current.process.cpuTime), current.process.resident, place);
      current.process.send(call.message);
      current.watchdog.start();
    }
  }

  #try({ sent }: Call): void {
    clearTimeout(this.#trial);
    const long = Math.min(LONGEST_TRIAL, (sent?.elapsed ?? 0) + TRIAL);
    this.#trial = setTimeout(() => {
      this.#schedule.acquit();
      this.#dispatch();
    }, long).unref();
  }

  /** Sees that there is a process, or will be. */
  #ensure(): void {
    if (this.#current !== null || this.#starting || this.#closed) return;
    this.#starting = true;
    void this.#keepTrying().finally(() => {
      this.#starting = false;
    });
  }

  async #keepTrying(): Promise<void> {
    for (let pause = FIRST_RETRY; ; pause = Math.min(2 * pause, LAST_RETRY)) {
      const started = performance.now();
      const error = await this.#begin('readable');
      if (this.#closed) return;
      if (error === null) {
        if (this.options.idle === null) {
          const ms = Math.round(performance.now() - started);
          this.options.log.warn({ ms }, `${this.#name} has been started again`);
        }
        return;
      }
      this.options.log.error({ detail: error.message }, `${this.#name} does not start; it is tried again`);
      await sleep(pause, undefined, { ref: false });
      if (this.#closed) return;
    }
  }

  /** Starts a process. Resolves when it is as far as `until`, or with why it is not. */
  #begin(until: 'opened' | 'readable'): Promise<Error | null> {
    const { maxResident, patience = PATIENCE } = this.options;
    return new Promise((resolve) => {
      let broken: Error | null = null;
      let onEnded = (): void => undefined;
      const opening = this.options.opening(this.#contents);
      const process = new EngineProcess(this.#start(opening.role), opening, {
        hear: (message) => {
          if (message.kind === 'broken') broken = toError(message.failure);
          if (message.kind === 'opened') this.#opened(current, message);
          else this.#hear(current, message);
          if (message.kind === until) resolve(null);
        },
        ended: (how) => {
          current.watchdog.stop();
          if (this.#current === current) this.#current = null;
          onEnded();
          const error = broken ?? new Error(`${this.#name} ended while it started (${how}).`);
          if (current.open && this.#startsService) this.#onReadable.reject(error);
          else if (current.open) this.#died(current, broken?.message ?? how);
          resolve(error);
        },
      });
      const end = (cause: Cause, suspects: ReadonlySet<Call>): void => {
        current.ending = { cause, suspects };
        process.kill();
      };
      const current: Current = {
        process,
        watchdog: new Watchdog(process, this.#schedule.running, { maxResident, patience }, end),
        open: false,
        worn: false,
        ending: null,
        ended: new Promise((done) => (onEnded = done)),
      };
      this.#current = current;
    });
  }

  #start(role: Opening['role']): StartedProcess {
    const first = this.#first;
    this.#first = null;
    return first !== null && isRunning(first) ? first : startProcess(role, this.options.file);
  }

  #opened(current: Current, { target, contents }: FromEngine & { kind: 'opened' }): void {
    current.open = true;
    this.#target = target;
    this.#contents = contents;
    for (const call of this.#calls.values()) if (call.isProbe) current.process.send(call.message);
    this.#dispatch();
  }

  #hear(current: Current, message: FromEngine): void {
    // Of a process that is gone: what ran there is sent to the next.
    if (this.#current !== current && message.kind !== 'log') return;
    switch (message.kind) {
      case 'columns':
        this.#calls.get(message.id)?.announce(message.columns, message.form);
        break;
      case 'lines': {
        const { id, lines, count } = message;
        this.#calls.get(id)?.take(lines, count, () => current.process.send({ kind: 'taken', id }));
        break;
      }
      case 'again':
        this.#calls.get(message.id)?.beginAgain();
        break;
      case 'rows':
        this.#calls.get(message.id)?.gather(message.lines, message.count);
        break;
      case 'answer': {
        const call = this.#calls.get(message.id);
        if (call !== undefined) this.#over(call, () => call.resolve(message.answer, message.written));
        break;
      }
      case 'failure': {
        const call = this.#calls.get(message.id);
        if (call !== undefined) this.#over(call, () => call.reject(toError(message.failure)));
        break;
      }
      case 'beat':
        current.watchdog.heard();
        break;
      case 'log':
        // What a process logs while it opens is logged once.
        if (current.open || this.#contents === null || message.level === 'error') {
          this.options.log[message.level](message.facts, message.message);
        }
        break;
      case 'progress':
        this.options.log.progress?.(message.standing);
        break;
      case 'status':
        this.#target = message.target;
        this.#status = message.status;
        this.options.onStatus?.(message.status);
        break;
      case 'readable':
        this.#startsService = false;
        this.#onReadable.resolve();
        break;
      case 'opened':
      case 'broken':
        break;
    }
  }

  /** An open process is gone: those who ran in it are answered, or wait for the next. */
  #died({ ending }: Current, how: string): void {
    if (this.#closed) return;
    const { cause, suspects } = ending ?? { cause: 'crashed' as const, suspects: new Set<Call>() };
    const isKnown = cause === 'overdue' || suspects.size === 1;
    // Nobody waits for these, and they are not what it was ended for.
    for (const call of [...this.#schedule.running]) {
      if (call.cancelled !== null && !(isKnown && suspects.has(call)))
        this.#over(call, () => call.reject(abortError()));
    }
    const again = this.#schedule.running.size;
    const refused = this.#schedule.died(suspects, isKnown, cause !== 'crashed');
    const facts = { cause, how, queries: again, refused: refused.length };
    this.options.log.error(facts, `${this.#name} has ended; what it was doing goes to a new one`);
    this.options.died?.(cause);
    this.options.refused.add(refused.map(({ options: { request }, keyName }) => ({ request, keyName })));
    for (const call of refused) {
      this.#over(call, () => call.reject(cause === 'crashed' ? engineFailed() : tooMuch()));
    }
    // Of these the caller has rows already.
    for (const call of [...this.#calls.values()]) {
      if (call.handedOn) this.#over(call, () => call.reject(engineFailed()));
    }
    if (this.options.idle === null || this.#calls.size > 0) this.#ensure();
  }

  /** Lets the process end, which is no longer the current one. */
  async #retire(): Promise<void> {
    const current = this.#current;
    if (current === null) return;
    this.#current = null;
    current.open = false;
    current.process.send({ kind: 'close' });
    const patience = setTimeout(() => current.process.kill(), LAST_WORDS);
    await current.ended;
    clearTimeout(patience);
  }
}

function engineFailed(): ServiceError {
  return new ServiceError('backendError', 'The embedded engine failed.');
}
