/** Functions of ARRAY. */
import { type Call, type FunctionTable, arg, same, sqlOf } from '../call';
import { concatArrays } from './operators';

/** Joins with a separator; NULL elements are left out, or stand as the third argument. */
function toText(call: Call): string {
  if (call.type.kind !== 'STRING') return call.unsupported('ARRAY_TO_STRING of BYTES');
  const nullText = call.args[2];
  if (nullText === undefined) return `array_to_string(${sqlOf(call, 0)}, ${sqlOf(call, 1)})`;
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1), nullText.sql],
    (list, separator, text) => `array_to_string(list_transform(${list}, lambda e: coalesce(e, ${text})), ${separator})`,
  );
}

/** Both ends included. */
function generate(call: Call): string {
  const step = call.args[2];
  const kind = call.type.kind === 'ARRAY' ? call.type.element.kind : null;
  if (kind === 'INT64') {
    if (step === undefined) return `generate_series(${sqlOf(call, 0)}, ${sqlOf(call, 1)})`;
    return call.bind(
      [sqlOf(call, 0), sqlOf(call, 1), step.sql],
      (a, b, s) => `CASE WHEN ${s} = 0 THEN ${call.fail('argument')} ELSE generate_series(${a}, ${b}, ${s}) END`,
    );
  }
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1), step?.sql ?? '1'],
    (a, b, s) =>
      `CASE WHEN ${s} = 0 THEN ${call.fail('argument')} ` +
      `ELSE list_transform(generate_series(0, CAST(floor((${b} - ${a}) / ${s}) AS BIGINT)), lambda i: ${a} + i * ${s}) END`,
  );
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
    const place = (i: string): string => `CASE WHEN ${i} < 0 THEN len(${list}) + ${i} + 1 ELSE ${i} + 1 END`;
    return (
      `CASE WHEN ${list} IS NULL OR ${from} IS NULL OR ${to} IS NULL THEN NULL ` +
      `WHEN ${place(to!)} < 1 THEN ${list}[1:0] ELSE list_slice(${list}, greatest(${place(from!)}, 1), ${place(to!)}) END`
    );
  });
}

/** How many bounds are at or below the point. */
function rangeBucket(call: Call): string {
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1)],
    (point, bounds) => `CASE WHEN ${point} IS NOT NULL THEN len(list_filter(${bounds}, lambda e: e <= ${point})) END`,
  );
}

export const ARRAY_FUNCTIONS: FunctionTable = {
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
