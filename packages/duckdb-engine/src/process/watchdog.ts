import type { Call } from './call';
import type { EngineProcess } from './engine-process';
import { Stopwatch } from './stopwatch';

/** Between two looks at the memory, in milliseconds: as little as it can grow meanwhile. */
const LOOK = 25;
/** Looks between two at everything else. */
const CLOSELY = 10;

export interface Patience {
  /** How long a call may go on after it was cancelled, in milliseconds. */
  readonly grace: number;
  /** How long the process may leave a message unread, in milliseconds. */
  readonly unread: number;
}

export const PATIENCE: Patience = { grace: 1_500, unread: 2_000 };

/** Why a process was ended, or that it ended by itself. */
export type Cause = 'overdue' | 'memory' | 'stalled' | 'crashed';

/** Ends the process; @param suspects calls that may be the reason, of `overdue` that are; none: it may be any */
type End = (cause: Exclude<Cause, 'crashed'>, suspects: ReadonlySet<Call>) => void;

/** Looks after one process while calls run in it. */
export class Watchdog {
  #timer: NodeJS.Timeout | null = null;
  #looks = 0;
  /** Since a message was sent that is to be answered at once. */
  #unread: Stopwatch | null = null;

  constructor(
    private readonly process: EngineProcess,
    private readonly running: ReadonlySet<Call>,
    private readonly bounds: { readonly maxResident: number; readonly patience: Patience },
    private readonly end: End,
  ) {}

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#unread = null;
  }

  /** The process has read its messages. */
  heard(): void {
    this.#unread = null;
  }

  #look(): void {
    if (this.running.size === 0) return this.stop();
    const { maxResident, patience } = this.bounds;
    const { resident } = this.process;
    if (resident > maxResident) return this.#end('memory', whoGrew(this.running, resident));
    if (++this.#looks % CLOSELY !== 0) return;
    const overdue = [...this.running].filter((call) => isOverdue(call, patience.grace));
    if (overdue.length > 0) return this.#end('overdue', new Set(overdue));
    if (this.#unread?.hasPassed(patience.unread) === true) return this.#end('stalled');
    if (this.#unread !== null) return;
    this.#unread = new Stopwatch(this.process.loopCpuTime);
    this.process.send({ kind: 'beat' });
  }

  #end(cause: Exclude<Cause, 'crashed'>, suspects: ReadonlySet<Call> = new Set()): void {
    this.stop();
    this.end(cause, suspects);
  }
}

/** Calls that have run while the process took half of what it has taken since the first of them: others came too late for that. */
function whoGrew(running: ReadonlySet<Call>, resident: number): ReadonlySet<Call> {
  const most = resident - Math.min(...[...running].map(({ residentBefore }) => residentBefore));
  return new Set([...running].filter(({ residentBefore }) => resident - residentBefore >= most / 2));
}

function isOverdue({ sent, cancelled, options: { allowance } }: Call, grace: number): boolean {
  if (cancelled?.hasPassed(grace) === true) return true;
  return allowance !== null && sent?.hasPassed(allowance) === true;
}
