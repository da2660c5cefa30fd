/** What the printer of one function gets to see, and how the table of functions is made of such printers. */
import type { ScalarName, Expr } from '@logquay/googlesql';
import type { Span } from '@logquay/googlesql/syntax';
import type { SqlType } from '@logquay/googlesql/types';
import type { Failure } from '../../sql';

export interface Argument {
  /** DuckDB SQL of the argument. */
  readonly sql: string;
  readonly type: SqlType;
  readonly expr: Expr;
  /** The text of a literal as resolved.ts defines it; null where the argument is no literal or a NULL. */
  readonly constant: string | null;
}

/** A name for each of the values, in their order. */
export type Names<Values extends readonly string[]> = { readonly [Index in keyof Values]: string };

export type Bind = <const Values extends readonly string[]>(
  values: Values,
  body: (...names: Names<Values>) => string,
) => string;

export interface Call {
  /** Canonical GoogleSQL name. */
  readonly name: string;
  readonly args: readonly Argument[];
  readonly named: Readonly<Record<string, Argument>>;
  readonly part: string | null;
  readonly type: SqlType;
  readonly safe: boolean;
  readonly span: Span;
  /** An expression of any type that fails as `failure` where it is evaluated; under SAFE. a NULL, but for `size`. */
  fail(failure: Failure): string;
  /** An expression of any type that fails where it is evaluated, also under SAFE.: more than the function may do at once. */
  overload(): string;
  /**
   * Computes each of `values` once and prints `body` over names for them. Everything that may hold a subquery must come
   * in through `values`: DuckDB allows none inside a lambda.
   */
  readonly bind: Bind;
  /** What it gives may be much more than what a table holds. */
  readonly isLarge: boolean;
  /** The clock of the request: a TIMESTAMP. */
  now(): string;
  /** Throws: the query is fine GoogleSQL that this engine has no translation for. `what`: a noun without an article. `instead`: what to write instead. */
  unsupported(what: string, instead?: string): never;
}

type Emit = (call: Call) => string;

/** How a function is printed, and what the printer of calls has to know of it. */
export interface FunctionRow {
  readonly emit: Emit;
  /** DuckDB may raise an error of its own: a call under SAFE. is wrapped in TRY. */
  readonly raises?: true;
  /** BYTES go in and come back as text of Latin-1: `emit` prints the function of STRING alone. */
  readonly inLatin1?: true;
  /** DuckDB, or the check of an argument, would raise an error although another argument is NULL. */
  readonly nullFirst?: true;
  /** The last argument may be a time zone. */
  readonly zoned?: true;
  /** A chain is printed at once: its length is looked at once too, and nothing nests. */
  readonly chained?: true;
  /** It computes an argument once at most, and those behind the first not always: none of them may be computed beforehand. */
  readonly lazy?: true;
  /** DuckDB makes a CASE or a disjunction of it, so that it computes an argument more than once. */
  readonly writtenOut?: true;
  /** It is there, but not of arguments of this type. */
  readonly notOf?: SqlType['kind'];
  /** What users should know (docs/dialect.md). */
  readonly note?: string;
}

/** What the engine does without although queries on BigQuery call it: refused by name, with the place of the call. */
export interface Refused {
  /** What to write instead, if anything does. */
  readonly instead: string | null;
}

/** A printer alone: DuckDB raises no error of its own, and takes care of NULL. */
export type Printed = FunctionRow | Emit;

export type FunctionTable = { readonly [Name in ScalarName]?: Printed | Refused };

export const refused = (instead: string | null = null): Refused => ({ instead });
export const raising = (emit: Emit): FunctionRow => ({ emit, raises: true });
export const nullFirst = (row: Printed): FunctionRow => ({ ...rowOf(row), nullFirst: true });
export const zoned = (row: Printed): FunctionRow => ({ ...nullFirst(row), zoned: true });
export const noted = (note: string, row: Printed): FunctionRow => ({ ...rowOf(row), note });

export function rowOf(row: Printed): FunctionRow {
  return typeof row === 'function' ? { emit: row } : row;
}

/** The argument at `i`; the resolver has checked the signature, so a missing one is a fault of ours. */
export function arg(call: Call, i: number): Argument {
  const argument = call.args[i];
  if (argument === undefined) throw new Error(`${call.name}: argument ${i + 1} is missing`);
  return argument;
}

/** SQL of the argument at `i`. */
export function sqlOf(call: Call, i: number): string {
  return arg(call, i).sql;
}

/** Whether the SQL is a name of a value, or of a field of it, that costs nothing to repeat. */
export function isName(sql: string): boolean {
  return /^(?:"c\d+"|v\d+)(?:\."(?:[^"]|"")+")*$/.test(sql);
}

/** A function that DuckDB has with the same meaning under `duckName`, NULL in any argument giving NULL. */
export function same(duckName: string): (call: Call) => string {
  return (call) => `${duckName}(${call.args.map((a) => a.sql).join(', ')})`;
}
