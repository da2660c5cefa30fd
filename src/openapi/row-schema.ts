import {
  typeText,
  type NamedType,
  type RangeElement,
  type ScalarName,
  type SqlType,
  type StructField,
} from '@logquay/googlesql/types';
import { closingOf, linesOf } from '../rendering/render';
import type { Representation } from '../rendering/representation';
import type { Json, Schema } from './schema';

/** The rows of a query by its columns, as docs/querying.md says what becomes of each type. */
export function rowSchema(columns: readonly NamedType[]): Schema {
  return { ...objectSchema(columns), description: 'A row of the stored query.' };
}

/** Names of a struct's fields in JSON. */
function fieldName({ name }: StructField, index: number): string {
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

type JsonObject = Readonly<Record<string, Json>>;

/** Values of a record in an example; a larger record is left out, which shows that it may be. */
const MOST_VALUES = 12;

/** A value of each type. */
const VALUES: Readonly<Record<ScalarName, Json>> = {
  BOOL: true,
  INT64: 42,
  FLOAT64: 0.5,
  NUMERIC: '12.5',
  BIGNUMERIC: '12.5',
  STRING: 'text',
  BYTES: 'AAEC',
  DATE: '2026-09-30',
  TIME: '12:00:00',
  DATETIME: '2026-09-30T12:00:00',
  TIMESTAMP: 1790769600000000,
  INTERVAL: '0-0 1 0:0:0',
  JSON: { key: 'value' },
  GEOGRAPHY: 'POINT(1 2)',
};

const RANGES: Readonly<Record<RangeElement, string>> = {
  DATE: '[2026-09-30, UNBOUNDED)',
  DATETIME: '[2026-09-30T12:00:00, UNBOUNDED)',
  TIMESTAMP: '[1790769600000000, UNBOUNDED)',
};

/** Of columns that logs have. */
const TEXTS: Readonly<Record<string, string>> = {
  id: 'd33b51e4-2141-4899-8680-3e9433c4ace2',
  event_message: 'GET | 200 | /rest/v1/items',
};

/** A row of these columns, to show what rows look like. */
function exampleRow(columns: readonly NamedType[]): JsonObject {
  return exampleObject(columns);
}

/** A result of one such row, as the service writes it in a form. */
export function exampleText(columns: readonly NamedType[], representation: Representation): string {
  const row = exampleRow(columns);
  const names = columns.map(({ name }) => name);
  // By its columns: an object would put names that are numbers first.
  const members = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(row[name])}`);
  const part = { columns: names, rows: [`{${members.join(',')}}`], representation, escapeFormulas: true, first: true };
  return `${linesOf(part).join('')}${closingOf(representation)}`;
}

function exampleObject(fields: readonly StructField[]): JsonObject {
  return Object.fromEntries(
    fields.map((field, i) => {
      const name = fieldName(field, i);
      const text = field.type.kind === 'STRING' && Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
      return [name, text ?? exampleValue(field.type)];
    }),
  );
}

function exampleValue(type: SqlType): Json {
  switch (type.kind) {
    case 'ARRAY':
      return countValues(type.element) > MOST_VALUES ? [] : [exampleValue(type.element)];
    case 'STRUCT':
      return countValues(type) > MOST_VALUES ? null : exampleObject(type.fields);
    case 'RANGE':
      return RANGES[type.element.kind];
    default:
      return VALUES[type.kind];
  }
}

function countValues(type: SqlType): number {
  if (type.kind === 'ARRAY') return countValues(type.element);
  if (type.kind !== 'STRUCT') return 1;
  return type.fields.reduce((sum, field) => sum + countValues(field.type), 0);
}
