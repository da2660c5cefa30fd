/** What of rows can be drawn. */
import type { NamedType } from '../googlesql/types';
import { type JsonObject, member } from './exact-json';
import { microsOf } from './instant';

export type Chart =
  | { readonly kind: 'lines'; readonly times: readonly number[]; readonly series: readonly Series[] }
  | {
      readonly kind: 'bars';
      readonly category: string;
      readonly measure: string;
      readonly bars: readonly CategoryBar[];
    };

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface CategoryBar {
  readonly label: string;
  readonly value: number;
}

const MOST_SERIES = 8;
const MOST_BARS = 40;

/** Numbers over the first time, or over the first category. null: there is nothing to draw */
export function chartOf(
  columns: readonly string[],
  types: readonly NamedType[] | null,
  rows: readonly JsonObject[],
): Chart | null {
  const typeOf = (name: string): string | undefined => types?.find((one) => one.name === name)?.type.kind;
  const isTime = (name: string): boolean =>
    types === null
      ? rows.every((row) => microsOf(member(row, name)) !== null)
      : /^(?:TIMESTAMP|DATETIME|DATE)$/.test(typeOf(name) ?? '');
  const isNumber = (name: string): boolean =>
    types === null
      ? rows.every((row) => ['number', 'bigint', 'object'].includes(typeof member(row, name)))
      : /^(?:INT64|FLOAT64|NUMERIC|BIGNUMERIC)$/.test(typeOf(name) ?? '');
  const numbers = columns.filter((name) => !isTime(name) && isNumber(name)).slice(0, MOST_SERIES);
  const time = columns.find(isTime);
  const [measure] = numbers;
  if (measure === undefined) return null;
  if (time !== undefined) {
    const points = rows
      .flatMap((row) => {
        const at = instantOf(row, time);
        return at === null ? [] : [{ at, row }];
      })
      .sort((a, b) => a.at - b.at);
    return {
      kind: 'lines',
      times: points.map(({ at }) => at),
      series: numbers.map((name) => ({ name, values: points.map(({ row }) => numberOf(row, name)) })),
    };
  }
  const category = columns.find((name) => !isNumber(name));
  if (category === undefined) return null;
  const bars = rows.slice(0, MOST_BARS).flatMap((row) => {
    const value = numberOf(row, measure);
    const label = member(row, category);
    return value === null || typeof label === 'object' ? [] : [{ label: String(label), value }];
  });
  return bars.length === 0 ? null : { kind: 'bars', category, measure, bars };
}

/** Seconds since the epoch. */
function instantOf(row: JsonObject, name: string): number | null {
  const value = member(row, name);
  const day = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(value) : NaN;
  if (!Number.isNaN(day)) return day / 1000;
  const micros = microsOf(value);
  return micros === null ? null : Number(micros) / 1e6;
}

function numberOf(row: JsonObject, name: string): number | null {
  const value = member(row, name);
  if (value === null || value === undefined || typeof value === 'object') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
