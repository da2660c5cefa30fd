/** What keeps DATA_DIR from being followed as it should be. */
import type { Log } from '../engine/log';
import { codeOf, kindOf, messageOf } from '../engine/native-error';

/** What may be at fault: a word for each, or a table's name. */
export type Faulty =
  | 'folder'
  | 'schema'
  | 'declared'
  | 'follow'
  | 'lock'
  | 'store'
  | 'write'
  | `table ${string}`
  | `rows ${string}`;

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

/** DuckDB hands on what the system says, in words behind its own. */
const KINDS: readonly (readonly [words: RegExp, kind: string])[] = [
  [/No space left|ENOSPC|: (?:Disk quota exceeded|File too large)$/m, 'no space left'],
  [/: Permission denied$/m, 'EACCES'],
  [/: Read-only file system$/m, 'EROFS'],
  [/: Too many open files$/m, 'EMFILE'],
  [/: Is a directory$/m, 'EISDIR'],
  [/: could not allocate block/, 'Out of Memory Error'],
];

/** What kind of fault an error is. DuckDB's messages may hold values of rows: they are not for the log. */
export function faultKind(error: unknown): string {
  const message = messageOf(error);
  return KINDS.find(([words]) => words.test(message))?.[1] ?? placeInCode(error) ?? codeOf(error) ?? kindOf(error);
}

/** Of a mistake in the code its name and place, without its message; null: another fault. */
function placeInCode(error: unknown): string | null {
  if (!(error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)) return null;
  const { name, message, stack = '' } = error;
  const frames = stack.slice(stack.indexOf(message) + message.length);
  const [, place = 'an unknown place'] = /^ +at (.*)$/m.exec(frames) ?? [];
  return `${name} at ${place}`;
}
