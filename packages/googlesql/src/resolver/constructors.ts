/** ARRAY, STRUCT and INTERVAL values built in place. */
import { coerces } from '../coercion';
import { intervalText } from '../literals/interval';
import type { Expr } from '../resolved';
import { called } from '../resolved-nodes';
import type { ArrayConstructor, Interval, StructConstructor } from '../tree';
import { constructedType, typeText } from '../type-names';
import type { SqlType, StructField } from '../types';
import { shortType } from './access';
import type { Context } from './context';
import { convert } from './convert';
import { isIntervalPart } from './date-parts';
import { commonType, inferredName, resolveExpr } from './expression';
import { invalid } from './session';

export function resolveArray(context: Context, { elementType, elements, span }: ArrayConstructor): Expr {
  const { session } = context;
  const values = elements.map((element) => resolveExpr(context, element));
  if (elementType !== null) {
    const type = constructedType({ kind: 'array', element: elementType, span });
    if (type.kind !== 'ARRAY') throw new Error('an array type is an array');
    const { element } = type;
    for (const value of values)
      if (!coerces(session.operand(value), element))
        throw invalid(
          `Array element type ${shortType(value.type)} does not coerce to ${typeText(element)}.`,
          value.span,
        );
    const converted = values.map((value) => convert(session, value, element));
    return session.markExplicit({ kind: 'make_array', elements: converted, type, span });
  }
  if (values.length === 0) {
    const type: SqlType = { kind: 'ARRAY', element: { kind: 'INT64' } };
    return session.markUntyped({ kind: 'make_array', elements: [], type, span });
  }
  const element = commonType(context, values, 'Array elements', span);
  if (element.kind === 'ARRAY')
    throw invalid(
      `Cannot construct array with element type ${shortType(element)} because nested arrays are not supported.`,
      span,
    );
  return {
    kind: 'make_array',
    elements: values.map((value) => convert(session, value, element)),
    type: { kind: 'ARRAY', element },
    span,
  };
}

/** The text tells the tuple `(a, b)`, whose fields have no names, from `STRUCT(a, b)`, which takes them from paths. */
export function resolveStruct(context: Context, { type: written, fields, span }: StructConstructor): Expr {
  const { session } = context;
  const tuple = session.text[span.start] === '(';
  const values = fields.map(({ expression }) => resolveExpr(context, expression));
  if (written !== null) {
    const type = constructedType(written);
    if (type.kind !== 'STRUCT') throw invalid('STRUCT<...> is a struct type.', span);
    if (type.fields.length !== values.length)
      throw invalid(`This struct has ${values.length} fields; its type has ${type.fields.length}.`, span);
    const converted = values.map((value, i) => {
      const target = type.fields[i]?.type ?? value.type;
      if (fields[i]?.alias)
        throw invalid('STRUCT constructors cannot specify both an explicit type and field names with AS.', value.span);
      if (!coerces(session.operand(value), target))
        throw invalid(
          `Struct field ${i + 1} has type ${shortType(value.type)} which does not coerce to ${typeText(target)}.`,
          value.span,
        );
      return convert(session, value, target);
    });
    return session.markExplicit({ kind: 'make_struct', fields: converted, type, span });
  }
  const types = values.map((value, i): StructField => {
    const field = fields[i];
    const inferred = field === undefined || tuple ? null : inferredName(field.expression);
    return { name: field?.alias?.name ?? inferred, type: value.type };
  });
  const struct: SqlType = { kind: 'STRUCT', fields: types };
  session.budget.value(struct, span);
  return { kind: 'make_struct', fields: values, type: struct, span };
}

/**
 * INTERVAL n DAY is the call `$interval` with the part; INTERVAL '1-2' YEAR TO MONTH is a literal in the canonical form
 * `Y-M D H:M:S`.
 */
export function resolveInterval(context: Context, { value, from, to, span }: Interval): Expr {
  const { session } = context;
  if (!isIntervalPart(from) || (to !== null && !isIntervalPart(to)))
    throw invalid(`Invalid interval datetime field: ${from}.`, span);
  const amount = resolveExpr(context, value);
  const type: SqlType = { kind: 'INTERVAL' };
  if (amount.kind === 'literal' && amount.type.kind === 'STRING' && amount.value !== null) {
    const text = intervalText(amount.value, from, to);
    if (text === null) throw invalid(`Invalid INTERVAL literal ${JSON.stringify(amount.value)}.`, value.span);
    return session.markExplicit({ kind: 'literal', type, value: text, span });
  }
  if (to !== null || !coerces(session.operand(amount), { kind: 'INT64' }))
    throw invalid(
      'Invalid interval literal. Expected INTERVAL keyword to be followed by an INT64 expression or STRING literal.',
      value.span,
    );
  const args = [convert(session, amount, { kind: 'INT64' })];
  return called('$interval', args, type, span, from);
}
