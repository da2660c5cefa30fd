/** What the printing of one query shares: its names, the guards of its tables, its CTEs, the size of what is printed. */
import { QueryError } from '../errors';
import type { Names } from './names';

/** Characters of printed SQL at the most; BigQuery takes 1 MB. */
const LONGEST = 900_000;

export class PrintSession {
  /** CTEs printed so far, in an order in which each sees those that it reads: name and definition. */
  readonly ctes: { readonly name: string; readonly sql: string }[] = [];
  /** Names of the parameters that were printed. */
  readonly parameters = new Set<string>();
  /** Whether a CTE has a guard column, by id. */
  readonly guardedCtes = new Map<number, boolean>();
  /** Columns of CTEs that some scan reads, by id. */
  readonly #readOfCtes: ReadonlySet<number>;
  readonly #guards: ReadonlyMap<string, string>;
  #printed = 0;

  constructor(
    readonly names: Names,
    guards: ReadonlyMap<string, string>,
    readOfCtes: ReadonlySet<number>,
  ) {
    this.#guards = guards;
    this.#readOfCtes = readOfCtes;
  }

  /** The BOOL column of a table that is TRUE on the rows that may be seen; null: the table has none. */
  guardOf(table: string): string | null {
    return this.#guards.get(table.toLowerCase()) ?? null;
  }

  isReadOfCte(columnId: number): boolean {
    return this.#readOfCtes.has(columnId);
  }

  /** Counts characters that are printed, those of inner parts left out. @throws QueryError `resourcesExceeded` */
  count(characters: number): void {
    this.#printed += characters;
    if (this.#printed > LONGEST) {
      throw new QueryError('resourcesExceeded', 'The query is too long once its names are written out.', null);
    }
  }

  /** Counts a piece of SQL without inner parts. @throws QueryError `resourcesExceeded` */
  printed(sql: string): string {
    this.count(sql.length);
    return sql;
  }
}

/** The rows that an expression is evaluated on: how their columns are written, and which of them may be looked at. */
export interface Rows {
  /** The SQL of a column that these rows or rows around them have. */
  column(id: number): string;
  /**
   * A condition that is TRUE on every row that the query is defined on. null: there are no others, or what is printed is
   * under such a condition already.
   */
  readonly guard: string | null;
}

export function unguarded(rows: Rows): Rows {
  return rows.guard === null ? rows : { ...rows, guard: null };
}
