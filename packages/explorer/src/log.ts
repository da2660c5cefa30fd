/** What of the result is a log: its rows have a time, and mostly a message, a severity and a trace. */
import { computed } from '@preact/signals';
import { type NamedType, PER_SECOND, type Roles, type TimeRole } from '@logquay/googlesql/types';

import { type Json, type JsonObject, member, valueAt, writeExactly } from './exact-json';
import { ROW } from './field-values';
import { result } from './result';
import { schema } from './schema';
import { change, search } from './search';
import { microsOf } from './time-range';

const NONE: Roles = { time: null, message: null, severity: null, trace: null };

/** The roles of the result's columns. */
export const roles = computed<Roles>(() => result.value?.roles ?? NONE);

/** Rows with a time that are no groups. Rows of an endpoint's own query may be groups: those of a log have a message. */
export const isLog = computed(() => {
  const known = result.value;
  if (known === null || roles.value.time === null || known.isGrouped) return false;
  return known.ofQuery || roles.value.message !== null;
});

/** The instant of a row in microseconds. null: it has none */
export function timeOf(row: JsonObject, role: TimeRole | null = roles.peek().time): bigint | null {
  return role === null ? null : instantOf(valueAt(row, role.path), role.unit);
}

/** The instant of a value in microseconds. @param unit of a number; null: it is a TIMESTAMP or DATETIME */
export function instantOf(value: Json | undefined, unit: TimeRole['unit']): bigint | null {
  if (unit === null) return microsOf(value);
  if (typeof value === 'bigint') {
    return unit === 'ns' ? value / 1000n : value * BigInt(1e6 / PER_SECOND[unit]);
  }
  if (typeof value !== 'number') return null;
  return BigInt(Math.round(value * (1e6 / PER_SECOND[unit])));
}

/** The message of a row; of one without it, all of it as JSON. */
export function messageOf(row: JsonObject): string {
  const { message } = roles.peek();
  const value = message === null ? row : valueAt(row, message.path);
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : writeExactly(value);
}

/** Of a log the columns between its time and its message, else all: the chosen ones, or those that a query names. As paths with dots. */
export const middleColumns = computed<readonly string[]>(() => {
  const known = result.value;
  if (known === null) return [];
  const chosen = search.value.columns.filter((path) => known.columns.includes(path.split('.')[0] ?? ''));
  if (!isLog.value) return chosen.length > 0 ? chosen : known.columns;
  const { time, message } = roles.value;
  const ends = [time?.path.join('.'), message?.path.join('.')];
  const own = isWhole(known.types) ? [] : known.columns;
  return (chosen.length > 0 ? chosen : own).filter((path) => !ends.includes(path));
});

/** The columns that are drawn and downloaded: of a log its time, those between, its message. */
export const shownColumns = computed<readonly string[]>(() => {
  if (!isLog.value) return middleColumns.value;
  const { time, message } = roles.value;
  const last = message?.path.join('.') ?? (middleColumns.value.length === 0 ? ROW : null);
  return [time?.path.join('.') ?? '', ...middleColumns.value, ...(last === null ? [] : [last])];
});

/** Shows a field as a column, or no more. */
export function toggleColumn(path: string): void {
  const shown = middleColumns.value;
  change({ columns: shown.includes(path) ? shown.filter((one) => one !== path) : [...shown, path] });
}

/** Whether rows are those of a table as it is, rather than of columns that a query names. */
function isWhole(types: readonly NamedType[]): boolean {
  const names = types.map(({ name }) => name).join('\n');
  const isTable = schema.value?.tables.some(({ columns }) => columns.map(({ name }) => name).join('\n') === names);
  return isTable === true || types.some(({ name }) => name === 'metadata');
}

/** What a link names a row by: its id, else its instant. */
export function placeOf(row: JsonObject): string {
  const id = member(row, 'id');
  const micros = timeOf(row);
  return typeof id === 'string' && id !== '' ? id : micros === null ? '' : `@${micros}`;
}
