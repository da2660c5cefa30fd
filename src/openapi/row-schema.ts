import { typeText } from '../googlesql/type-names';
import type { NamedType, SqlType, StructField } from '../googlesql/types';
import type { Schema } from './schema';

/** The rows of a query by its columns, as docs/http.md says what becomes of each type. */
export function rowSchema(columns: readonly NamedType[]): Schema {
  return { ...objectSchema(columns), description: 'A row of the stored query.' };
}

/** Names of a struct's fields in JSON. */
export function fieldName({ name }: StructField, index: number): string {
  return name ?? `_field_${String(index + 1)}`;
}

function objectSchema(fields: readonly StructField[]): Schema {
  const names = fields.map(fieldName);
  const properties = new Map<string, Schema>();
  fields.forEach(({ type }, i) => {
    const name = names[i] ?? '';
    // Of two fields with one name a reader of JSON finds either.
    properties.set(name, properties.has(name) ? ANYTHING : valueSchema(type));
  });
  return { type: 'object', required: [...properties.keys()], properties: Object.fromEntries(properties) };
}

const ANYTHING: Schema = { description: 'Any JSON value.' };

/** A value that may be NULL; an array never is. */
function valueSchema(type: SqlType): Schema {
  if (type.kind === 'ARRAY') return arraySchema(type.element);
  const schema = presentSchema(type);
  if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  return schema.type === undefined ? schema : { ...schema, type: [schema.type, 'null'].flat() };
}

/** No element is NULL (both engines refuse to write one), but BYTES that redaction hides. */
function arraySchema(element: SqlType): Schema {
  return { type: 'array', items: element.kind === 'BYTES' ? valueSchema(element) : presentSchema(element) };
}

function presentSchema(type: SqlType): Schema {
  switch (type.kind) {
    case 'ARRAY':
      return arraySchema(type.element);
    case 'STRUCT':
      return objectSchema(type.fields);
    case 'BOOL':
      return { type: 'boolean' };
    case 'INT64':
      return { type: 'integer', format: 'int64', description: 'INT64: all its digits, also beyond 2^53.' };
    case 'FLOAT64':
      return {
        anyOf: [
          { type: 'number', format: 'double' },
          { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] },
        ],
      };
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return { type: 'string', pattern: '^-?\\d+(?:\\.\\d+)?$', description: `${type.kind}: exact.` };
    case 'STRING':
      return { type: 'string' };
    case 'BYTES':
      return { type: 'string', contentEncoding: 'base64', description: 'BYTES; null where the result is redacted.' };
    case 'TIMESTAMP':
      return { type: 'integer', format: 'int64', description: 'TIMESTAMP: microseconds since 1970-01-01 UTC.' };
    case 'DATE':
      return { type: 'string', format: 'date' };
    case 'TIME':
      return { type: 'string', pattern: `^${TIME}$`, description: 'TIME: ISO 8601.' };
    case 'DATETIME':
      return {
        type: 'string',
        pattern: `^\\d{4}-\\d{2}-\\d{2}T${TIME}$`,
        description: 'DATETIME: ISO 8601, without a zone.',
      };
    case 'INTERVAL':
      return { type: 'string', description: 'INTERVAL: `Y-M D H:M:S.F`.' };
    case 'RANGE':
      return {
        type: 'string',
        pattern: '^\\[.+, .+\\)$',
        description: `${typeText(type)}: \`[start, end)\`, each as a ${type.element.kind} or UNBOUNDED.`,
      };
    case 'GEOGRAPHY':
      return { type: 'string', description: 'GEOGRAPHY: well-known text.' };
    case 'JSON':
      return ANYTHING;
  }
}

const TIME = '\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?';
