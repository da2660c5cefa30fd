import type { Progress, Standing } from '@logquay/duckdb-engine/contract';
import { visible } from './visible';

/** `Converting raw_edge_logs: 1,200 of 3,000 rows (40 %)`. */
export function inWords({ what, done, total, unit }: Standing): string {
  const percent = `${String(percentOf({ done, total }))} %`;
  if (unit === '%') return `${what}: ${percent}`;
  return `${what}: ${counted(done)} of ${counted(total)} ${unit} (${percent})`;
}

/** From 0 to 100, rounded down: 100 is done. */
function percentOf({ done, total }: Pick<Standing, 'done' | 'total'>): number {
  return total === 0 ? 100 : Math.max(0, Math.min(100, Math.floor((done / total) * 100)));
}

function counted(count: number): string {
  return Math.floor(count).toLocaleString('en-US');
}

/** How often the line is written anew, in milliseconds. */
const REWRITE = 100;

/** To the first column, and everything after it erased (ECMA-48: CR, EL). */
const ERASE = '\r\u001b[K';

export interface Terminal {
  write(text: string): unknown;
  /** Characters in a line; 0 or absent: not known. */
  readonly columns?: number;
}

/** A terminal whose last line says where long work stands, below everything else that is written. */
export class StatusLine {
  #shown = '';
  #written = -Infinity;

  constructor(
    private readonly terminal: Terminal,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Writes lines; what stands below them moves down. */
  write(lines: string): void {
    this.terminal.write(this.#shown === '' ? lines : `${ERASE}${lines}${this.#shown}`);
  }

  /** Says where work stands; null: it is done, and the line goes. */
  show(standing: Standing | null): void {
    if (standing === null) {
      if (this.#shown !== '') this.terminal.write(ERASE);
      this.#shown = '';
      this.#written = -Infinity;
      return;
    }
    if (this.now() - this.#written < REWRITE) return;
    this.#written = this.now();
    // A line that breaks cannot be erased as one.
    this.#shown = visible(inWords(standing)).slice(0, (this.terminal.columns || 80) - 1);
    this.terminal.write(`${ERASE}${this.#shown}`);
  }
}

/** Milliseconds after which the progress of long work is logged, and between two lines. */
const BETWEEN = 5_000;

/** Progress as lines of a log, where no terminal can show it: one every few seconds, none for what is soon done. */
export function progressLines(
  write: (facts: object, message: string) => void,
  now: () => number = () => performance.now(),
): Progress {
  let what: string | null = null;
  let last = 0;
  return (standing) => {
    if (standing?.what !== what) {
      what = standing?.what ?? null;
      last = now();
    }
    if (standing === null || now() - last < BETWEEN) return;
    last = now();
    const { done, total, unit } = standing;
    const counts = unit === '%' ? {} : { done: Math.floor(done), total: Math.floor(total), unit };
    write({ ...counts, percent: percentOf(standing) }, standing.what);
  };
}
