/** The table of aggregate and window functions: how each is printed, or that it is refused. */
import { QueryError } from '@logquay/googlesql/types';
import type { AggregateName, AggregateCall, SortKey } from '@logquay/googlesql';
import { printArgument, printCondition, printExpr, printSortKeys } from '../expressions/expressions';
import { type Argument, type Refused, refused } from '../expressions/call';
import type { Context } from '../context';
import { LIMITS } from '../expressions/makers';
import { refuse, refuseTypes } from './function-table';
import {
  averageOfDecimals,
  averageOfIntervals,
  rescaled,
  scaledDown,
  sumOfDecimals,
  sumOfFloatList,
  sumOfIntervals,
} from './sums';
import { percentileCont, percentileDisc } from './percentiles';
import { duckType, fail, physicalFieldNames, quoteText, structOf } from '../../sql';

/** What the printer of one aggregate or window function gets to see. SAFE. is for it to look at: DuckDB has no TRY for aggregates. */
export interface Parts {
  readonly ctx: Context;
  readonly call: AggregateCall;
  readonly args: readonly Argument[];
  /** The OVER clause without the word, null for an aggregate over groups. */
  readonly over: string | null;
  /** `name(DISTINCT args ORDER BY ...) FILTER (...) OVER (...)`. */
  plain(name: string, values: readonly string[], options?: PlainOptions): string;
  at(i: number): string;
}

interface PlainOptions {
  readonly order?: boolean;
  readonly filter?: string;
  readonly ignoreNulls?: boolean;
  readonly distinct?: boolean;
}

export type PrintAggregate = (p: Parts) => string;
type Print = PrintAggregate;

export interface AggregateRow {
  readonly emit: Print;
  /** Its state is a few numbers, of however many rows. */
  readonly isFixed: boolean;
  /** It gives the same for the same rows in any order, of what is no FLOAT64. */
  readonly isFreeOfOrder: boolean;
  /** What users should know (docs/dialect.md). */
  readonly note?: string;
}

const tally = (emit: Print): AggregateRow => ({ emit, isFixed: true, isFreeOfOrder: true });
const ofValues = (emit: Print, note = ''): AggregateRow => ({ emit, isFixed: false, isFreeOfOrder: true, note });
const ofFloats = (emit: Print): AggregateRow => ({ emit, isFixed: true, isFreeOfOrder: false });
const ofRows = (emit: Print, note = ''): AggregateRow => ({ emit, isFixed: false, isFreeOfOrder: false, note });

interface Rows {
  /** The OVER clause without the word. */
  readonly over?: string | null;
  /** The condition for a row of a group to count. */
  readonly filter?: string | null;
}

export function printAggregateCall(
  ctx: Context,
  call: AggregateCall,
  { over = null, filter: of = null }: Rows = {},
): string {
  const row = AGGREGATES[call.function];
  if ('instead' in row) return refuse(ctx, call, row);
  refuseTypes(ctx, call);
  const args = call.args.map((a) => printArgument(ctx, a, call.function === 'COUNTIF' ? printCondition : printExpr));
  const parts: Parts = {
    ctx,
    call,
    args,
    over,
    at: (i) => {
      const argument = args[i];
      if (argument === undefined) throw new Error(`${call.function}: argument ${i + 1} is missing`);
      return argument.sql;
    },
    plain: (name, values, { order = false, filter, ignoreNulls = false, distinct = call.distinct } = {}) => {
      const conditions = [of, filter].filter((condition) => condition !== null && condition !== undefined);
      const keys = order && !call.distinct ? printSortKeys(ctx, call.orderBy) : [];
      const inside =
        (distinct ? 'DISTINCT ' : '') +
        values.join(', ') +
        (keys.length > 0 ? ` ORDER BY ${keys.join(', ')}` : '') +
        (ignoreNulls ? ' IGNORE NULLS' : '');
      return `${name}(${inside})${conditions.length === 0 ? '' : ` FILTER (WHERE ${conditions.join(' AND ')})`}${over === null ? '' : ` OVER ${over}`}`;
    },
  };
  return row.emit(parts);
}

const named =
  (name: string): Print =>
  (p) =>
    p.plain(
      name,
      p.args.map((a) => a.sql),
    );

const nth =
  (name: string): Print =>
  (p) =>
    p.plain(
      name,
      p.args.map((a) => a.sql),
      { ignoreNulls: p.call.nulls === 'ignore' },
    );

/** DuckDB's sum of BIGINT is wider than GoogleSQL's, which fails where the value does not fit. */
const sumOfIntegers: Print = (p) => `${p.call.safe ? 'TRY_CAST' : 'CAST'}(${p.plain('sum', [p.at(0)])} AS BIGINT)`;

/** NaN is smaller than every number for MIN in GoogleSQL, and the greatest of all in DuckDB. */
const minimum: Print = (p) => {
  const text = extreme(p, 'min');
  if (p.args[0]?.type.kind !== 'FLOAT64') return text;
  return `CASE WHEN ${p.plain('bool_or', [`isnan(${p.at(0)})`])} THEN CAST('NaN' AS DOUBLE) ELSE ${text} END`;
};

function extreme(p: Parts, name: 'min' | 'max'): string {
  return p.plain(name, [p.at(0)]);
}

const anyValue: Print = (p) => {
  const { having } = p.call;
  if (having === null) {
    // A window frame may not reorder, so any value is its first one.
    return p.over === null ? p.plain('any_value', [p.at(0)]) : p.plain('first_value', [p.at(0)]);
  }
  const by = printArgument(p.ctx, having.expr).sql;
  const text = byOther(p, having.kind === 'max' ? 'arg_max' : 'arg_min', by);
  // NaN is the extreme as soon as it is there, and equal to none.
  if (having.expr.type.kind !== 'FLOAT64') return text;
  return `CASE WHEN ${p.plain('bool_or', [`isnan(${by})`])} THEN NULL ELSE ${text} END`;
};

/** The first argument of the row with the extreme `by`, in a record, so that a NULL of that row is found too. */
function byOther(p: Parts, name: 'arg_max' | 'arg_min', by: string): string {
  return `struct_extract(${p.plain(name, [structOf([['v', p.at(0)]]), by])}, 'v')`;
}

/** Of no values the list is NULL. */
function limited(p: Parts, list: string): string {
  if (p.call.limit === null) return list;
  const { sql } = printArgument(p.ctx, p.call.limit);
  return `CASE WHEN ${sql} > 0 THEN list_slice(${list}, 1, ${sql}) END`;
}

/** With DISTINCT values are ordered by themselves alone, which DuckDB takes of the same text only. */
function inOwnOrder(p: Parts, list: string): string {
  const [key] = p.call.orderBy;
  if (!p.call.distinct || key === undefined) return list;
  return inOrder(p.ctx, list, key);
}

const arrayAgg: Print = (p) => {
  const filter = p.call.nulls === 'ignore' ? { filter: `${p.at(0)} IS NOT NULL` } : {};
  return limited(p, inOwnOrder(p, p.plain('list', [p.at(0)], { order: true, ...filter })));
};

const stringAgg: Print = (p) => {
  const separator = p.args.length > 1 ? p.at(1) : quoteText(',');
  if (p.args[0]?.type.kind !== 'BYTES') return joinedTexts(p, p.at(0), separator);
  // The digits of BYTES are in the order of the BYTES, too.
  return `unhex(${joinedTexts(p, `hex(${p.at(0)})`, `hex(${separator})`)})`;
};

function joinedTexts(p: Parts, text: string, separator: string): string {
  const isSorted = p.call.distinct && p.call.orderBy.length > 0;
  if (p.call.limit === null && !isSorted) return p.plain('string_agg', [text, separator], { order: true });
  const list = limited(p, inOwnOrder(p, p.plain('list', [text], { order: true, filter: `${p.at(0)} IS NOT NULL` })));
  return p.ctx.bind([list], (l) => `CASE WHEN ${l} IS NOT NULL THEN array_to_string(${l}, ${separator}) END`);
}

/**
 * A sum that lies beyond FLOAT64 is an error. Multiplied by a power of two, which loses nothing of numbers that large, no sum of
 * finite numbers does, and what goes beyond on the way comes out right.
 */
const sumOfFloats: Print = (p) =>
  p.ctx.bind([p.plain('sum', [p.at(0)]), p.plain('sum', [scaledDown(p.at(0))])], (sum, scaled) =>
    rescaled(sum, scaled, p.call.safe ? 'NULL' : fail('overflow', p.call.span)),
  );

const average: Print = (p) => {
  const kind = p.args[0]?.type.kind;
  if (kind === 'NUMERIC') return averageOfDecimals(p);
  if (kind === 'INTERVAL') return averageOfIntervals(p);
  if (kind !== 'FLOAT64') return p.plain('avg', [p.at(0)]);
  // The mean of finite numbers is finite.
  return p.ctx.bind([p.plain('avg', [p.at(0)]), p.plain('avg', [scaledDown(p.at(0))])], (mean, scaled) =>
    rescaled(mean, scaled, 'NULL'),
  );
};

/** The literal number of a function's last argument. @throws QueryError where it is not a literal, or out of bounds */
function numberUpTo(p: Parts, most: number): string {
  const { constant, expr } = p.args.at(-1) ?? { constant: null, expr: null };
  if (constant === null || expr === null) {
    return p.ctx.unsupported(`${p.call.function} with a number that is no literal`, p.call.span);
  }
  if (Number(constant) < 1 || Number(constant) > most) {
    const words = `The last argument of ${p.call.function} must be between 1 and ${most}`;
    throw new QueryError('invalidQuery', words, expr.span);
  }
  return constant;
}

/**
 * The exact quantiles, which are as good as any approximation of them: of all values in order, those at the places where
 * DuckDB's own quantiles are. That function keeps its values outside of the memory that it accounts for, and looks for
 * each quantile in all of them.
 */
const approxQuantiles: Print = (p) => {
  const count = numberUpTo(p, LIMITS.quantiles);
  if (p.over !== null) return p.ctx.unsupported('APPROX_QUANTILES with OVER', p.call.span);
  const [value] = p.args;
  if (value === undefined) throw new Error('APPROX_QUANTILES without an argument');
  const filter = p.call.nulls === 'respect' ? {} : { filter: `${value.sql} IS NOT NULL` };
  const i = p.ctx.variable();
  const sorted = inOrder(p.ctx, p.plain('list', [value.sql], filter), {
    expr: value.expr,
    descending: false,
    nullsFirst: true,
  });
  return p.ctx.bind([sorted], (l) => {
    const place = `greatest(1, len(${l}) - CAST(floor(len(${l}) - len(${l}) * (${i} / ${count})) AS BIGINT))`;
    return `CASE WHEN len(${l}) > 0 THEN list_transform(range(0, ${count} + 1), lambda ${i}: ${l}[${place}]) END`;
  });
};

/** The values that come most often, exactly counted: records of value and count, NULL being a value. */
const approxTopCount: Print = (p) => {
  const count = numberUpTo(p, LIMITS.topValues);
  if (p.over !== null) return p.ctx.unsupported('APPROX_TOP_COUNT with OVER', p.call.span);
  if (p.call.type.kind !== 'ARRAY' || p.call.type.element.kind !== 'STRUCT') throw new Error('no array of records');
  const [value, times] = physicalFieldNames(p.call.type.element.fields).map(quoteText);
  const [entry, top] = [p.ctx.variable(), p.ctx.variable()];
  const counts = `map_entries(${p.plain('histogram', [p.at(0)])})`;
  // With DISTINCT NULL is there once, like every value.
  const nulls = p.plain('count', [p.call.distinct ? '1' : '*'], { filter: `${p.at(0)} IS NULL` });
  return p.ctx.bind([counts, nulls], (c, n) => {
    const pairs = `list_transform(${c}, lambda ${entry}: {'n': CAST(${entry}."value" AS BIGINT), 'v': ${entry}."key"})`;
    const all = `CASE WHEN ${n} > 0 THEN list_append(${pairs}, {'n': ${n}, 'v': NULL}) ELSE ${pairs} END`;
    const sorted = `list_slice(list_sort(${all}, 'DESC'), 1, ${count})`;
    return `list_transform(${sorted}, lambda ${top}: {${value}: ${top}."v", ${times}: ${top}."n"})`;
  });
};

/** The values with the largest sums of weights, exactly: of all pairs in the order of their values, a sum for each run of the same. */
const approxTopSum: Print = (p) => {
  const count = numberUpTo(p, LIMITS.topValues);
  if (p.over !== null) return p.ctx.unsupported('APPROX_TOP_SUM with OVER', p.call.span);
  if (p.call.type.kind !== 'ARRAY' || p.call.type.element.kind !== 'STRUCT') throw new Error('no array of records');
  const [, summed] = p.call.type.element.fields;
  if (summed === undefined) throw new Error('APPROX_TOP_SUM without a sum');
  const [value, sum] = physicalFieldNames(p.call.type.element.fields).map(quoteText);
  const [i, k, e, top] = [p.ctx.variable(), p.ctx.variable(), p.ctx.variable(), p.ctx.variable()];
  const pairs = p.plain('list', [
    structOf([
      ['v', p.at(0)],
      ['w', p.at(1)],
    ]),
  ]);
  return p.ctx.bind([`list_sort(${pairs})`], (l) => {
    const isFirst = `${i} = 1 OR ${l}[${i}]."v" IS DISTINCT FROM ${l}[${i} - 1]."v"`;
    return p.ctx.bind([`list_filter(range(1, len(${l}) + 1), lambda ${i}: ${isFirst})`], (firsts) => {
      // DuckDB copies the whole list for each run that it takes out of it.
      const isTooMuch = `len(${firsts}) * len(${l}) > ${LIMITS.topSumSteps}`;
      const run = `list_slice(${l}, ${firsts}[${k}], coalesce(${firsts}[${k} + 1] - 1, len(${l})))`;
      const failing = p.call.safe ? 'NULL' : fail('overflow', p.call.span);
      const weights = `list_transform(${run}, lambda ${e}: ${e}."w")`;
      const total =
        summed.type.kind === 'FLOAT64'
          ? sumOfFloatList((values, body) => p.ctx.bind(values, body), weights, failing)
          : `CAST(list_sum(${weights}) AS ${duckType(summed.type)})`;
      const sums = `list_transform(range(1, len(${firsts}) + 1), lambda ${k}: {'s': ${total}, 'v': ${l}[${firsts}[${k}]]."v"})`;
      // NaN is below all numbers, and a sum of nothing below that.
      const number = summed.type.kind === 'FLOAT64' ? `WHEN isnan(${e}."s") THEN 1 ` : '';
      const rank = `CASE WHEN ${e}."s" IS NULL THEN 0 ${number}ELSE 2 END`;
      const ranked = `list_transform(${sums}, lambda ${e}: {'n': ${rank}, 's': ${e}."s", 'v': ${e}."v"})`;
      const sorted = `list_slice(list_sort(${ranked}, 'DESC'), 1, ${count})`;
      const largest = `list_transform(${sorted}, lambda ${top}: {${value}: ${top}."v", ${sum}: ${top}."s"})`;
      return `CASE WHEN ${isTooMuch} THEN ${p.call.safe ? 'NULL' : fail('size', p.call.span)} ELSE ${largest} END`;
    });
  });
};

/** NaN as soon as a value is not finite, of which DuckDB raises an error; NULL of one value or pair unless `ofOne`. */
const statistics =
  (name: string, ofOne: boolean): Print =>
  (p) => {
    const values = p.args.map((a) => (a.type.kind === 'FLOAT64' ? a.sql : `CAST(${a.sql} AS DOUBLE)`));
    const pairs = values.length === 2 ? p.plain('regr_count', values) : p.plain('count', values);
    const checked = ofOne ? null : `CASE WHEN ${pairs} > 1 THEN`;
    const floats = p.args.filter((a) => a.type.kind === 'FLOAT64').map((a) => a.sql);
    if (floats.length === 0)
      return checked === null ? p.plain(name, values) : `${checked} ${p.plain(name, values)} END`;
    const all = values.map((value) => `${value} IS NOT NULL`).join(' AND ');
    const wild = p.plain('bool_or', [`(${floats.map((x) => `NOT isfinite(${x})`).join(' OR ')}) AND ${all}`]);
    const finite = [
      `CASE WHEN ${floats.map((x) => `isfinite(${x})`).join(' AND ')} THEN ${values[0]!} END`,
      ...values.slice(1),
    ];
    const text = `CASE WHEN ${wild} THEN CAST('NaN' AS DOUBLE) ELSE ${p.plain(name, finite)} END`;
    return checked === null ? text : `${checked} ${text} END`;
  };

/** What becomes of every aggregate and window function on the embedded engine, by the names of the language's table. */
export const AGGREGATES: Readonly<Record<AggregateName, AggregateRow | Refused>> = {
  $count_star: tally((p) => {
    const count = p.plain('count', ['*']);
    // DuckDB's is negative where a frame ends before it begins.
    return p.over === null ? count : `greatest(${count}, 0)`;
  }),
  COUNT: tally(named('count')),
  COUNTIF: tally((p) => p.plain('count', [`CASE WHEN ${p.at(0)} THEN true END`])),
  SUM: tally((p) =>
    p.args[0]?.type.kind === 'FLOAT64'
      ? sumOfFloats(p)
      : p.args[0]?.type.kind === 'INTERVAL'
        ? sumOfIntervals(p)
        : p.args[0]?.type.kind === 'INT64'
          ? sumOfIntegers(p)
          : sumOfDecimals(p),
  ),
  AVG: tally(average),
  MIN: tally(minimum),
  MAX: tally((p) => extreme(p, 'max')),
  MAX_BY: ofRows((p) => byOther(p, 'arg_max', p.at(1))),
  MIN_BY: ofRows((p) => byOther(p, 'arg_min', p.at(1))),
  ANY_VALUE: ofRows(anyValue),
  ARRAY_AGG: ofRows(arrayAgg),
  ARRAY_CONCAT_AGG: ofRows(
    (p) => `flatten(${limited(p, p.plain('list', [p.at(0)], { order: true, filter: `${p.at(0)} IS NOT NULL` }))})`,
  ),
  STRING_AGG: ofRows(stringAgg),
  LOGICAL_AND: tally(named('bool_and')),
  LOGICAL_OR: tally(named('bool_or')),
  BIT_AND: tally(named('bit_and')),
  BIT_OR: tally(named('bit_or')),
  BIT_XOR: tally(named('bit_xor')),
  APPROX_COUNT_DISTINCT: ofValues((p) => p.plain('count', [p.at(0)], { distinct: true }), 'exact'),
  APPROX_QUANTILES: ofRows(approxQuantiles, 'exact; the number is a literal; no `OVER`'),
  APPROX_TOP_COUNT: ofRows(approxTopCount, 'exact; no `OVER`'),
  APPROX_TOP_SUM: ofRows(approxTopSum, 'exact; no `OVER`'),
  STDDEV_POP: ofFloats(statistics('stddev_pop', true)),
  STDDEV_SAMP: ofFloats(statistics('stddev_samp', false)),
  VAR_POP: ofFloats(statistics('var_pop', true)),
  VAR_SAMP: ofFloats(statistics('var_samp', false)),
  CORR: ofFloats(statistics('corr', false)),
  COVAR_POP: ofFloats(statistics('covar_pop', true)),
  COVAR_SAMP: ofFloats(statistics('covar_samp', false)),
  PERCENTILE_CONT: ofRows(percentileCont, 'the fraction is a literal; no `RESPECT NULLS` of NUMERIC'),
  PERCENTILE_DISC: ofRows(percentileDisc, 'the fraction is a literal'),
  GROUPING: ofValues((p) => `CAST(grouping(${p.at(0)}) AS BIGINT)`),
  ROW_NUMBER: ofRows(named('row_number')),
  RANK: ofRows(named('rank')),
  DENSE_RANK: ofRows(named('dense_rank')),
  PERCENT_RANK: ofRows(named('percent_rank')),
  CUME_DIST: ofRows(named('cume_dist')),
  NTILE: ofRows(named('ntile')),
  LAG: ofRows(nth('lag')),
  LEAD: ofRows(nth('lead')),
  FIRST_VALUE: ofRows(nth('first_value')),
  LAST_VALUE: ofRows(nth('last_value')),
  NTH_VALUE: ofRows(nth('nth_value')),
  'HLL_COUNT.INIT': refused('APPROX_COUNT_DISTINCT(x)'),
  'HLL_COUNT.MERGE': refused(),
  'HLL_COUNT.MERGE_PARTIAL': refused(),
};

/** What is said of the function of a call, which is there. */
export function aggregateRow({
  function: name,
}: Pick<AggregateCall, 'function'>): Pick<AggregateRow, 'isFixed' | 'isFreeOfOrder'> {
  const row = AGGREGATES[name];
  return 'instead' in row ? { isFixed: false, isFreeOfOrder: false } : row;
}

/**
 * `list` sorted by its elements, which have the type of the key. NaN is below all numbers, where DuckDB has it above them; and it
 * compares the INTERVALs of a list part by part.
 */
export function inOrder(ctx: Context, list: string, { expr, descending, nullsFirst }: SortKey): string {
  const direction = descending ? 'DESC' : 'ASC';
  const { kind } = expr.type;
  if (kind !== 'FLOAT64' && kind !== 'INTERVAL')
    return `list_sort(${list}, '${direction}', 'NULLS ${nullsFirst ? 'FIRST' : 'LAST'}')`;
  const x = ctx.variable();
  const number = kind === 'FLOAT64' ? `WHEN isnan(${x}) THEN 1 ` : '';
  const ranked = structOf([
    ['r', `CASE WHEN ${x} IS NULL THEN ${nullsFirst === descending ? 3 : 0} ${number}ELSE 2 END`],
    ['k', kind === 'INTERVAL' ? `lq_interval_length(${x})` : x],
    ['v', x],
  ]);
  return `list_transform(list_sort(list_transform(${list}, lambda ${x}: ${ranked}), '${direction}'), lambda ${x}: ${x}."v")`;
}
