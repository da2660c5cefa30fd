import type { ChildProcess } from 'node:child_process';

import type { FromEngine, Opening, ToEngine } from './messages';
import type { RowsMemory, RowsPlace } from './rows-memory';
import type { StartedProcess } from './start-process';
import { cpuTime, loopCpuTime, residentBytes } from './stopwatch';

export interface Listener {
  hear(message: FromEngine): void;
  /** The last word about it. @param how exit code or signal, in words */
  ended(how: string): void;
}

/** One process of the embedded engine, from its start to its end. */
export class EngineProcess {
  readonly #child: ChildProcess;
  /** As it reported itself, in bytes. */
  #reported = 0;
  /** For rows of runs; null: there is none. */
  readonly #rows: RowsMemory | null;

  constructor({ child, rows }: StartedProcess, opening: Opening, listener: Listener) {
    this.#child = child;
    this.#rows = rows;
    let ended = false;
    const end = (how: string): void => {
      if (ended) return;
      ended = true;
      this.#rows?.close();
      listener.ended(how);
    };
    this.#child.on('message', (message: FromEngine) => {
      if (message.kind === 'beat') this.#reported = message.resident;
      listener.hear(message);
    });
    this.#child.on('exit', (code, signal) => end(signal ?? `exit code ${String(code)}`));
    this.#child.on('error', (error) => {
      // It could not be started, or a message not be sent to one that is ending.
      if (this.#child.pid === undefined) end(error.message);
    });
    this.send({ kind: 'open', opening });
  }

  /** null: it could not be started. */
  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Bytes in memory. */
  get resident(): number {
    return (this.pid === null ? null : residentBytes(this.pid)) ?? this.#reported;
  }

  /** Milliseconds of CPU time; null where that is not known. */
  readonly cpuTime = (): number | null => (this.pid === null ? null : cpuTime(this.pid));

  /** The same of the thread that takes messages. */
  readonly loopCpuTime = (): number | null => (this.pid === null ? null : loopCpuTime(this.pid));

  /** A place for the rows of a run; null: there is none free. */
  acquirePlace(): RowsPlace | null {
    return this.#rows?.acquire() ?? null;
  }

  /** A message to a process that has ended is lost: its end is heard of. */
  send(message: ToEngine): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
