/** Functions of RANGE (expressions/range-values.ts says how it is stored). */
import type { RangeElement } from '../../../../googlesql/types';
import { arg, type Call, type FunctionTable, sqlOf } from '../expressions/call';
import { checkedRange, endOf, openEnd, rangeOf } from '../expressions/range-values';
import { LIMITS, unlessOver } from '../expressions/makers';
import { hasNoMonths } from './operators';
import { duckType } from '../../sql';

function elementOf(call: Call, i: number): RangeElement {
  const { type } = arg(call, i);
  if (type.kind !== 'RANGE') throw new Error(`${call.name} of no RANGE`);
  return type.element.kind;
}

function range(call: Call): string {
  if (call.type.kind !== 'RANGE') throw new Error('RANGE makes a RANGE');
  const ends = [sqlOf(call, 0), sqlOf(call, 1)];
  return checkedRange(call.bind, call.type.element.kind, ends, call.fail('argument'));
}

/** NULL where it is open. DuckDB forgets the type of an end of a NULL. */
function end(side: 'start' | 'end'): (call: Call) => string {
  return (call) => {
    const open = openEnd(elementOf(call, 0), side);
    const value = call.bind([endOf(sqlOf(call, 0), side)], (x) => `nullif(${x}, ${open})`);
    return `CAST(${value} AS ${duckType(call.type)})`;
  };
}

function contains(call: Call): string {
  const isRange = arg(call, 1).type.kind === 'RANGE';
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (outer, inner) => {
    const [first, last] = isRange
      ? [endOf(inner, 'start'), `<= ${endOf(outer, 'end')}`]
      : [inner, `< ${endOf(outer, 'end')}`];
    return `(${first} >= ${endOf(outer, 'start')} AND ${isRange ? endOf(inner, 'end') : inner} ${last})`;
  });
}

function overlap(a: string, b: string): string {
  return `(${endOf(a, 'start')} < ${endOf(b, 'end')} AND ${endOf(b, 'start')} < ${endOf(a, 'end')})`;
}

function intersect(call: Call): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
    const start = `greatest(${endOf(a, 'start')}, ${endOf(b, 'start')})`;
    const common = rangeOf(start, `least(${endOf(a, 'end')}, ${endOf(b, 'end')})`);
    const both = `${a} IS NOT NULL AND ${b} IS NOT NULL`;
    return `CASE WHEN ${overlap(a, b)} THEN ${common} WHEN ${both} THEN ${call.fail('argument')} END`;
  });
}

/** Months, days and microseconds of a step, of which only some go together, and what else is wrong with it. */
function wrongStep(element: RangeElement, months: string, days: string, micros: string): string {
  const mixed = {
    DATE: `${micros} <> 0 OR (${months} <> 0 AND ${days} <> 0)`,
    DATETIME: `${months} <> 0 AND (${days} <> 0 OR ${micros} <> 0)`,
    TIMESTAMP: `${months} <> 0`,
  }[element];
  const parts = [months, days, micros];
  const negative = parts.map((part) => `${part} < 0`).join(' OR ');
  return `${mixed} OR ${negative} OR (${parts.map((part) => `${part} = 0`).join(' AND ')})`;
}

const DAY_MICROS = 86_400_000_000;

/** Ranges of a step each; the last one is shorter where it would not fit, or is left out. */
function generate(call: Call): string {
  const element = elementOf(call, 0);
  const whole = call.args[2]?.sql ?? 'true';
  return call.bind([sqlOf(call, 0), sqlOf(call, 1), whole], (r, step, last) => {
    const ends = [endOf(r, 'start'), endOf(r, 'end')] as const;
    const parts = [`lq_interval_months(${step})`, `extract(day FROM ${step})`, `lq_interval_micros(${step})`] as const;
    const wrong = `NOT isfinite(${ends[0]}) OR NOT isfinite(${ends[1]}) OR ${wrongStep(element, ...parts)}`;
    const micros = `${parts[1]} * ${DAY_MICROS} + ${parts[2]}`;
    const byTime = call.bind([...ends, micros], (start, end, width) =>
      ofTime(call, element, { start, end, width, last }),
    );
    const byMonths = call.bind([...ends, parts[0]], (start, end, width) =>
      ofMonths(call, element, { start, end, width, last }),
    );
    const isNull = [r, step, last].filter((x) => x !== 'true').map((x) => `${x} IS NULL`);
    const isOfTime = element === 'TIMESTAMP' || hasNoMonths(arg(call, 1));
    const ranges = isOfTime ? byTime : `CASE WHEN ${parts[0]} > 0 THEN ${byMonths} ELSE ${byTime} END`;
    return `CASE WHEN ${isNull.join(' OR ')} THEN NULL WHEN ${wrong} THEN ${call.fail('argument')} ELSE ${ranges} END`;
  });
}

interface Split {
  readonly start: string;
  readonly end: string;
  /** Of a step: microseconds or months. */
  readonly width: string;
  /** Whether a last one that is shorter counts. */
  readonly last: string;
}

/** Counted in microseconds: intervals would take five times as long. */
function ofTime(call: Call, element: RangeElement, { start, end, width, last }: Split): string {
  const at = (micros: string): string =>
    element === 'DATE' ? `CAST(make_timestamp(${micros}) AS DATE)` : `make_timestamp(${micros})`;
  return call.bind([`epoch_us(${start})`, `epoch_us(${end})`], (first, behind) => {
    const over = `(${behind} - ${first}) // ${width} >= ${LIMITS.elements}`;
    const lastStart = `${behind} - CASE WHEN ${last} THEN 1 ELSE ${width} END`;
    const starts = `generate_series(${first}, CASE WHEN ${over} THEN ${first} ELSE ${lastStart} END, ${width})`;
    const range = rangeOf(at('t'), at(`least(t + ${width}, ${behind})`));
    return unlessOver(call, over, `list_transform(${starts}, lambda t: ${range})`);
  });
}

/** Counted from the start, so that months begin on its day where they have one. */
function ofMonths(call: Call, element: RangeElement, { start, end, width, last }: Split): string {
  const monthOf = (x: string): string => `(year(${x}) * 12 + month(${x}))`;
  const bound = (i: string): string => {
    const later = `${start} + to_months(CAST(${i} * ${width} AS INTEGER))`;
    return element === 'DATE' ? `CAST(${later} AS DATE)` : `(${later})`;
  };
  return call.bind([`(${monthOf(end)} - ${monthOf(start)}) // ${width}`], (steps) => {
    const over = `${steps} >= ${LIMITS.elements}`;
    // The month of the end may have a start that is before the end, or none.
    const fitting = `CASE WHEN ${bound(steps)} < ${end} THEN ${steps} ELSE ${steps} - 1 END`;
    const lastStart = call.bind(
      [fitting],
      (n) => `CASE WHEN ${last} OR ${bound(`(${n} + 1)`)} <= ${end} THEN ${n} ELSE ${n} - 1 END`,
    );
    const numbers = `generate_series(0, CASE WHEN ${over} THEN 0 ELSE ${lastStart} END)`;
    const range = rangeOf(bound('i'), `least(${bound('(i + 1)')}, ${end})`);
    return unlessOver(call, over, `list_transform(${numbers}, lambda i: ${range})`);
  });
}

export const RANGE_FUNCTIONS: FunctionTable = {
  GENERATE_RANGE_ARRAY: { emit: generate, raises: true },
  RANGE: range,
  RANGE_CONTAINS: contains,
  RANGE_END: end('end'),
  RANGE_INTERSECT: intersect,
  RANGE_OVERLAPS: (call) => call.bind([sqlOf(call, 0), sqlOf(call, 1)], overlap),
  RANGE_START: end('start'),
};
