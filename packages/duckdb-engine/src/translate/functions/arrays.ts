/** Functions of ARRAY. */
import {
  type Argument,
  type Call,
  type FunctionTable,
  arg,
  nullFirst,
  raising,
  same,
  sqlOf,
} from '../expressions/call';
import { LIMITS, unlessOver } from '../expressions/makers';
import { concatArrays } from './operators';
import { duckType, quoteText } from '../../sql';
import { withLists } from '../parts/physical-type';

/** Joins with a separator; NULL elements are left out, or stand as the third argument. */
function toText(call: Call): string {
  if (call.type.kind === 'BYTES') return toBytes(call);
  const [separator, nullText] = [arg(call, 1), call.args[2]];
  if (separator.expr.kind !== 'literal' && separator.expr.kind !== 'parameter') return toComputedText(call);
  const short = [separator, ...(nullText === undefined ? [] : [nullText])].every(
    (a) => a.constant !== null && a.constant.length < SHORT,
  );
  if (separator.expr.kind === 'literal' && separator.constant === null) return 'CAST(NULL AS VARCHAR)';
  return call.bind([sqlOf(call, 0), ...(nullText === undefined ? [] : [nullText.sql])], (list, text) => {
    const all = text === undefined ? list : `list_transform(${list}, lambda e: coalesce(e, ${text}))`;
    const given = [separator, ...(nullText === undefined ? [] : [{ ...nullText, sql: text }])];
    const nulls = given.flatMap((a) => (a.constant === null ? [`${a.sql} IS NULL`] : []));
    const joined = `array_to_string(${all}, ${separator.sql})`;
    // DuckDB joins nothing but NULLs to NULL.
    const plain = text === undefined ? `CASE WHEN ${list} IS NOT NULL THEN coalesce(${joined}, '') END` : joined;
    const joining = nulls.length === 0 ? plain : `CASE WHEN NOT (${nulls.join(' OR ')}) THEN ${plain} END`;
    if (short) return joining;
    const longest = [separator.sql, ...(text === undefined ? [] : [text])].map((t) => `coalesce(strlen(${t}), 0)`);
    return unlessOver(call, `len(${list}) * (${longest.join(' + ')}) > ${LIMITS.made}`, joining);
  });
}

/**
 * The same where the separator is known only with each row, which DuckDB's function does not take: it goes before each element but
 * the first.
 */
function toComputedText(call: Call): string {
  const [, separator, nullText] = call.args.map((a) => a.sql);
  return call.bind([sqlOf(call, 0), separator!, ...(nullText === undefined ? [] : [nullText])], (list, by, text) => {
    const values = text === undefined ? `list_filter(${list}, lambda e: e IS NOT NULL)` : list;
    const value = text === undefined ? 'e' : `coalesce(e, ${text})`;
    const texts = `list_transform(${values}, lambda e, i: CASE WHEN i = 1 THEN ${value} ELSE ${by} || ${value} END)`;
    const longest = [by, ...(text === undefined ? [] : [text])].map((t) => `coalesce(strlen(${t}), 0)`);
    const over = `len(${list}) * (${longest.join(' + ')}) > ${LIMITS.made}`;
    const nulls = [list, by, ...(text === undefined ? [] : [text])].map((x) => `${x} IS NULL`);
    return `CASE WHEN ${nulls.join(' OR ')} THEN NULL ELSE ${unlessOver(call, over, `coalesce(array_to_string(${texts}, ''), '')`)} END`;
  });
}

/** Of BYTES by their hexadecimal digits. */
function toBytes(call: Call): string {
  const type = { kind: 'STRING' } as const;
  const args = call.args.map((a, i): Argument => {
    if (i === 0)
      return { ...a, type: { kind: 'ARRAY', element: type }, sql: `list_transform(${a.sql}, lambda e: hex(e))` };
    if (a.constant === null) return { ...a, type, sql: `hex(${a.sql})` };
    const digits = Buffer.from(a.constant, 'latin1').toString('hex').toUpperCase();
    return { ...a, type, sql: quoteText(digits), constant: digits };
  });
  return `unhex(${toText({ ...call, args, type })})`;
}

/** Characters that each element of a joined array may bring with it, without a look at how many there are. */
const SHORT = 64;

/** Both ends included. */
function generate(call: Call): string {
  const step = call.args[2];
  const kind = call.type.kind === 'ARRAY' ? call.type.element.kind : null;
  const most = LIMITS.elements;
  if (kind === 'INT64') {
    const count = literalCount(call);
    if (count !== null && count < most) {
      const [from, to, by] = call.args.map((a) => a.sql);
      // What is constant is made when the query is planned, value by value: 1 s for a million of them, 5 ms for a series.
      const end = count > MOST_PLANNED ? `CASE WHEN random() < 2 THEN ${to} END` : to;
      return `generate_series(${from}, ${end}${by === undefined ? '' : `, ${by}`})`;
    }
    return call.bind([sqlOf(call, 0), sqlOf(call, 1), step?.sql ?? '1::BIGINT'], (a, b, s) => {
      const over = `(CAST(${b} AS HUGEINT) - ${a}) / ${s} >= ${most}`;
      const series = `generate_series(${a}, CASE WHEN ${over} THEN ${a} ELSE ${b} END, ${s})`;
      return `CASE WHEN ${a} IS NULL OR ${b} IS NULL THEN NULL WHEN ${s} = 0 THEN ${call.fail('argument')} ELSE ${unlessOver(call, over, series)} END`;
    });
  }
  const series = kind === 'FLOAT64' ? ofFloats : ofDecimals;
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1), step?.sql ?? (kind === 'FLOAT64' ? '1' : 'CAST(1 AS DECIMAL(38, 9))')],
    (a, b, s) =>
      `CASE WHEN ${[a, b, s].map((x) => `${x} IS NULL`).join(' OR ')} THEN NULL WHEN ${[`${s} = 0`, ...(kind === 'FLOAT64' ? [...[a, b, s].map((x) => `isnan(${x})`), `isinf(${s})`] : [])].join(' OR ')} THEN ${call.fail('argument')} ` +
      `WHEN ${a} = ${b} THEN [${a}] WHEN CASE WHEN ${s} > 0 THEN ${a} > ${b} ELSE ${a} < ${b} END THEN CAST([] AS ${duckType(call.type)}) ` +
      `WHEN (CAST(${b} AS DOUBLE) - CAST(${a} AS DOUBLE)) / CAST(${s} AS DOUBLE) >= ${most} THEN ${call.fail('size')} ` +
      `ELSE ${series(call, a, b, s, most)} END`,
  );
}

function ofFloats(call: Call, a: string, b: string, s: string, most: number): string {
  const steps = call.bind(
    [`CAST(floor(least(greatest((${b} - ${a}) / ${s}, -1), ${most})) AS BIGINT)`],
    // The quotient may be rounded up.
    (n) => `${n} - CASE WHEN (${a} + ${n} * ${s} - ${b}) * sign(${s}) > 0 THEN 1 ELSE 0 END`,
  );
  return `list_transform(generate_series(0, ${steps}), lambda i: ${a} + i * ${s})`;
}

/** In units of the last digit, upwards; neither the distance of the ends nor that from the first to the last but one need be a NUMERIC. */
function ofDecimals(call: Call, a: string, b: string, s: string, most: number): string {
  const upwards = [`lq_digits(${a}) * sign(${s})`, `lq_digits(${b}) * sign(${s})`, `abs(lq_digits(${s}))`];
  return call.bind(upwards, (from, to, by) => {
    const [before, behind] = [`${from} % ${by}`, `${to} % ${by}`];
    const both = `${before} <= 0 AND ${behind} >= 0 AND ${behind} - ${by} >= ${before}`;
    const carry = `CASE WHEN ${behind} < ${before} THEN -1 WHEN ${both} THEN 1 ELSE 0 END`;
    const steps = `CAST(least(greatest(${to} // ${by} - ${from} // ${by} + ${carry}, -1), ${most}) AS BIGINT)`;
    const units = `${from} + i // 2 * ${by} + i // 2 * ${by} + i % 2 * ${by}`;
    return `list_transform(generate_series(0, ${steps}), lambda i: CAST(lq_of_digits((${units}) * sign(${s})) AS DECIMAL(38, 9)))`;
  });
}

/** Elements of an array that is made when the query is planned. */
const MOST_PLANNED = 2_048;

/** Steps between the ends where both and the step are literals. */
function literalCount(call: Call): number | null {
  const [from, to, step] = call.args.map((a) => (a.constant === null ? null : Number(a.constant)));
  if (from === null || from === undefined || to === null || to === undefined || step === null || step === 0)
    return null;
  return (to - from) / (step ?? 1);
}

function end(last: boolean): (call: Call) => string {
  return (call) =>
    call.bind(
      [sqlOf(call, 0)],
      (list) =>
        `CASE WHEN len(${list}) = 0 THEN ${call.fail('subscript')} ELSE list_extract(${list}, ${last ? -1 : 1}) END`,
    );
}

/** Offsets from 0, negative ones from the end, both included. */
function slice(call: Call): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1), sqlOf(call, 2)], (list, from, to) => {
    const place = (i: string): string =>
      `CASE WHEN ${i} < 0 THEN len(${list}) + ${i} ELSE least(${i}, len(${list})) END + 1`;
    return (
      `CASE WHEN ${list} IS NULL OR ${from} IS NULL OR ${to} IS NULL THEN NULL ` +
      `WHEN ${place(to)} < 1 THEN ${list}[1:0] ELSE list_slice(${list}, greatest(${place(from)}, 1), ${place(to)}) END`
    );
  });
}

/** How many bounds are at or below the point. */
function rangeBucket(call: Call): string {
  const nan = arg(call, 0).type.kind === 'FLOAT64';
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1)],
    (point, bounds) =>
      `CASE WHEN ${point} IS NULL${nan ? ` OR isnan(${point})` : ''} THEN NULL${nan ? ` WHEN list_bool_or(list_transform(${bounds}, lambda e: isnan(e))) THEN ${call.fail('argument')}` : ''} WHEN list_sort(${bounds}) <> ${bounds} THEN ${call.fail('argument')} ` +
      `ELSE len(list_filter(${bounds}, lambda e: e <= ${point})) END`,
  );
}

export const ARRAY_FUNCTIONS = {
  // Of parts/place.ts.
  $to_json: (call) =>
    `to_json(${arg(call, 0).type.kind === 'ARRAY' ? `coalesce(${sqlOf(call, 0)}, [])` : sqlOf(call, 0)})`,
  $with_lists: (call) => call.bind([sqlOf(call, 0)], (value) => withLists(value, arg(call, 0).type, call.type)),
  ARRAY_CONCAT: (call) => (call.args.length === 1 ? arg(call, 0).sql : concatArrays(call)),
  ARRAY_FIRST: end(false),
  ARRAY_LAST: end(true),
  ARRAY_LENGTH: same('len'),
  ARRAY_REVERSE: same('list_reverse'),
  ARRAY_SLICE: nullFirst(slice),
  ARRAY_TO_STRING: toText,
  COSINE_DISTANCE: raising(same('list_cosine_distance')),
  EUCLIDEAN_DISTANCE: raising(same('list_distance')),
  GENERATE_ARRAY: nullFirst(generate),
  RANGE_BUCKET: nullFirst(rangeBucket),
} satisfies FunctionTable;
