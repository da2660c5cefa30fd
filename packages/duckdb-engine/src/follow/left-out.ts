/** What is left out of a table: counted while rows are read, and named in the log at a bounded rate. */
import type { LeftOutReason } from '../contract/contract';
import type { Fitting, Unfit } from '../data/strict-row';
import type { Log } from '../engine/log';
import { MOST_FIELDS, NAMED } from './inferred-schema';

/** A row that was left out. */
export interface LeftOutRow {
  readonly file: string;
  /** From 1; a Parquet file's rows count as lines. */
  readonly line: number;
  readonly reason: string;
}

/** What was left out of a table. */
export interface LeftOut {
  /** Rows, by reason. */
  readonly rows: Readonly<Partial<Record<LeftOutReason, number>>>;
  /** The first few of them. */
  readonly first: readonly LeftOutRow[];
  /** The first few fields that there was no room for in an inferred schema. */
  readonly fields: readonly string[];
  /** Fields that have no column. */
  readonly ignored: number;
  /** Values that did not fit an inferred column. */
  readonly nulled: number;
}

export const NOTHING_LEFT_OUT: LeftOut = { rows: {}, first: [], fields: [], ignored: 0, nulled: 0 };

export function leftOutRows({ rows }: LeftOut): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}

export function together(a: LeftOut, b: LeftOut): LeftOut {
  const rows = { ...a.rows };
  for (const [reason, count] of Object.entries(b.rows) as [LeftOutReason, number][]) {
    rows[reason] = (rows[reason] ?? 0) + count;
  }
  const first = [...a.first, ...b.first].slice(0, NAMED);
  const fields = [...new Set([...a.fields, ...b.fields])].slice(0, NAMED);
  return { rows, first, fields, ignored: a.ignored + b.ignored, nulled: a.nulled + b.nulled };
}

/** Counts what is left out while rows are read. */
export class LeftOutCount implements Fitting {
  ignored = 0;
  nulled = 0;
  values = 0;
  /** As of `withFieldsOf`. */
  readonly fields = new Set<string>();
  readonly #rows: Partial<Record<LeftOutReason, number>> = {};
  readonly #first: LeftOutRow[] = [];

  /** @param lenient as of `Fitting` */
  constructor(readonly lenient: boolean) {}

  add(file: string, line: number, { reason, message }: Unfit): void {
    this.addRows(reason, 1, [{ file, line, reason: message }]);
  }

  addRows(reason: LeftOutReason, count: number, first: readonly LeftOutRow[]): void {
    if (count === 0) return;
    this.#rows[reason] = (this.#rows[reason] ?? 0) + count;
    this.#first.push(...first.slice(0, NAMED - this.#first.length));
  }

  /** Whether there is anything to tell. */
  get any(): boolean {
    return leftOutRows(this.total) + this.ignored + this.nulled + this.fields.size > 0;
  }

  get total(): LeftOut {
    const { ignored, nulled } = this;
    return { rows: { ...this.#rows }, first: [...this.#first], fields: [...this.fields], ignored, nulled };
  }
}

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
      this.log.warn(
        { table, fields, most: MOST_FIELDS },
        'Fields left out of the columns: the table has as many as are inferred',
      );
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
