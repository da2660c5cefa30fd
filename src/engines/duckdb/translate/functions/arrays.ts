/** Functions of ARRAY. */
import { type Call, type FunctionTable, arg, same, sqlOf } from '../expressions/call';
import { mostElements, mostJoined, unlessOver } from '../expressions/size-bounds';
import { concatArrays } from './operators';
import { duckType } from '../../sql';
import { withLists } from '../parts/physical-type';

/** Joins with a separator; NULL elements are left out, or stand as the third argument. */
function toText(call: Call): string {
  if (call.type.kind !== 'STRING') return call.unsupported('ARRAY_TO_STRING of BYTES');
  const [separator, nullText] = [arg(call, 1), call.args[2]];
  if (separator.expr.kind !== 'literal' && separator.expr.kind !== 'parameter')
    return call.unsupported('ARRAY_TO_STRING with a computed separator');
  const short = [separator, ...(nullText === undefined ? [] : [nullText])].every(
    (a) => a.constant !== null && a.constant.length < SHORT,
  );
  if (separator.expr.kind === 'literal' && separator.constant === null) return 'CAST(NULL AS VARCHAR)';
  if (short && nullText === undefined) return `array_to_string(${sqlOf(call, 0)}, ${separator.sql})`;
  return call.bind([sqlOf(call, 0), ...(nullText === undefined ? [] : [nullText.sql])], (list, text) => {
    const all = text === undefined ? list : `list_transform(${list}, lambda e: coalesce(e, ${text}))`;
    const given = [separator, ...(nullText === undefined ? [] : [{ ...nullText, sql: text }])];
    const nulls = given.flatMap((a) => (a.constant === null ? [`${a.sql} IS NULL`] : []));
    const plain = `array_to_string(${all}, ${separator.sql})`;
    const joining = nulls.length === 0 ? plain : `CASE WHEN NOT (${nulls.join(' OR ')}) THEN ${plain} END`;
    if (short) return joining;
    const longest = [separator.sql, ...(text === undefined ? [] : [text])].map((t) => `coalesce(strlen(${t}), 0)`);
    return unlessOver(call, `len(${list}) * (${longest.join(' + ')}) > ${mostJoined(call)}`, joining);
  });
}

/** Characters that each element of a joined array may bring with it, without a look at how many there are. */
const SHORT = 64;

/** Both ends included. */
function generate(call: Call): string {
  const step = call.args[2];
  const kind = call.type.kind === 'ARRAY' ? call.type.element.kind : null;
  const most = mostElements(call);
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
      return `CASE WHEN ${s} = 0 THEN ${call.fail('argument')} ELSE ${unlessOver(call, over, series)} END`;
    });
  }
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1), step?.sql ?? '1'],
    (a, b, s) =>
      `CASE WHEN ${[a, b, s].map((x) => `${x} IS NULL`).join(' OR ')} THEN NULL WHEN ${[`${s} = 0`, ...(kind === 'FLOAT64' ? [...[a, b, s].map((x) => `isnan(${x})`), `isinf(${s})`] : [])].join(' OR ')} THEN ${call.fail('argument')} ` +
      `WHEN ${a} = ${b} THEN [${a}] WHEN CASE WHEN ${s} > 0 THEN ${a} > ${b} ELSE ${a} < ${b} END THEN CAST([] AS ${duckType(call.type)}) ` +
      `WHEN (CAST(${b} AS DOUBLE) - CAST(${a} AS DOUBLE)) / CAST(${s} AS DOUBLE) >= ${most} THEN ${call.fail('size')} ` +
      `ELSE list_transform(generate_series(0, ${call.bind(
        [`CAST(floor(least(greatest((${b} - ${a}) / ${s}, -1), ${most})) AS BIGINT)`],
        // The quotient of doubles may be rounded up.
        (n) =>
          kind === 'FLOAT64' ? `${n} - CASE WHEN (${a} + ${n} * ${s} - ${b}) * sign(${s}) > 0 THEN 1 ELSE 0 END` : n,
      )}), lambda i: ${a} + i * ${s}) END`,
  );
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

export const ARRAY_FUNCTIONS: FunctionTable = {
  // Of parts/place.ts.
  $to_json: (call) =>
    `to_json(${arg(call, 0).type.kind === 'ARRAY' ? `coalesce(${sqlOf(call, 0)}, [])` : sqlOf(call, 0)})`,
  $with_lists: (call) => call.bind([sqlOf(call, 0)], (value) => withLists(value, arg(call, 0).type, call.type)),
  ARRAY_CONCAT: (call) => (call.args.length === 1 ? arg(call, 0).sql : concatArrays(call)),
  ARRAY_FIRST: end(false),
  ARRAY_LAST: end(true),
  ARRAY_LENGTH: same('len'),
  ARRAY_REVERSE: same('list_reverse'),
  ARRAY_SLICE: slice,
  ARRAY_TO_STRING: toText,
  COSINE_DISTANCE: { emit: same('list_cosine_distance'), raises: true },
  EUCLIDEAN_DISTANCE: { emit: same('list_distance'), raises: true },
  GENERATE_ARRAY: generate,
  RANGE_BUCKET: rangeBucket,
};
