/** What the type of a field refuses, with the form that works: an engine would say it in words of the SQL behind it. */
import { typeText, NUMBERS } from '../type-names';
import { fieldsOf } from '../field-path';
import type { NamedType, ScalarName, SqlType } from '../types';
import { type Level, levelOf, numbersOf, type Roles, type SeverityRole } from '../roles';
import { typeAtEnd } from './fields';
import { severityFor } from './level-range';
import { textInQuotes } from './operand';
import { LqlError } from './lql-error';
import type { Aggregate, Chart, Filter, Rules, Value } from './rules';

const TIMES: ReadonlySet<string> = new Set<ScalarName>(['DATE', 'TIME', 'DATETIME', 'TIMESTAMP']);
/** What no value is compared with, counted or put in order. */
const WITHOUT_VALUES: ReadonlySet<string> = new Set<SqlType['kind']>(['ARRAY', 'STRUCT', 'JSON']);

/**
 * Checks that filters and chart suit the types of their fields. What is not among the columns is for who resolves the SQL.
 *
 * @throws LqlError type_mismatch
 */
export function checkTypes({ filters, chart }: Rules, columns: readonly NamedType[], roles: Roles): void {
  for (const filter of filters) {
    const { role, path, operator } = filter;
    const type = role === null ? typeAtEnd(path, columns) : null;
    // Of a severity, whichever way it is written (level-range.ts).
    if (operator === 'in') continue;
    const severity = severityFor(filter, columns, roles);
    check(
      filter,
      type,
      (use, found, shown) => hintOfLevel(use, found, shown, severity) ?? hintOfFilter(use, found, shown),
    );
  }
  if (chart?.role === null) check(chart, typeAtEnd(chart.path, columns), hintOfChart);
}

function check<Use extends Filter | Chart>(
  use: Use,
  type: ReturnType<typeof typeAtEnd>,
  hintOf: (use: Use, type: SqlType, path: string) => string | null,
): void {
  if (type === null || type === 'any') return;
  const path = use.path.replace(/^metadata\./, 'm.');
  const hint = hintOf(use, type, path);
  if (hint === null) return;
  throw new LqlError('type_mismatch', `${path} is ${shortType(type)}, which this does not fit`, use.span, { hint });
}

function shortType(type: SqlType): string {
  if (type.kind === 'ARRAY')
    return type.element.kind === 'STRUCT' ? 'a list of records' : `a list of ${typeText(type.element)}`;
  return type.kind === 'STRUCT' ? 'a record' : typeText(type);
}

/** Of a severity whose numbers a word was compared with; null: of anything else. */
function hintOfLevel(filter: Filter, type: SqlType, path: string, severity: SeverityRole | null): string | null {
  if (severity === null || !NUMBERS.has(type.kind) || !('value' in filter) || typeof filter.value !== 'string')
    return null;
  const level = isNumber(filter.value) ? null : levelOf('words', filter.value);
  // People look for status codes in other ways.
  if (level === null) return isNumber(filter.value) || severity.scale === 'http' ? null : levelsByName(path, 'error');
  const [from, to] = numbersOf(severity.scale, level) ?? [];
  if (from === undefined) return levelsByName(path, level);
  return levelsByName(path, level, ` or ${path}:${from === to ? String(from) : `${String(from)}..${String(to)}`}`);
}

function levelsByName(path: string, from: Level, more = ''): string {
  return `Its levels are numbers; a range has their names: ${path}:${from}..emergency${more}.`;
}

function hintOfFilter(filter: Filter, type: SqlType, path: string): string | null {
  const values: readonly Value[] = 'values' in filter ? filter.values : [filter.value];
  const [value = null] = values;
  if (filter.operator === '=' && value === null) return null;
  const asText = filter.operator === 'contains' || filter.operator === '~' || filter.operator === 'list_includes_regex';
  const [field] = fieldsOf(type);
  if (field !== undefined) return `Name a field of its records: ${path}.${field.name ?? ''}.`;
  if (filter.operator === 'list_includes' || filter.operator === 'list_includes_regex') {
    if (type.kind !== 'ARRAY') return `It is no list: ${instead(path, type, value, asText)}.`;
    return suits(type.element, values, asText)
      ? null
      : `Its elements are ${typeText(type.element)}: ${inList(path, type.element, value)}.`;
  }
  if (type.kind === 'ARRAY') return `"@>" looks into a list: ${inList(path, type.element, value, asText)}.`;
  if (suits(type, values, asText)) return null;
  if (type.kind === 'STRING') {
    const [from, to] = values.map(textOf);
    if (filter.operator === 'range')
      return `Texts are compared one by one: ${path}:>=${textInQuotes(from ?? '')} ${path}:<=${textInQuotes(to ?? '')}.`;
    return `Put the value in double quotes: ${path}${SIGNS[filter.operator] ?? ':'}${textInQuotes(from ?? '')}.`;
  }
  if (asText) return `Patterns are for texts; use a comparison: ${instead(path, type, value)}.`;
  if (NUMBERS.has(type.kind) && isNumber(textOf(value)))
    return `Write the number without quotes: ${path}${SIGNS[filter.operator] ?? ':'}${textOf(value)}.`;
  return `Use a comparison with a ${NUMBERS.has(type.kind) ? 'number' : type.kind === 'BOOL' ? 'boolean' : 'time'}: ${instead(path, type, value)}.`;
}

const SIGNS: Readonly<Partial<Record<Filter['operator'], string>>> = { '>': ':>', '>=': ':>=', '<': ':<', '<=': ':<=' };

/** Whether values are compared with a field of the type, as literals of SQL are. What is not known of a type is left to that. */
function suits({ kind }: SqlType, values: readonly Value[], asText: boolean): boolean {
  if (kind === 'STRING') return values.every((value) => typeof value === 'string');
  if (NUMBERS.has(kind))
    return !asText && values.every((value) => typeof value === 'bigint' || typeof value === 'number');
  if (kind === 'BOOL') return !asText && values.every((value) => typeof value === 'boolean');
  if (TIMES.has(kind))
    return (
      !asText && values.every((value) => typeof value === 'string' || (typeof value === 'object' && value !== null))
    );
  return !WITHOUT_VALUES.has(kind);
}

function inList(path: string, element: SqlType, value: Value, asPattern = false): string {
  if (asPattern && element.kind === 'STRING') return `${path}:@>~${textInQuotes(textOf(value))}`;
  return `${path}:@>${shown(element, value)}`;
}

/** A filter of the field that works, as near as can be to what was meant. */
function instead(path: string, type: SqlType, value: Value, asPattern = false): string {
  if (asPattern && type.kind === 'STRING') return `${path}:~${textInQuotes(textOf(value))}`;
  // Of status codes people write the first digit alone: 2xx, 5.., ^5.
  const [, hundred] = /^\^?([1-9])(?:xx|\.\.|\\d\\d)?\$?$/i.exec(typeof value === 'string' ? value : '') ?? [];
  if (hundred !== undefined && NUMBERS.has(type.kind)) return `${path}:${hundred}00..${hundred}99`;
  return `${path}:${TIMES.has(type.kind) ? '>=' : ''}${shown(type, value)}`;
}

/** A value as it is written for a type; where it has none of that type, an example. */
function shown({ kind }: SqlType, value: Value): string {
  const text = textOf(value);
  if (kind === 'STRING') return textInQuotes(text);
  if (NUMBERS.has(kind)) return isNumber(text) ? text : '500';
  if (kind === 'BOOL') return text === 'false' ? text : 'true';
  return '2024-03-17';
}

function isNumber(text: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(text);
}

function textOf(value: Value | undefined): string {
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value);
}

const OF_NUMBERS: ReadonlySet<Aggregate> = new Set<Aggregate>(['avg', 'sum']);

function hintOfChart({ aggregate }: Chart, type: SqlType, path: string): string | null {
  if (aggregate === 'count') return null;
  const [field] = fieldsOf(type);
  if (field !== undefined) return `Name a field of its records: c:${aggregate}(${path}.${field.name ?? ''}).`;
  if (WITHOUT_VALUES.has(type.kind)) return `Count the rows that have it: c:count(${path}).`;
  return !OF_NUMBERS.has(aggregate) || NUMBERS.has(type.kind) ? null : `Count its values: c:countd(${path}).`;
}
