/** The state of one translation: parameters met, names handed out, columns bound inside lambdas, CTEs to write. */
import { step, type TableSchema, QueryError } from '@logquay/googlesql/types';
import type { Cte, Expr, TableScan } from '@logquay/googlesql';
import type { Span } from '@logquay/googlesql/syntax';
import type { Names } from './expressions/call';
import { isSimple, quoteName, structOf } from '../sql';
import type { SizeEstimates } from './expressions/makers';

/** The reserved parameter that holds the clock of a request: microseconds since the epoch as INT64. GoogleSQL has no such name. */
export const CLOCK_PARAMETER = '@now';

/** Thrown inside where a subquery cannot become list functions; caught where the general form can be printed instead. */
export class NeedsRelation extends Error {}

/** The SELECT text of some columns of a table, under their names `c<id>`. */
export type PrintScan = (table: TableSchema, columns: TableScan['columns']) => string;

/** Beyond those of queries, and of what is added to them before they are printed. */
const FIRST_COLUMN = 2_000_000_000;

export class Context {
  readonly parameters: string[] = [];
  /** Columns that are bound to something else than the column `c<id>`: a lambda's variable, or an expression over one. */
  readonly bound = new Map<number, string>();
  /** CTEs that are written out once, and the columns wanted of each. */
  readonly materialized = new Map<number, { readonly cte: Cte; readonly wanted: Set<number> }>();
  /** The place of the conversion being printed. */
  castPlace: Span | null = null;
  /** How many lambdas the text being printed stands in. */
  lambdas = 0;
  /** How many subqueries of expressions the text being printed stands in. */
  subqueries = 0;
  /** Expressions that can fail, as often as they have been printed. */
  failing = 0;
  /** Conditions are evaluated as they are written, and all rows before a LIMIT: whether an error comes must not depend on DuckDB. */
  inOrder = false;
  /** Calls met so far whose value is another one each time that it is computed. */
  random = 0;
  private variables = 0;

  constructor(
    readonly printScan: PrintScan,
    readonly worthKeeping: (cte: Cte) => boolean,
    /** Whether CTEs that are worth keeping are temporary tables. */
    readonly ctesAreTables: boolean,
    readonly estimates: SizeEstimates,
    /** Gets every expression that is printed and can fail. */
    private readonly failed: Set<Expr>,
    readonly budget: PrintBudget = new PrintBudget(),
  ) {}

  /** Notes an expression that can fail. */
  fails(expr: Expr): void {
    this.failing++;
    this.failed.add(expr);
  }

  column(id: number): string {
    return this.bound.get(id) ?? columnName(id);
  }

  /** Of a CTE that is computed once. */
  cteName(id: number): string {
    return `${this.ctesAreTables ? 'temp.' : ''}${quoteName(`w${id}`)}`;
  }

  parameter(name: string): string {
    const at = this.parameters.indexOf(name);
    return `$${at >= 0 ? at + 1 : this.parameters.push(name)}`;
  }

  now(): string {
    return `make_timestamp(CAST(${this.parameter(CLOCK_PARAMETER)} AS BIGINT))`;
  }

  /** The id of a column that no resolved query has. */
  newColumn(): number {
    return FIRST_COLUMN + this.variables++;
  }

  variable(): string {
    return `v${++this.variables}`;
  }

  /** See Call.bind. */
  bind<const Values extends readonly string[]>(values: Values, body: (...names: Names<Values>) => string): string {
    const print = (names: readonly string[]): string => body(...(names as Names<Values>));
    // A lambda inside of a correlated subquery cannot read the columns around that: they come in as values.
    const isFree = (v: string): boolean => isSimple(v) && !(this.subqueries > 0 && v.startsWith('"c'));
    if (values.every(isSimple)) {
      const text = print(values);
      // Nor may it hold a subquery.
      if (values.every(isFree) || !text.includes('lambda') || text.includes('SELECT')) return text;
    }
    const complex = values.filter((v) => !isFree(v));
    const variable = this.variable();
    const single = complex.length === 1;
    let next = 0;
    const names = values.map((v) => (isFree(v) ? v : single ? variable : `${variable}."f${next++}"`));
    const bound = single ? complex[0]! : structOf(complex.map((v, i) => [`f${i}`, v]));
    return `list_transform([${bound}], lambda ${variable}: ${print(names)})[1]`;
  }

  /** @param what a noun without an article @param instead what to write instead */
  unsupported(what: string, span: Span, instead: string | null = null): never {
    const hint = instead === null ? {} : { hint: `Instead: ${instead}.` };
    throw new QueryError(
      'invalidQuery',
      `The embedded engine has no ${what}: BigQuery and the local BigQuery run it`,
      span,
      hint,
    );
  }
}

export function columnName(id: number): string {
  return `"c${id}"`;
}

// ------------------------------------------------------------------------------------------
// How much one query may become in DuckDB's SQL. A short text may become a long one: a CTE is written out at each place that reads it, and
// some functions write an argument more than once.

/** Relations and expressions that are printed, those included whose text is then left out. */
export const MAX_STEPS = 50_000;
/** Characters. */
export const MAX_TEXT = 512 * 1024;

export class PrintBudget {
  #steps = 0;

  /** Before each relation and expression. @throws QueryError `resourcesExceeded` */
  step(): void {
    step();
    if (++this.#steps > MAX_STEPS) throw tooLong();
  }

  /** The text of a part. @throws QueryError `resourcesExceeded` */
  checked(text: string): string {
    if (text.length > MAX_TEXT) throw tooLong();
    return text;
  }
}

function tooLong(): QueryError {
  const message = 'The query is too long with every CTE written out where it is read. Read each less often.';
  return new QueryError('resourcesExceeded', message, null);
}
