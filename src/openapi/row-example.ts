import type { NamedType, RangeElement, ScalarName, SqlType, StructField } from '../googlesql/types';
import { closingOf, linesOf } from '../rendering/render';
import type { Representation } from '../rendering/representation';
import { fieldName } from './row-schema';
import type { Json } from './schema';

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
