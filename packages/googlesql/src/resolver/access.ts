/** Names, fields and subscripts. */
import { coerces } from '../coercion';
import type { Expr, FieldRef, MakeStruct } from '../resolved';
import { called } from '../resolved-nodes';
import type { FieldAccess, Identifier, PathExpression, Span, Subscript } from '../tree';
import { typeText } from '../type-names';
import type { NamedType, SqlType } from '../types';
import type { Context } from './context';
import { convert } from './convert';
import { resolveExpr } from './expression';
import {
  candidatesOf,
  isOpen,
  namedColumns,
  lookup,
  visibleCandidates,
  visibleColumns,
  visibleNames,
  type NameList,
  type Target,
} from './scope';
import { nestedField } from './nested-field';
import { invalid, type Session } from './session';
import { unknownField } from './suggestion';

/** `a`, `a.b.c`: the first name from the scope, or a table alias and its column, and fields from there on. */
export function resolvePath(context: Context, { parts, span }: PathExpression): Expr {
  const [first, ...rest] = parts;
  if (first === undefined) throw new Error('a path has a first part');
  const target = lookup(context.scope, first.name);
  if (target === undefined && isOpen(context.scope)) context.session.survey?.useUnknown();
  if (target === undefined) {
    const { aggregates, windows, scope } = context;
    context.session.environment.onUnknown?.(first.name, {
      kind: 'expression',
      names: visibleCandidates(scope),
      aggregates: typeof aggregates !== 'string',
      windows: typeof windows !== 'string',
    });
    const columns = visibleColumns(scope);
    const nested = nestedField(first.name, columns);
    const inRest = inRestOf(columns, parts);
    throw unknownField(
      `Unrecognized name: ${first.name}.`,
      first.name,
      first.span,
      visibleNames(scope),
      nested,
      inRest,
    );
  }
  return fromTarget(context, target, first, rest, span);
}

function fromTarget(
  { session }: Context,
  target: Target,
  first: Identifier,
  rest: readonly Identifier[],
  span: Span,
): Expr {
  switch (target.kind) {
    case 'ambiguous':
      throw invalid(`Column name ${first.name} is ambiguous.`, first.span);
    case 'column':
      return fields(session, session.ref(target.column, first.span), rest, span);
    case 'field':
      return fields(session, fieldAt(session.ref(target.column, first.span), target.index, first.span), rest, span);
    case 'alias':
      return fields(session, target.expr, rest, span);
    case 'refused':
      throw invalid(target.message, first.span);
    case 'range': {
      const [column, ...deeper] = rest;
      if (column === undefined || target.list.isValueTable)
        return fields(session, rowValue(session, target.list, first.span), rest, span);
      return fields(session, columnOf(session, target.list, first, column), deeper, span);
    }
  }
}

function columnOf(session: Session, list: NameList, alias: Identifier, { name, span }: Identifier): Expr {
  const found = list.lookup(name);
  if (found === undefined && list.open) session.survey?.useUnknown();
  if (found === undefined) {
    session.environment.onUnknown?.(name, { kind: 'member', names: candidatesOf(list) });
    const columns = namedColumns(list);
    const nested = nestedField(name, columns, `${alias.name}.`);
    const inRest = inRestOf(columns, [{ name }], `${alias.name}.`);
    throw unknownField(`Name ${name} not found inside ${alias.name}.`, name, span, list.names(), nested, inRest);
  }
  if (found.kind === 'ambiguous') throw invalid(`Name ${name} is ambiguous inside ${alias.name}.`, span);
  const whole = { start: alias.span.start, end: span.end };
  if (found.kind === 'column') return session.ref(found.column, whole);
  if (found.kind === 'field') return fieldAt(session.ref(found.column, alias.span), found.index, whole);
  throw invalid(`${alias.name}.${name} is a table alias, not a column.`, span);
}

/**
 * How a field is read that has no column in a table of the embedded engine, which may have it in its column `_rest`; undefined: there is
 * no such column.
 */
function inRestOf(
  columns: readonly NamedType[],
  path: readonly Pick<Identifier, 'name'>[],
  alias = '',
): string | undefined {
  if (!columns.some(({ name, type }) => name === '_rest' && type.kind === 'JSON')) return undefined;
  if (!path.every(({ name }) => /^\w+$/.test(name))) return undefined;
  const members = path.map(({ name }) => `.${name}`).join('');
  return `A field without a column: JSON_VALUE(${alias}_rest, '$${members}').`;
}

/** The row of a table alias as a value: a struct of its columns, or the value of a value table. */
export function rowValue(session: Session, list: NameList, span: Span): Expr {
  const only = list.columns[0];
  if (list.isValueTable && only !== undefined) return session.ref(only.column, span);
  const struct: MakeStruct = {
    kind: 'make_struct',
    fields: list.columns.map(({ column }) => session.ref(column, span)),
    type: { kind: 'STRUCT', fields: list.columns.map(({ name, column }) => ({ name, type: column.type })) },
    span,
  };
  session.budget.value(struct.type, span);
  return struct;
}

function fields(session: Session, start: Expr, names: readonly Identifier[], span: Span): Expr {
  let value = start;
  for (const name of names) value = fieldNamed(session, value, name, { start: span.start, end: name.span.end });
  return value;
}

/** `value.name`, of a struct or of JSON. */
function fieldNamed(session: Session, value: Expr, { name, span }: Identifier, whole: Span): Expr {
  const { type } = value;
  if (type.kind === 'JSON') {
    const key: Expr = { kind: 'literal', type: { kind: 'STRING' }, value: name, span };
    return { ...jsonAccess('$json_member', value, key, whole) };
  }
  if (type.kind !== 'STRUCT' || session.isUntyped(value))
    throw invalid(
      `Cannot access field ${name} on a value with type ${shortType(type)}.${type.kind === 'ARRAY' ? ' UNNEST the array or take one of its elements.' : ''}`,
      span,
    );
  const matches = type.fields.flatMap((field, i) => (field.name?.toLowerCase() === name.toLowerCase() ? [i] : []));
  const [index] = matches;
  if (index === undefined) {
    const known = type.fields.flatMap((field) =>
      field.name === null ? [] : [{ name: field.name, type: field.type, isRow: false }],
    );
    session.environment.onUnknown?.(name, { kind: 'member', names: known });
    const names = known.map((field) => field.name);
    throw unknownField(`Field name ${name} does not exist in ${shortType(type)}.`, name, span, names);
  }
  if (matches.length > 1) throw invalid(`Struct field name ${name} is ambiguous.`, span);
  return fieldAt(value, index, whole);
}

export function fieldAt(input: Expr, index: number, span: Span): FieldRef {
  const type = input.type.kind === 'STRUCT' ? input.type.fields[index]?.type : undefined;
  if (type === undefined) throw new Error('no such field');
  return { kind: 'field', input, index, type, span };
}

export function resolveField(context: Context, { input, name, span }: FieldAccess): Expr {
  return fieldNamed(context.session, resolveExpr(context, input), name, span);
}

export function resolveSubscript(context: Context, { input, index, mode, span }: Subscript): Expr {
  const { session } = context;
  const value = resolveExpr(context, input);
  const at = resolveExpr(context, index);
  const { type } = value;
  if (type.kind === 'JSON' && mode === 'plain' && !session.isUntyped(value)) {
    const operand = session.operand(at);
    if (at.type.kind === 'STRING') return jsonAccess('$json_member', value, at, span);
    if (coerces(operand, { kind: 'INT64' }))
      return jsonAccess('$json_element', value, convert(session, at, { kind: 'INT64' }), span);
    throw invalid(`A JSON subscript is INT64 or STRING, not ${typeText(at.type)}.`, index.span);
  }
  if (type.kind !== 'ARRAY')
    throw invalid(`Subscript access is not supported on values of type ${shortType(type)}.`, span);
  if (!coerces(session.operand(at), { kind: 'INT64' }))
    throw invalid(
      `Array position in [] must be coercible to INT64 type, but has type ${typeText(at.type)}.`,
      index.span,
    );
  const position = convert(session, at, { kind: 'INT64' });
  const ordinal = mode === 'ordinal' || mode === 'safe_ordinal';
  return called(
    mode === 'safe_offset' || mode === 'safe_ordinal' ? '$safe_at' : '$at',
    [value, ordinal ? zeroBased(position) : position],
    type.element,
    span,
  );
}

/** ORDINAL counts from one. */
function zeroBased(position: Expr): Expr {
  const { span } = position;
  const type: SqlType = { kind: 'INT64' };
  if (position.kind === 'literal' && position.value !== null)
    return { ...position, value: (BigInt(position.value) - 1n).toString() };
  const one: Expr = { kind: 'literal', type, value: '1', span };
  return called('$subtract', [position, one], type, span);
}

function jsonAccess(name: '$json_member' | '$json_element', value: Expr, key: Expr, span: Span): Expr {
  return called(name, [value, key], { kind: 'JSON' }, span);
}

/** Types of log rows run to thousands of characters; a message names the outermost layer. */
export function shortType(type: SqlType): string {
  const text = typeText(type);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
