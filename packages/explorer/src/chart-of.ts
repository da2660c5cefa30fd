/** What of rows can be drawn. */
import type { NamedType } from '@logquay/googlesql/types';
import { type JsonObject, member, writeExactly } from './exact-json';
import { microsOf } from './time-range';

export type Chart =
  | TimeChart
  | {
      readonly kind: 'bars';
      readonly category: string;
      readonly measure: string;
      readonly bars: readonly CategoryBar[];
    };

export interface TimeChart {
  readonly kind: 'times';
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  /** Each with a value for each time. */
  readonly series: readonly Series[];
  /** Whether the series are parts of a whole: the groups of one number. */
  readonly isGrouped: boolean;
}

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface CategoryBar {
  readonly label: string;
  readonly value: number;
}

interface Point {
  readonly at: number;
  readonly row: JsonObject;
}

const OTHERS = 'others';
const MOST_SERIES = 8;
const MOST_BARS = 40;

/**
 * Numbers over the first time, or over the first category. Where rows share a time, their last number is drawn for each value of
 * the first other column. null: there is nothing to draw
 */
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
    const times = points.map(({ at }) => at);
    const group = columns.find((name) => !isTime(name) && name !== numbers.at(-1));
    if (new Set(times).size < times.length && group !== undefined) return groupedOf(points, group, numbers.at(-1)!);
    const series = numbers.map((name) => ({ name, values: points.map(({ row }) => numberOf(row, name)) }));
    return { kind: 'times', times, series, isGrouped: false };
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

/** A number over time for each of the groups that have most of it; those of all others together. */
function groupedOf(points: readonly Point[], group: string, measure: string): TimeChart {
  const times = [...new Set(points.map(({ at }) => at))];
  const places = new Map(times.map((at, i) => [at, i]));
  const totals = new Map<string, number>();
  const labelled = points.map(({ at, row }) => ({
    at,
    label: labelOf(row, group),
    value: numberOf(row, measure) ?? 0,
  }));
  for (const { label, value } of labelled) totals.set(label, (totals.get(label) ?? 0) + Math.abs(value));
  const largest = [...totals].sort(([, a], [, b]) => b - a).map(([label]) => label);
  const names = largest.length > MOST_SERIES ? [...largest.slice(0, MOST_SERIES - 1), OTHERS] : largest;
  const series = names.map((name) => ({ name, values: new Array<number>(times.length).fill(0) }));
  for (const { at, label, value } of labelled) {
    const own = series.find(({ name }) => name === label) ?? series.at(-1)!;
    own.values[places.get(at)!]! += value;
  }
  return { kind: 'times', times, series, isGrouped: true };
}

function labelOf(row: JsonObject, name: string): string {
  const value = member(row, name);
  return value === null || value === undefined
    ? 'null'
    : typeof value === 'object'
      ? writeExactly(value)
      : String(value);
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
