/** What of rows can be drawn. */
import { rolesOf, type NamedType } from '@logquay/googlesql/types';
import { type JsonObject, member, writeExactly } from './exact-json';
import { type Severity, SEVERITIES, severityOfValue } from './severity';
import { type Bounds, microsOf } from './time-range';

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
  /** What the name means, as a level or the status of a response. */
  readonly severity: Severity | null;
}

export interface CategoryBar {
  readonly label: string;
  readonly value: number;
  readonly severity: Severity | null;
}

const OTHERS = 'others';
const MOST_SERIES = 8;
const MOST_BARS = 40;
/** Times that are drawn: a second without rows is zero, of a year not each. */
const MOST_TIMES = 5_000;
/** Whole numbers that name a thing rather than measure it. */
const CODES = /(?:^|_)(?:status|code|level|severity|priority|id|port|pid|version|class)(?:_|$)/i;

/**
 * The last number over the first time for each value of the other columns, or several numbers over it, or the last number by a
 * category. null: there is nothing to draw
 *
 * @param bounds the range: times without rows in it are drawn, too
 */
export function chartOf(types: readonly NamedType[], rows: readonly JsonObject[], bounds: Bounds | null): Chart | null {
  const isTime = ({ type }: NamedType): boolean => /^(?:TIMESTAMP|DATETIME|DATE)$/.test(type.kind);
  const isNumber = ({ type }: NamedType): boolean => /^(?:INT64|FLOAT64|NUMERIC|BIGNUMERIC)$/.test(type.kind);
  const isScalar = ({ type }: NamedType): boolean => !/^(?:ARRAY|STRUCT|JSON|RANGE)$/.test(type.kind);
  const time = types.find(isTime)?.name;
  const measure =
    types.findLast((one) => isNumber(one) && !CODES.test(one.name))?.name ?? types.findLast(isNumber)?.name;
  if (measure === undefined) return null;
  const others = types.filter((one) => !isTime(one) && one.name !== measure);
  const points = time === undefined ? [] : pointsOf(rows, time);
  if (time === undefined) {
    const label = (row: JsonObject): string => others.map(({ name }) => labelOf(row, name)).join(' · ');
    const drawn = rows.slice(0, MOST_BARS);
    // Rows that share a category are no groups: one bar would stand for one of them.
    const isCategory = others.length > 0 && others.every((one) => isScalar(one) && one.type.kind !== 'FLOAT64');
    if (!isCategory || new Set(drawn.map(label)).size < drawn.length) return null;
    const bars = drawn.flatMap((row): CategoryBar[] => {
      const value = numberOf(row, measure);
      return value === null ? [] : [{ label: label(row), value, severity: severityOfLabel(label(row), others) }];
    });
    return bars.length === 0
      ? null
      : { kind: 'bars', category: others.map(({ name }) => name).join(', '), measure, bars };
  }
  if (points.length === 0) return null;
  const shares = new Set(points.map(({ at }) => at)).size < points.length;
  const groups = others.filter((one) => isScalar(one) && (shares || !isNumber(one) || CODES.test(one.name)));
  const names = groups.length > 0 ? [measure] : types.filter((one) => isNumber(one)).map(({ name }) => name);
  // Several rows of an instant that nothing tells apart are no line.
  if (shares && groups.length === 0) return null;
  const times = timesOf(points, bounds);
  const isCount = points.every(({ row }) => names.every((name) => Number.isInteger(numberOf(row, name) ?? 0)));
  const places = new Map(times.map((at, i) => [at, i]));
  const seriesOf = (name: string, own: readonly Point[], measured: string, severity: Severity | null): Series => {
    const values = new Array<number | null>(times.length).fill(isCount ? 0 : null);
    for (const { at, row } of own) {
      const value = numberOf(row, measured);
      const place = places.get(at)!;
      if (value !== null) values[place] = (values[place] ?? 0) + value;
    }
    return { name, values, severity };
  };
  if (groups.length === 0) {
    const series = names.slice(0, MOST_SERIES).map((name) => seriesOf(name, points, name, null));
    return { kind: 'times', times, series, isGrouped: false };
  }
  const byLabel = groupBy(points, ({ row }) => groups.map(({ name }) => labelOf(row, name)).join(' · '));
  const severities = new Map([...byLabel.keys()].map((label) => [label, severityOfLabel(label, groups)]));
  const chosen = fewest(byLabel, severities, measure);
  const series = chosen.map(([name, own, severity]) => seriesOf(name, own, measure, severity));
  return { kind: 'times', times, series, isGrouped: true };
}

interface Point {
  readonly at: number;
  readonly row: JsonObject;
}

type Group = readonly [name: string, points: readonly Point[], severity: Severity | null];

/** The gravest and largest groups; where there are too many, codes of responses by their class, and all others together. */
function fewest(
  byLabel: ReadonlyMap<string, readonly Point[]>,
  severities: ReadonlyMap<string, Severity | null>,
  measure: string,
): readonly Group[] {
  const total = (points: readonly Point[]): number =>
    points.reduce((sum, { row }) => sum + Math.abs(numberOf(row, measure) ?? 0), 0);
  const gravity = (severity: Severity | null): number =>
    severity === null ? SEVERITIES.length : SEVERITIES.indexOf(severity);
  const sorted = (groups: readonly Group[]): Group[] =>
    [...groups].sort(([, a, first], [, b, second]) => gravity(first) - gravity(second) || total(b) - total(a));
  const groups = [...byLabel].map(([label, points]): Group => [label, points, severities.get(label) ?? null]);
  if (groups.length <= MOST_SERIES) return sorted(groups);
  if (groups.every(([label]) => /^[1-5]\d\d$/.test(label))) {
    const byClass = groupBy(groups, ([label]) => `${label[0] ?? ''}xx`);
    return sorted([...byClass].map(([name, all]): Group => [name, all.flatMap(([, own]) => own), all[0]?.[2] ?? null]));
  }
  const largest = groups.sort(([, a], [, b]) => total(b) - total(a));
  const rest = largest.slice(MOST_SERIES - 1).flatMap(([, points]) => points);
  return [...sorted(largest.slice(0, MOST_SERIES - 1)), [OTHERS, rest, null]];
}

function groupBy<T>(all: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(nameOf(one));
    if (group === undefined) groups.set(nameOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

function severityOfLabel(label: string, columns: readonly NamedType[]): Severity | null {
  const [only, ...more] = columns;
  const role = more.length > 0 || only === undefined ? null : rolesOf([only]).severity;
  return role === null ? null : severityOfValue(role, label);
}

function pointsOf(rows: readonly JsonObject[], time: string): readonly Point[] {
  return rows
    .flatMap((row) => {
      const at = instantOf(row, time);
      return at === null ? [] : [{ at, row }];
    })
    .sort((a, b) => a.at - b.at);
}

/** The instants of the rows, and those between and beside them where all lie in equal steps. */
function timesOf(points: readonly Point[], bounds: Bounds | null): readonly number[] {
  const known = [...new Set(points.map(({ at }) => at))];
  const [first = 0, second = 0] = known;
  const last = known.at(-1) ?? 0;
  const step = known.slice(1).reduce((least, at, i) => Math.min(least, at - known[i]!), second - first);
  if (known.length < 2 || known.some((at) => (at - first) % step !== 0)) return known;
  const before = bounds === null ? 0 : Math.max(0, Math.floor((first - bounds.start / 1000) / step));
  const behind = bounds === null ? 0 : Math.max(0, Math.ceil((bounds.end / 1000 - last) / step) - 1);
  const count = before + (last - first) / step + 1 + behind;
  return count > MOST_TIMES ? known : Array.from({ length: count }, (_, i) => first + (i - before) * step);
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
