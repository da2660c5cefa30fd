/** What keeps DATA_DIR from being followed as it should be. */
import type { Log } from '../engine/log';
import { codeOf, kindOf, messageOf } from '../engine/native-error';

/** What may be at fault: a word for each, or a table's name. */
export type Faulty = 'folder' | 'schema' | 'follow' | 'lock' | 'store' | 'write' | `table ${string}` | `rows ${string}`;

export class FolderFaults {
  readonly #faults = new Map<Faulty, string>();

  constructor(private readonly log: Log) {}

  /** Records a fault, or that there is none any more, and logs the change. */
  set(name: Faulty, fault: string | null): void {
    const before = this.#faults.get(name);
    if (before === fault || (before === undefined && fault === null)) return;
    if (fault === null) {
      this.#faults.delete(name);
      this.log.info({ before }, 'The data folder is followed again');
    } else {
      this.#faults.set(name, fault);
      this.log.error({ detail: fault }, 'The data folder cannot be followed as it should; it is tried again');
    }
  }

  /** All of them as one text; null: none. */
  get detail(): string | null {
    return this.#faults.size === 0 ? null : [...this.#faults.values()].join(' ');
  }
}

/** What kind of fault an error is. DuckDB's messages may hold values of rows: they are not for the log. */
export function faultKind(error: unknown): string {
  if (/No space left|ENOSPC/.test(messageOf(error))) return 'no space left';
  return codeOf(error) ?? kindOf(error);
}
