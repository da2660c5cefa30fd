/** What is named in the log about files and rows, at a bounded rate. */
import type { Log } from '../engine/log';
import { MOST_FIELDS } from './fields';
import { type LeftOut, leftOutRows, NAMED } from './segment';

/** Milliseconds in which `NAMED` rows of a table are named, and as many files. */
const PERIOD = 60_000;
/** Names that are remembered. */
const MOST = 10_000;

export class NamedOnce {
  readonly #named = new Set<string>();
  readonly #budgets = new Map<string, { readonly until: number; left: number }>();

  constructor(private readonly log: Log) {}

  /** Files that are not read, with the reason. */
  files(refused: ReadonlyMap<string, string>): void {
    for (const [file, reason] of refused) this.#once('files', file, reason, 'File not read');
  }

  /** A file of a table that is set aside. */
  fault(table: string, file: string, reason: string): void {
    this.#once(table, file, reason, 'File set aside; it is tried again');
  }

  rows(table: string, leftOut: LeftOut): void {
    const { fields } = leftOut;
    if (fields.length > 0 && this.#may(`fields ${table}`, 1)) {
      this.log.warn({ table, fields, most: MOST_FIELDS }, 'Fields left out: the table has as many as are inferred');
    }
    let named = 0;
    for (const row of leftOut.first) {
      if (!this.#may(`rows ${table}`)) break;
      named++;
      this.log.warn(row, 'Row skipped: it does not fit the schema');
    }
    const rows = leftOutRows(leftOut);
    if (rows > named && this.#may(`count ${table}`, 1)) {
      this.log.warn({ table, rows: rows - named }, 'More rows skipped; metrics count them');
    }
  }

  #once(group: string, file: string, reason: string, message: string): void {
    const name = `${file}\n${reason}`;
    if (this.#named.has(name) || !this.#may(`files ${group}`)) return;
    if (this.#named.size >= MOST) this.#named.clear();
    this.#named.add(name);
    this.log.warn({ file, reason }, message);
  }

  #may(name: string, most = NAMED): boolean {
    const now = performance.now();
    let budget = this.#budgets.get(name);
    if (budget === undefined || now > budget.until)
      this.#budgets.set(name, (budget = { until: now + PERIOD, left: most }));
    return budget.left-- > 0;
  }
}
