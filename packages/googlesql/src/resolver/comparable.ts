/** Which types have =, which have <, and which can be grouped. */
import type { Expr } from '../resolved';
import { called } from '../resolved-nodes';
import type { Literal } from '../tree';
import { shortType } from './access';
import { invalid } from './session';
import { contains } from '../type-names';
import type { SqlType } from '../types';

/** The key of an ORDER BY item; `collation` null: as it is. */
export function collatedKey(key: Expr, collation: Literal | null): Expr {
  if (collation === null) return key;
  if (key.type.kind !== 'STRING')
    throw invalid(
      `COLLATE can only be applied to expressions of type STRING, but was applied to ${shortType(key.type)}.`,
      key.span,
    );
  if (collation.value === '')
    throw invalid("COLLATE has invalid collation name '': cannot contain empty language_tag.", collation.span);
  const { span, value } = collation;
  // The order of code points is that of no collation.
  const name: Expr = { kind: 'literal', type: { kind: 'STRING' }, value: value === 'binary' ? '' : value, span };
  return called('COLLATE', [key, name], { kind: 'STRING' }, { start: key.span.start, end: span.end });
}

/** @throws QueryError where the second argument of COLLATE is not written out */
export function checkCollation(name: Expr | null | undefined): void {
  if (name && (name.kind !== 'literal' || name.value === null))
    throw invalid('The second argument of COLLATE() must be a string literal.', name.span);
}

const OPAQUE: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>(['JSON', 'GEOGRAPHY']);

/** Types with `=`: all whose parts are neither JSON nor GEOGRAPHY. */
export function supportsEquality(type: SqlType): boolean {
  return !contains(type, OPAQUE);
}

/** Types with `<`, MIN and ORDER BY: structs have no order. */
export function supportsOrdering(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return supportsOrdering(type.element);
  return type.kind !== 'STRUCT' && supportsEquality(type);
}

/** Types of GROUP BY, DISTINCT and set operations that compare rows. */
export const supportsGrouping = supportsEquality;

/** PARTITION BY takes no FLOAT64 either. */
export function supportsPartitioning(type: SqlType): boolean {
  return supportsEquality(type) && !contains(type, FLOAT);
}

const FLOAT: ReadonlySet<SqlType['kind']> = new Set<SqlType['kind']>(['FLOAT64']);
