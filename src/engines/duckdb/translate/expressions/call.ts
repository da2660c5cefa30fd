/** What the printer of one function gets to see, and how the table of functions is made of such printers. */
import type { Expr } from '../../../../googlesql/resolved';
import type { Span } from '../../../../googlesql/syntax';
import type { SqlType } from '../../../../googlesql/types';
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

export interface FunctionRow {
  readonly emit: (call: Call) => string;
  /** DuckDB may raise an error of its own: a call under SAFE. is wrapped in TRY. */
  readonly raises?: boolean;
  /** BYTES go in and come back as text of Latin-1: `emit` prints the function of STRING alone. */
  readonly inLatin1?: boolean;
}

export type FunctionTable = Readonly<Record<string, FunctionRow | ((call: Call) => string)>>;

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

/** Functions whose value is another one each time that they are computed. */
export const RANDOM: ReadonlySet<string> = new Set(['RAND', 'GENERATE_UUID']);

/** Whether the SQL is a name of a value, or of a field of it, that costs nothing to repeat. */
export function isName(sql: string): boolean {
  return /^(?:"c\d+"|v\d+)(?:\."(?:[^"]|"")+")*$/.test(sql);
}

/** A function that DuckDB has with the same meaning under `duckName`, NULL in any argument giving NULL. */
export function same(duckName: string): (call: Call) => string {
  return (call) => `${duckName}(${call.args.map((a) => a.sql).join(', ')})`;
}
