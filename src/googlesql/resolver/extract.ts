/** EXTRACT(part FROM value [AT TIME ZONE zone]). */
import { findFunction } from '../functions/catalogue';
import { matchFunction } from '../functions/match';
import type { Expr } from '../resolved';
import { called } from '../resolved-nodes';
import type { Extract } from '../syntax';
import type { SqlType } from '../types';
import { shortType } from './access';
import type { Context } from './context';
import { convert, converted } from './convert';
import { EXTRACT_PARTS, partName } from './date-parts';
import { resolveExpr } from './expression';
import { invalid } from './session';

/** Parts that are values of a type of their own; all others are INT64. */
const WHOLE: Readonly<Record<string, SqlType>> = {
  DATE: { kind: 'DATE' },
  TIME: { kind: 'TIME' },
  DATETIME: { kind: 'DATETIME' },
};

export function resolveExtract(context: Context, { part: written, from, timeZone, span }: Extract): Expr {
  const { session } = context;
  const part = partName(written);
  const value = resolveExpr(context, from);
  const operand = session.operand(value);
  if (operand.form === 'literal' && value.type.kind === 'STRING')
    throw invalid('EXTRACT does not support literal STRING arguments: write the type in front, as in DATE.', from.span);
  const fn = findFunction('$extract');
  const match = fn === undefined ? null : matchFunction(fn, [operand], new Map());
  const matched = match?.types[0];
  // NULL is read as the type that has the part.
  const type = operand.form === 'null' && Object.hasOwn(WHOLE, part) ? ({ kind: 'TIMESTAMP' } as const) : matched;
  if (!type)
    throw invalid(
      `No matching signature for function EXTRACT for argument types: DATE_TIME_PART FROM ${shortType(value.type)}.`,
      from.span,
    );
  if (EXTRACT_PARTS[type.kind]?.has(part) !== true)
    throw invalid(`EXTRACT from ${type.kind} does not support the ${part} date part.`, written.span);
  const args = [convert(session, value, type)];
  if (timeZone !== null) {
    if (type.kind !== 'TIMESTAMP')
      throw invalid(`EXTRACT from ${type.kind} does not support AT TIME ZONE.`, timeZone.span);
    args.push(converted(session, resolveExpr(context, timeZone), { kind: 'STRING' }, 'A time zone'));
  }
  const result = WHOLE[part] ?? { kind: 'INT64' };
  return called('$extract', args, result, span, part);
}
