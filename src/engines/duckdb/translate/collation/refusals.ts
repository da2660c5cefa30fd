/** Functions that take no text with a collation: in BigQuery, or here. */
import { QueryError } from '../../../../errors';
import type { Span } from '../../../../googlesql/syntax';
import { textOf } from './collation';
import { type Collated, refuse, shownName } from './keys';
import { REFUSED } from './rules';

/** @throws QueryError, in BigQuery's words, where an argument has a collation */
export function checkRejected(args: readonly Collated[], span: Span): void {
  const at = args.findIndex(({ collation }) => collation !== null);
  if (at < 0) return;
  const instead = args[at]!.expr.type.kind === 'STRING' ? ". Use COLLATE(arg, '') to remove collation" : '';
  const words = `Collation is not allowed on argument ${at + 1} ("${textOf(args[at]!.collation)}")${instead}.`;
  throw new QueryError('invalidQuery', words, span);
}

export function refuseFunction(name: string, span: Span): never {
  const instead = REFUSED.get(name) ?? "COLLATE(x, '') as the argument";
  return refuse(`${shownName(name)} of a text with a collation`, span, instead);
}
