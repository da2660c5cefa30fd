/** The keys by which texts with a collation are compared, and the nodes that they are made with. */
import { QueryError } from '../../../../errors';
import type { AggregateCall, Column, ColumnRef, Expr, FunctionCall } from '../../../../googlesql/resolved';
import type { Span } from '../../../../googlesql/syntax';
import type { SqlType } from '../../../../googlesql/types';
import { type Collation, CollationConflict, merged, textOf } from './collation';

/** An expression without its COLLATE, and what collation its value has. */
export interface Collated {
  readonly expr: Expr;
  readonly collation: Collation;
}

/** The one collation that has keys: Unicode's order of the root locale, in which letters of another case are the same. */
const CASE_INSENSITIVE = 'und:ci';
/** The order of code points, as without a collation. */
const BINARY = 'binary';

const STRING: SqlType = { kind: 'STRING' };

/** Whether any text in it is compared otherwise than without a collation. */
export function isKeyed(collation: Collation): boolean {
  if (collation === null || collation === BINARY) return false;
  return typeof collation === 'string' || collation.some(isKeyed);
}

/** What the value is compared by where it is compared in `collation`. */
export function keyOf({ expr }: Pick<Collated, 'expr'>, collation: Collation): Expr {
  if (!isKeyed(collation)) return expr;
  if (typeof collation !== 'string')
    return refuse(
      `To compare a value of ${expr.type.kind} with texts that have a collation`,
      expr.span,
      'its parts, one by one',
    );
  const { span } = expr;
  return plain('COLLATE', [expr, { kind: 'literal', type: STRING, value: collation, span }], STRING, span);
}

/** What is written as the second argument of COLLATE; null: the collation is taken away. */
export function nameOfCollation(expr: Expr): Collation {
  const name = expr.kind === 'literal' ? (expr.value ?? '') : '';
  if (name === '') return null;
  if (name === CASE_INSENSITIVE || name === BINARY) return name;
  return refuse(`Collation '${name}'`, expr.span, `'${CASE_INSENSITIVE}', '${BINARY}' or ''`);
}

/**
 * The collation that values have together.
 *
 * @param name of the function that they are arguments of
 * @throws QueryError where two of them have collations that differ
 */
export function mergedOf(values: readonly Collated[], name?: string): Collation {
  let collation: Collation = null;
  for (const [i, value] of values.entries()) {
    try {
      collation = merged(collation, value.collation);
    } catch (error) {
      if (!(error instanceof CollationConflict)) throw error;
      const where =
        name === undefined
          ? ''
          : `. Collation on argument ${i + 1} ("${textOf(value.collation)}") in function ${shownName(name)} is not compatible with other arguments`;
      throw new QueryError('invalidQuery', `${error.message}${where}.`, value.expr.span);
    }
  }
  return collation;
}

const SYMBOLS: Readonly<Record<string, string>> = {
  $equal: '=',
  $not_equal: '!=',
  $less: '<',
  $less_or_equal: '<=',
  $greater: '>',
  $greater_or_equal: '>=',
  $concat: '||',
  $in_unnest: 'IN UNNEST',
};

/** A function or operator as people write it. */
export function shownName(name: string): string {
  return (
    SYMBOLS[name] ??
    name
      .replace(/^\$/, '')
      .replace(/_/g, name.startsWith('$') ? ' ' : '_')
      .toUpperCase()
  );
}

/** @param instead what to write instead */
export function refuse(what: string, span: Span, instead: string): never {
  const hint = { hint: `Instead: ${instead}.` };
  throw new QueryError('invalidQuery', `${what} is not supported on the embedded engine`, span, hint);
}

export function columnRef(column: Column, span: Span): ColumnRef {
  return { kind: 'column', column, type: column.type, span };
}

/** A call without anything but its arguments. */
export function plain(name: string, args: readonly Expr[], type: SqlType, span: Span): FunctionCall {
  return { kind: 'call', function: name, safe: false, args, named: {}, part: null, type, span };
}

/** An aggregate call without anything but its arguments. */
export function callOf(name: string, args: readonly Expr[], type: SqlType, span: Span): AggregateCall {
  return {
    kind: 'aggregate_call',
    function: name,
    safe: false,
    args,
    distinct: false,
    nulls: null,
    having: null,
    orderBy: [],
    limit: null,
    type,
    span,
  };
}
