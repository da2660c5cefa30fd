import { inWords, type Standing } from './standing';
import { visible } from './visible';

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
