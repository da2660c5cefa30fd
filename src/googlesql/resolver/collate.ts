/** `ORDER BY x COLLATE 'name'`, which is as good as the function: it overrides what collation x has. */
import type { Expr } from '../resolved';
import { called } from '../resolved-nodes';
import type { Literal } from '../syntax';
import { shortType } from './access';
import { invalid } from './session';

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
