/**
 * HLL_COUNT: sketches of the distinct values of a group. A sketch has the least hashes of the values, in order: all of them as long as
 * there are fewer than it holds, so that it counts exactly, and else the last tells how densely they lie. Only this engine reads them.
 */
import type { SqlType } from '../../../../googlesql/types';
import { fail, quoteText } from '../../sql';
import { type FunctionTable, sqlOf } from '../expressions/call';
import type { Context } from '../context';
import type { AggregateRow, Parts } from './aggregate-functions';

/** Sketches in hexadecimal digits: what they begin with, the type of the values, the precision in decimal, hashes of 64 bits. */
const MARK = Buffer.from('LQS1').toString('hex').toUpperCase();
const [TYPE_AT, PRECISION_AT, HASHES_AT] = [MARK.length + 1, MARK.length + 3, MARK.length + 5];
/** Bytes before the hashes, and of a hash. */
const HEAD = (HASHES_AT - 1) / 2;
const HASH = 8;
const HASH_DIGITS = 2 * HASH;

const TYPES: Readonly<Partial<Record<SqlType['kind'], string>>> = {
  INT64: '01',
  NUMERIC: '02',
  BIGNUMERIC: '03',
  STRING: '04',
  BYTES: '05',
};
const [LEAST_PRECISION, MOST_PRECISION, PRECISION] = [10, 24, 15];
/** A precision above it gives no larger sketch: it has two megabytes. */
const LARGEST_PRECISION = 18;

const quotedList = (texts: readonly string[]): string => texts.map(quoteText).join(', ');
const PRECISIONS = Array.from({ length: MOST_PRECISION - LEAST_PRECISION + 1 }, (_, i) => String(LEAST_PRECISION + i));

const NO_SKETCH = "CAST('' AS BLOB)";

const typeOf = (digits: string): string => `substr(${digits}, ${TYPE_AT}, 2)`;
const precisionOf = (digits: string): string => `substr(${digits}, ${PRECISION_AT}, 2)`;

/** How many hashes a sketch holds, by the two digits of its precision. */
const sizeOf = (precision: string): string =>
  `(CAST(1 AS BIGINT) << least(TRY_CAST(${precision} AS INTEGER), ${LARGEST_PRECISION}))`;

/** The digits before the hashes: those of all that somebody hands in may take more memory than there is. */
const headOf = (bytes: string): string => `hex(array_slice(${bytes}, 1, ${HEAD}))`;

/** @param bytes which are no NULL */
function isSketch(bytes: string): string {
  const head = headOf(bytes);
  return (
    `(starts_with(${head}, ${quoteText(MARK)}) AND octet_length(${bytes}) % ${HASH} = ${HEAD % HASH} AND octet_length(${bytes}) >= ${HEAD} ` +
    `AND ${typeOf(head)} IN (${quotedList(Object.values(TYPES))}) AND ${precisionOf(head)} IN (${quotedList(PRECISIONS)}))`
  );
}

/** @param last of as many hashes as a sketch holds */
function estimate(count: string, size: string, last: string): string {
  const density = `CAST(TRY_CAST('0x' || ${last} AS UBIGINT) AS DOUBLE) / 18446744073709551616.0`;
  return `CASE WHEN ${count} < ${size} THEN ${count} ELSE CAST(round((${size} - 1) / (${density})) AS BIGINT) END`;
}

const init: AggregateRow = (p) => {
  const [value, precision] = p.args;
  if (value === undefined) throw new Error('HLL_COUNT.INIT without an argument');
  const type = TYPES[value.type.kind];
  if (type === undefined) throw new Error(`HLL_COUNT.INIT of ${value.type.kind}`);
  if (precision !== undefined && precision.constant === null)
    return p.ctx.unsupported('HLL_COUNT.INIT with a precision that is no literal', p.call.span);
  const chosen = Number(precision?.constant ?? PRECISION);
  const size = 2 ** Math.min(chosen, LARGEST_PRECISION);
  const bytes = ['STRING', 'BYTES'].includes(value.type.kind) ? value.sql : `CAST(${value.sql} AS VARCHAR)`;
  // DuckDB's min of several values sets aside room for all of them in every group.
  const all = gathered(p, `md5_number_upper(${bytes})`, value.sql);
  const h = p.ctx.variable();
  return p.ctx.bind([`list_slice(list_sort(${all}), 1, ${size})`], (hashes) => {
    const digits = `array_to_string(list_transform(${hashes}, lambda ${h}: lpad(to_hex(${h}), ${HASH_DIGITS}, '0')), '')`;
    return `CASE WHEN ${hashes} IS NOT NULL THEN unhex(upper('${MARK}${type}${chosen}' || ${digits})) END`;
  });
};

/**
 * The list of different `values` of the rows where `present` is not NULL. For a frame that grows with each row DuckDB sorts the rows again
 * to find out which values differ, which nothing interrupts: there the list is made of all values first.
 */
function gathered(p: Parts, values: string, present: string): string {
  const all = p.plain('list', [values], { distinct: p.over === null, filter: `${present} IS NOT NULL` });
  return p.over === null ? all : `list_distinct(${all})`;
}

interface Merged {
  readonly type: string;
  readonly precision: string;
  /** Digits of hashes, in order. */
  readonly hashes: string;
}

/** Of all sketches of a group that are not NULL. The least precision is that of the result. */
function merge(p: Parts, none: string, print: (merged: Merged) => string): string {
  const failed = p.call.safe ? 'NULL' : fail('argument', p.call.span);
  const s = p.ctx.variable();
  // Gathered once: an argument is computed as often as it is written. What is no sketch may be long, and fails whatever it is.
  const short = p.ctx.bind([p.at(0)], (bytes) => `CASE WHEN ${isSketch(bytes)} THEN ${bytes} ELSE ${NO_SKETCH} END`);
  return p.ctx.bind([gathered(p, short, p.at(0))], (sketches) => {
    const each = (text: string): string => `list_transform(${sketches}, lambda ${s}: ${text})`;
    const parts = [
      `NOT list_contains(${sketches}, ${NO_SKETCH})`,
      `list_min(${each(typeOf(headOf(s)))})`,
      `list_max(${each(typeOf(headOf(s)))})`,
      `list_min(${each(precisionOf(headOf(s)))})`,
    ] as const;
    const merged = p.ctx.bind(parts, (valid, type, other, precision) => {
      const hashes = mergedHashes(p.ctx, sketches, precision);
      const result = p.ctx.bind([hashes], (least) => print({ type, precision, hashes: least }));
      return `CASE WHEN NOT ${valid} OR ${type} <> ${other} THEN ${failed} ELSE ${result} END`;
    });
    return `CASE WHEN ${sketches} IS NULL THEN ${none} ELSE ${merged} END`;
  });
}

function mergedHashes(ctx: Context, sketches: string, precision: string): string {
  const s = ctx.variable();
  const each = `regexp_extract_all(substr(hex(${s}), ${HASHES_AT}), '.{${HASH_DIGITS}}')`;
  const all = `list_distinct(flatten(list_transform(${sketches}, lambda ${s}: ${each})))`;
  return `list_slice(list_sort(${all}), 1, ${sizeOf(precision)})`;
}

const mergePartial: AggregateRow = (p) =>
  merge(p, 'NULL', ({ type, precision, hashes }) => {
    return `unhex('${MARK}' || ${type} || ${precision} || array_to_string(${hashes}, ''))`;
  });

const mergedCount: AggregateRow = (p) =>
  merge(p, '0', ({ precision, hashes }) => estimate(`len(${hashes})`, sizeOf(precision), `${hashes}[-1]`));

export const SKETCH_AGGREGATES: Readonly<Record<string, AggregateRow>> = {
  'HLL_COUNT.INIT': init,
  'HLL_COUNT.MERGE': mergedCount,
  'HLL_COUNT.MERGE_PARTIAL': mergePartial,
};

export const SKETCH_FUNCTIONS: FunctionTable = {
  'HLL_COUNT.EXTRACT': (call) =>
    call.bind([sqlOf(call, 0)], (bytes) => {
      const count = `((octet_length(${bytes}) - ${HEAD}) // ${HASH})`;
      const counted = estimate(count, sizeOf(precisionOf(headOf(bytes))), `right(hex(${bytes}), ${HASH_DIGITS})`);
      return `CASE WHEN ${bytes} IS NULL THEN 0 WHEN NOT ${isSketch(bytes)} THEN ${call.fail('argument')} ELSE ${counted} END`;
    }),
};
