/**
 * Bounds on what makes texts and arrays out of little: a generated array, `x || x` ten times over. DuckDB makes such a value in one go,
 * without a look at the deadline or at its memory. Whatever else takes too long or too much is ended by the deadline, by the bound on
 * memory, and with the engine's process (docs/decisions/bounded-work.md).
 */
import {
  functionOf,
  type Column,
  type Expr,
  type FunctionCall,
  type Relation,
  type ResolvedQuery,
  operandsOf,
  relationExpressions,
  relationsBelow,
  definesOf,
} from '@logquay/googlesql';
import type { SqlType } from '@logquay/googlesql/types';
import { CHUNK_BYTES } from '../../scalar-functions/scalar-function';
import type { Argument, Call } from './call';

/** Bytes of a text that becomes a BIGNUMERIC. */
export const LONGEST_NUMBER = 4_096;

/** What a caller should know: docs/dialect.md lists these. */
export const LIMITS = {
  /** Elements of a generated array, and of arrays joined. */
  elements: 1_000_000,
  /** Bytes of a text that is repeated or padded: DuckDB makes one for each of 2,048 rows in one go. */
  filled: 64 * 1024,
  /** Bytes of a text joined, rewritten or written out from texts that are not just as a table holds them. */
  made: 1024 * 1024,
  /** Of INSTR, in one text: it makes an array of them. */
  occurrences: 10_000,
  quantiles: 100_000,
  topValues: 100_000,
  /** Rows of a group of APPROX_TOP_SUM times its different values: DuckDB copies the rows for each of these. */
  topSumSteps: 20_000_000,
  /** Of a width or a precision in FORMAT. */
  places: 1_000,
  /** Elements of the format of a date or time: more of either nobody reads. */
  formatElements: 100,
  formatCharacters: 1_000,
  /** Of the search_query of SEARCH. */
  searchCharacters: 1_000,
  /** Bytes that a function of our own is given at once, those of a table too: it runs on one thread for all queries. */
  ownFunctions: CHUNK_BYTES,
} as const;

/** Of how many values of tables and literals a value may be made to be as good as one that a table holds. */
const PLAIN = 200;
/** A generated array, a repeated text: of any size that its own bound allows. */
const OF_ANY_SIZE = 1_000;

/** How often the text may be in what replaces parts of it; Infinity: it is not known before the query runs. */
function replacementGrowth({ function: name, args }: FunctionCall): number {
  const [from, to] = [args[1], args[2]].map((a) => (a?.kind === 'literal' ? (a.value ?? '') : null));
  if (to === null || to === undefined) return OF_ANY_SIZE;
  // Each match gives back a group of it as often as the replacement says; an empty one stands between any two characters.
  if (name === 'REGEXP_REPLACE') return (to.match(/\\\d/g)?.length ?? 0) + 1 + Buffer.byteLength(to);
  if (from === null || from === undefined) return OF_ANY_SIZE;
  return Math.max(1, Buffer.byteLength(to) / Math.max(1, Buffer.byteLength(from)));
}

/** About how many values of tables and literals each of a query's expressions is made of. */
export class SizeEstimates {
  /** Of columns that are not as a table holds them. */
  readonly #columns = new Map<number, number>();
  readonly #known = new WeakMap<Expr, number>();

  constructor(query: ResolvedQuery) {
    this.#query(query);
  }

  /** Whether the value may be much more than one that a table holds. */
  isLarge(expr: Expr): boolean {
    return this.#of(expr) > PLAIN;
  }

  /** A column is another by a new name. */
  rename(from: number, to: number): void {
    this.#set(to, this.#ofColumn(from));
  }

  /** A column is what an expression gives, or an element of it. */
  define(column: Column, expr: Expr): void {
    this.#define(column, this.#of(expr));
  }

  #define({ id, type }: Column, estimate: number): void {
    if (hasSize(type)) this.#set(id, estimate);
  }

  #of(expr: Expr): number {
    const known = this.#known.get(expr);
    if (known !== undefined) return known;
    const estimate = Math.min(this.#compute(expr), 1e9);
    this.#known.set(expr, estimate);
    return estimate;
  }

  #compute(expr: Expr): number {
    switch (expr.kind) {
      case 'literal':
        return 1 + (expr.value?.length ?? 0) / 1024;
      case 'parameter':
        return 1;
      case 'column':
        return this.#ofColumn(expr.column.id);
      case 'call': {
        const { grows } = functionOf(expr);
        if (grows === 'any') return OF_ANY_SIZE;
        if (grows === 'replacement') return this.#sum(expr.args.slice(0, 1)) * replacementGrowth(expr);
        return this.#sum(operandsOf(expr)) * grows;
      }
      case 'case':
        return Math.max(0, ...operandsOf(expr).map((operand) => this.#of(operand)));
      case 'subquery': {
        this.#query(expr.query);
        const value = expr.query.output[0];
        return value === undefined ? 1 : this.#ofColumn(value.column.id);
      }
      case 'field':
      case 'cast':
      case 'make_array':
      case 'make_struct':
        return this.#sum(operandsOf(expr));
    }
  }

  #sum(exprs: readonly Expr[]): number {
    return exprs.reduce((sum, expr) => sum + this.#of(expr), 0);
  }

  #ofColumn(id: number): number {
    return this.#columns.get(id) ?? 1;
  }

  #set(id: number, estimate: number): void {
    if (estimate > 1) this.#columns.set(id, estimate);
  }

  #query(query: ResolvedQuery): void {
    for (const relation of relationsBelow(query)) {
      this.#relation(relation);
      // Columns of subqueries in them.
      relationExpressions(relation).forEach((expr) => this.#of(expr));
    }
  }

  /** Estimates the columns that a relation defines; those of what it reads are known. */
  #relation(relation: Relation): void {
    // What rows of a table hold together is not made of little.
    for (const { column, from, call } of definesOf(relation))
      this.#define(column, call === null ? Math.max(1, ...from.map((expr) => this.#of(expr))) : this.#sum(call.args));
  }
}

/** Whether values of the type differ in size. */
function hasSize({ kind }: SqlType): boolean {
  return ['STRING', 'BYTES', 'JSON', 'ARRAY', 'STRUCT', 'GEOGRAPHY'].includes(kind);
}

/** `value` unless `over` holds, which fails. `value` is planned even then: its own arguments must be bounded too. */
export function unlessOver(call: Call, over: string, value: string): string {
  return `CASE WHEN ${over} THEN ${call.fail('size')} ELSE ${value} END`;
}

/** Bytes of a text or of BYTES. */
function bytesOf(x: string, { type }: Argument): string {
  return type.kind === 'BYTES' ? `octet_length(${x})` : `strlen(${x})`;
}

/** Texts joined. */
export function joined(call: Call, print: (names: readonly string[]) => string): string {
  const all = call.args.map((a) => a.sql);
  if (!call.isLarge) return print(all);
  return call.bind(all, (...names) => {
    const size = call.args.flatMap((a, i) => (a.constant === null ? [`coalesce(${bytesOf(names[i]!, a)}, 0)`] : []));
    return size.length === 0 ? print(names) : unlessOver(call, `${size.join(' + ')} > ${LIMITS.made}`, print(names));
  });
}

/** A text of which more may be made: `factor` times as much. */
export function rewritten(
  call: Call,
  factor: (...names: string[]) => string,
  print: (...names: string[]) => string,
): string {
  const all = call.args.map((a) => a.sql);
  const [text] = call.args;
  if (text === undefined || !call.isLarge) return print(...all);
  return call.bind(all, (...names) =>
    unlessOver(call, `${bytesOf(names[0]!, text)} * ${factor(...names)} > ${LIMITS.made}`, print(...names)),
  );
}
