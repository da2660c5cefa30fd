/** Comparisons with the time of a row, in the unit that its column counts. */
import type { TimeRole } from '../roles';
import { momentLiteral } from './operand';
import type { Comparison, Filter, Instant, Value } from './rules';

/** What follows the column in SQL: an operator and literals of the column's type, by which parts of a table can be left out. */
export function momentTest(filter: Filter, time: TimeRole): string {
  const moments = ('values' in filter ? filter.values : [filter.value]).map(microsOf);
  const [from = 0n, to = from] = moments;
  if (filter.operator === 'range') return between(from, to, time);
  const comparison = filter.operator as Comparison;
  // A moment that the unit cannot count is no row's; of an order it has to be the next one that can be.
  if (comparison === '=' && down(from, time) !== up(from, time)) return between(from, from, time);
  const round = comparison === '>=' || comparison === '<' ? up : down;
  return `${comparison} ${round(from, time)}`;
}

const between = (from: bigint, to: bigint, time: TimeRole): string => `BETWEEN ${up(from, time)} AND ${down(to, time)}`;

function microsOf(value: Value): bigint {
  return typeof value === 'object' && value !== null ? (value satisfies Instant).micros : 0n;
}

const down = (micros: bigint, time: TimeRole): string => literal(micros, time, (scale) => floor(micros, scale));
const up = (micros: bigint, time: TimeRole): string => literal(micros, time, (scale) => -floor(-micros, scale));

/** Microseconds of a unit. */
const SCALES = { s: 1_000_000n, ms: 1_000n, us: 1n } as const;

function literal(micros: bigint, { type, unit }: TimeRole, divided: (scale: bigint) => bigint): string {
  if (unit === null) return momentLiteral(micros, type.kind === 'DATETIME');
  const isWhole = type.kind === 'INT64';
  if (unit === 'ns') return `${micros * 1_000n}${isWhole ? '' : '.0'}`;
  return isWhole ? String(divided(SCALES[unit])) : decimal(micros, SCALES[unit]);
}

function floor(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return (value - rest) / by - (rest < 0n ? 1n : 0n);
}

function decimal(micros: bigint, scale: bigint): string {
  const [sign, size] = micros < 0n ? ['-', -micros] : ['', micros];
  const fraction = String(scale + (size % scale)).slice(1);
  return `${sign}${size / scale}.${fraction === '' ? '0' : fraction}`;
}
