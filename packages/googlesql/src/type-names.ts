/** Types as written in GoogleSQL: from a name to a type, from a type to a name, and when two types are the same. */
import { QueryError } from './errors';
import type { Span, TypeName } from './tree';
import type { RangeElement, ScalarName, SqlType, StructField, TypeParameters } from './types';

const SCALARS: ReadonlyMap<string, ScalarName> = new Map<string, ScalarName>([
  ...(
    [
      'BOOL',
      'INT64',
      'FLOAT64',
      'NUMERIC',
      'BIGNUMERIC',
      'STRING',
      'BYTES',
      'DATE',
      'TIME',
      'DATETIME',
      'TIMESTAMP',
      'INTERVAL',
      'JSON',
      'GEOGRAPHY',
    ] as const
  ).map((name) => [name, name] as const),
  ...(['INT', 'SMALLINT', 'INTEGER', 'BIGINT', 'TINYINT', 'BYTEINT'] as const).map((name) => [name, 'INT64'] as const),
  ['DECIMAL', 'NUMERIC'],
  ['BIGDECIMAL', 'BIGNUMERIC'],
  ['BOOLEAN', 'BOOL'],
]);

export const NUMBERS: ReadonlySet<string> = new Set<ScalarName>(['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC']);
const PARAMETERISED: ReadonlySet<ScalarName> = new Set(['STRING', 'BYTES', 'NUMERIC', 'BIGNUMERIC']);

/** Digits before the point and after it, at the most. */
const DIGITS: Readonly<Partial<Record<ScalarName, readonly [number, number]>>> = {
  NUMERIC: [29, 9],
  BIGNUMERIC: [38, 38],
};

/** STRING(length), BYTES(length), NUMERIC(precision, scale): as BigQuery bounds them. */
function checkTypeParameters(kind: ScalarName, parameters: readonly string[], span: Span): void {
  const [first, second] = parameters.map((text) => (/^(?:[0-9]+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : NaN));
  if (first === undefined) return;
  const digits = DIGITS[kind];
  const scale = second ?? 0;
  const fits =
    digits === undefined
      ? parameters.length === 1 && first > 0
      : parameters.length <= 2 && scale <= digits[1] && first >= Math.max(1, scale) && first <= digits[0] + scale;
  const max = /^max$/i.test(parameters[0] ?? '') && kind !== 'NUMERIC' && parameters.length === 1;
  if (!fits && !max) throw typeError(`${kind} does not take the parameters (${parameters.join(', ')}).`, span);
}

/** The type that a scalar's name or one of BigQuery's aliases for it means; case does not matter. */
export function scalarNamed(name: string): ScalarName | undefined {
  return SCALARS.get(name.toUpperCase());
}

/** Types of other dialects. */
const OTHERS: Readonly<Record<string, ScalarName>> = {
  CHAR: 'STRING',
  DOUBLE: 'FLOAT64',
  FLOAT: 'FLOAT64',
  FLOAT8: 'FLOAT64',
  INT4: 'INT64',
  INT8: 'INT64',
  JSONB: 'JSON',
  NVARCHAR: 'STRING',
  REAL: 'FLOAT64',
  TEXT: 'STRING',
  TIMESTAMPTZ: 'TIMESTAMP',
  UUID: 'STRING',
  VARCHAR: 'STRING',
};

function unknownType(name: string, span: Span): QueryError {
  const key = name.toUpperCase();
  const details = Object.hasOwn(OTHERS, key) ? { hint: `In GoogleSQL: ${OTHERS[key]!}.` } : {};
  return new QueryError('invalidQuery', `Type not found: ${name}.`, span, details);
}

/** The type a written type means. Throws QueryError for an unknown name or an array of arrays. */
export function typeOfName(name: TypeName): SqlType {
  switch (name.kind) {
    case 'simple': {
      const kind = scalarNamed(name.name);
      if (kind === undefined) throw unknownType(name.name, name.span);
      if (name.parameters.length > 0 && !PARAMETERISED.has(kind))
        throw typeError(`${kind} does not take type parameters.`, name.span);
      checkTypeParameters(kind, name.parameters, name.span);
      return { kind };
    }
    case 'array': {
      const element = typeOfName(name.element);
      if (element.kind === 'ARRAY') throw typeError('An array of arrays is not supported.', name.span);
      return { kind: 'ARRAY', element };
    }
    case 'range': {
      const element = typeOfName(name.element);
      const kind = rangeElement(element.kind);
      if (kind === null) throw typeError(`RANGE<${typeText(element)}> is not supported.`, name.element.span);
      return { kind: 'RANGE', element: { kind } };
    }
    case 'struct':
      return {
        kind: 'STRUCT',
        fields: name.fields.map((field) => ({ name: field.name?.name ?? null, type: typeOfName(field.type) })),
      };
  }
}

/** The parameters of a written type; null: it has none. */
export function typeParametersOf(name: TypeName): TypeParameters | null {
  if (name.kind === 'simple') return name.parameters.length === 0 ? null : { own: name.parameters, inner: [] };
  const inner = (name.kind === 'struct' ? name.fields.map(({ type }) => type) : [name.element]).map(typeParametersOf);
  return inner.every((parameters) => parameters === null) ? null : { own: [], inner };
}

/** The type of a value that is built in place. Throws QueryError for one with parameters, too. */
export function constructedType(name: TypeName): SqlType {
  if (typeParametersOf(name) !== null)
    throw typeError('Parameterized types are not supported in literal value construction.', name.span);
  return typeOfName(name);
}

const RANGE_ELEMENTS: readonly RangeElement[] = ['DATE', 'DATETIME', 'TIMESTAMP'];

/** The kind as that of a RANGE's ends; null: there is no such RANGE. */
export function rangeElement(kind: string): RangeElement | null {
  return RANGE_ELEMENTS.find((element) => element === kind) ?? null;
}

function typeError(message: string, span: Span): QueryError {
  return new QueryError('invalidQuery', message, span);
}

/** A type in GoogleSQL's spelling: `ARRAY<STRUCT<a INT64, b STRING>>`. */
export function typeText(type: SqlType): string {
  if (type.kind === 'ARRAY' || type.kind === 'RANGE') return `${type.kind}<${typeText(type.element)}>`;
  if (type.kind === 'STRUCT') return `STRUCT<${type.fields.map(fieldText).join(', ')}>`;
  return type.kind;
}

function fieldText(field: StructField): string {
  return field.name === null ? typeText(field.type) : `${field.name} ${typeText(field.type)}`;
}

/** Equal to the last field name; names ignore case. */
export function sameType(a: SqlType, b: SqlType): boolean {
  return alike(a, b, (x, y) => (x ?? '').toLowerCase() === (y ?? '').toLowerCase());
}

/** Equal but for names of struct fields: values need no conversion. */
export function equivalentTypes(a: SqlType, b: SqlType): boolean {
  return alike(a, b, () => true);
}

function alike(a: SqlType, b: SqlType, names: (a: string | null, b: string | null) => boolean): boolean {
  if (a === b) return true;
  if (a.kind === 'ARRAY' || a.kind === 'RANGE') return a.kind === b.kind && alike(a.element, b.element, names);
  if (a.kind === 'STRUCT') {
    return (
      b.kind === 'STRUCT' &&
      a.fields.length === b.fields.length &&
      a.fields.every((field, i) => {
        const other = b.fields[i];
        return other !== undefined && names(field.name, other.name) && alike(field.type, other.type, names);
      })
    );
  }
  return a.kind === b.kind;
}

/** Whether some part of a type is one of `kinds`. */
export function contains(type: SqlType, kinds: ReadonlySet<SqlType['kind']>): boolean {
  if (kinds.has(type.kind)) return true;
  if (type.kind === 'ARRAY') return contains(type.element, kinds);
  return type.kind === 'STRUCT' && type.fields.some((field) => contains(field.type, kinds));
}
