/** JSON, as text and as a value. Text that is no JSON gives NULL. */
import { QueryError, JsonPathFault, type JsonPathForm, jsonPathSteps, type SqlType } from '@logquay/googlesql/types';
import { type Argument, type Call, type FunctionTable, arg, noted, isName, sqlOf } from '../expressions/call';
import { doubleOfDecimal, datetimeText, numericText, timeText } from '../expressions/casts';
import { rewritten } from '../expressions/makers';
import { ownFunction } from './own-functions';
import { duckType, physicalFieldNames, quoteName, quoteText, structOf } from '../../sql';

const LAX = /^(?:lax|recursive)\s/i;
/** Digits that GoogleSQL reads as an index, but a JSON pointer only as a key. */
const OTHER_INDEX = /^\s*-?\d+\s*$/;
const SAME_INDEX = /^(?:-?[1-9]\d*|0)$/;

/** The literal of a JSONPath as its steps; null: the path is NULL, or invalid under SAFE. */
function pathSteps(call: Call, { expr, constant }: Argument, form: JsonPathForm): string[] | null {
  if (expr.kind === 'literal' && constant === null) return null;
  if (constant === null) return call.unsupported('JSONPath that is no literal');
  if (LAX.test(constant)) return call.unsupported('lax JSONPath');
  try {
    return jsonPathSteps(constant, form);
  } catch (error) {
    if (!(error instanceof JsonPathFault)) throw error;
    if (call.safe) return null;
    throw new QueryError('invalidQuery', `${error.message}.`, expr.span);
  }
}

/** A JSON pointer: a number is an index into an array and a key of an object, as it is in GoogleSQL. null: as `pathSteps` has it. */
function pathOf(call: Call): string | null {
  const path = call.args[1];
  if (path === undefined) return quoteText('');
  const steps = pathSteps(call, path, call.name.startsWith('JSON_EXTRACT') ? 'legacy' : 'standard');
  if (steps === null) return null;
  if (steps.some((step) => OTHER_INDEX.test(step) && !SAME_INDEX.test(step)))
    return call.unsupported('index of a JSONPath with needless zeros or spaces');
  return quoteText(steps.map((s) => `/${s.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
}

function nothing(call: Call): string {
  return `CAST(NULL AS ${duckType(call.type)})`;
}

/** Runs `print` on the document where it is JSON. A JSON value always is, and SQL NULL stays NULL. */
function onDocument(call: Call, print: (document: string) => string): string {
  const document = arg(call, 0);
  if (document.type.kind === 'JSON') return print(document.sql);
  return call.bind([document.sql], (d) => `CASE WHEN lq_reads_json(${d}) THEN ${print(d)} END`);
}

/** A scalar as text; NULL for an object, an array and JSON null. */
function scalar(call: Call): string {
  const path = pathOf(call);
  if (path === null) return nothing(call);
  return onDocument(call, (d) =>
    call.bind(
      [d],
      (x) =>
        `CASE WHEN json_type(${x}, ${path}) NOT IN ('OBJECT', 'ARRAY', 'NULL') THEN json_extract_string(${x}, ${path}) END`,
    ),
  );
}

/** Any value as JSON: text of it for a STRING, where JSON null is NULL. */
function query(call: Call): string {
  const path = pathOf(call);
  if (path === null) return nothing(call);
  if (call.type.kind === 'JSON') return `json_extract(${sqlOf(call, 0)}, ${path})`;
  return onDocument(call, (d) =>
    call.bind([`json_extract(${d}, ${path})`], (json) => `nullif(lq_json_text(${json}), 'null')`),
  );
}

/** The elements of an array; NULL for anything else. */
function elements(call: Call, element: (e: string) => string): string {
  const path = pathOf(call);
  if (path === null) return nothing(call);
  return onDocument(call, (d) =>
    call.bind(
      [d],
      (x) =>
        `CASE WHEN json_type(${x}, ${path}) = 'ARRAY' THEN ` +
        `list_transform(CAST(json_extract(json_extract(${x}, ${path}), '$[*]') AS JSON[]), lambda e: ${element('e')}) END`,
    ),
  );
}

const jsonElements = (call: Call): string =>
  elements(call, (e) => (call.type.kind === 'ARRAY' && call.type.element.kind === 'JSON' ? e : `lq_json_text(${e})`));

/** Not an array of scalars: NULL. */
function scalarElements(call: Call): string {
  const list = elements(call, (e) => `CAST(${e} AS VARCHAR)`);
  return call.bind(
    [list],
    (l) =>
      `CASE WHEN len(list_filter(${l}, lambda e: e[1] = '{' OR e[1] = '[')) = 0 ` +
      `THEN list_transform(${l}, lambda e: json_extract_string(e, '$')) END`,
  );
}

/** As text: no number, those that a double cannot hold, or (as TO_JSON_STRING has it) every decimal that is no such integer, too. */
type Stringified = 'none' | 'wide' | 'decimals';

/** The largest integer up to which a double holds each. */
const LARGEST_EXACT = '9007199254740992';

/** SQL of a decimal and of what is to be known of it. */
interface Decimal {
  /** A number that DuckDB casts to an integer. */
  readonly x: string;
  readonly text: string;
  readonly whole: string;
  /** It may be compared where it is whole. */
  readonly size: string;
  readonly fromZero: string;
  readonly negative: string;
}

function numericJson(x: string, stringified: Stringified): string {
  const [fromZero, negative] = [`${x} BETWEEN 0 AND 18446744073709551615`, `${x} BETWEEN -9223372036854775808 AND 0`];
  return decimalJson(
    { x, text: numericText(x, 'NUMERIC'), whole: `${x} = trunc(${x})`, size: `abs(${x})`, fromZero, negative },
    stringified,
  );
}

function bignumericJson(call: Call, value: string, stringified: Stringified): string {
  return call.bind([numericText(value, 'BIGNUMERIC')], (x) => {
    const [fromZero, negative] = [`TRY_CAST(${x} AS UBIGINT) IS NOT NULL`, `TRY_CAST(${x} AS BIGINT) IS NOT NULL`];
    const size = `abs(TRY_CAST(${x} AS HUGEINT))`;
    return decimalJson({ x, text: x, whole: `NOT contains(${x}, '.')`, size, fromZero, negative }, stringified);
  });
}

function decimalJson({ x, text: written, whole, size, fromZero, negative }: Decimal, stringified: Stringified): string {
  const text = `to_json(${written})`;
  const number = `lq_float_json(${doubleOfDecimal(x)})`;
  if (stringified === 'none')
    return `CASE WHEN ${whole} AND ${fromZero} THEN to_json(TRY_CAST(${x} AS UBIGINT)) WHEN ${whole} AND ${negative} THEN to_json(TRY_CAST(${x} AS BIGINT)) ELSE ${number} END`;
  const integer = `WHEN ${whole} AND ${size} <= ${LARGEST_EXACT} THEN to_json(TRY_CAST(${x} AS BIGINT))`;
  if (stringified === 'decimals') return `CASE ${integer} ELSE ${text} END`;
  const isWide = `${whole} AND (${fromZero} OR ${negative}) OR lq_is_wide_number(${written}, true)`;
  return `CASE ${integer} WHEN ${isWide} THEN ${text} ELSE ${number} END`;
}

/** A value as JSON in GoogleSQL's own words: instants as ISO text, numbers that a double cannot hold as text if wanted. */
function googleJson(call: Call, x: string, type: SqlType, stringified: Stringified): string {
  switch (type.kind) {
    case 'BOOL':
    case 'STRING':
    case 'JSON':
    case 'GEOGRAPHY':
      return x;
    case 'INT64':
      return stringified === 'none'
        ? x
        : `CASE WHEN abs(CAST(${x} AS HUGEINT)) > ${LARGEST_EXACT} THEN to_json(CAST(${x} AS VARCHAR)) ELSE to_json(${x}) END`;
    case 'FLOAT64':
      return `lq_float_json(${x})`;
    case 'NUMERIC':
      return numericJson(x, stringified);
    case 'BIGNUMERIC':
      return bignumericJson(call, x, stringified);
    case 'BYTES':
      return `to_base64(${x})`;
    case 'DATE':
      return `CAST(${x} AS VARCHAR)`;
    case 'TIME':
      return timeText(x);
    case 'DATETIME':
      return datetimeText(x, 'T');
    case 'TIMESTAMP':
      return `(${datetimeText(x, 'T')} || 'Z')`;
    case 'INTERVAL':
      return `lq_iso_interval(${x})`;
    case 'RANGE':
      throw new Error('a RANGE');
    case 'ARRAY': {
      const value = googleJson(call, 'e', type.element, stringified);
      return value === 'e' ? x : `list_transform(${x}, lambda e: ${value})`;
    }
    case 'STRUCT': {
      const physical = physicalFieldNames(type.fields);
      const fields = type.fields.map((f, i) => ({
        name: f.name ?? '',
        value: googleJson(call, `${x}.${quoteName(physical[i]!)}`, f.type, stringified),
      }));
      const plain = fields.every((f, i) => f.name === physical[i]);
      // A value keeps the first of equal keys, a text all of them.
      const written = fields.filter(
        ({ name }, i) => stringified === 'decimals' || fields.findIndex((f) => f.name === name) === i,
      );
      const object = plain
        ? structOf(fields.map((f) => [f.name, f.value]))
        : `json_object(${written.map((f) => `${quoteText(f.name)}, ${f.value}`).join(', ')})`;
      return `CASE WHEN ${x} IS NOT NULL THEN ${object} END`;
    }
  }
}

/** A name for the value: JSON texts repeat it, and read fields of it. */
function onName(call: Call, value: string, print: (x: string) => string): string {
  return isName(value) ? print(value) : call.bind([structOf([['x', value]])], (row) => print(`${row}."x"`));
}

function toJsonString(call: Call): string {
  const pretty = call.args[1];
  const compact = compactText(call);
  if (pretty === undefined || pretty.constant === 'false') return compact;
  const spread = (text: string): string =>
    ownFunction(call, 'lq_pretty_json', [{ sql: text, sized: 'text' }], { text: true });
  if (pretty.constant === 'true') return spread(compact);
  if (pretty.expr.kind === 'literal') return nothing(call);
  return call.bind(
    [compact, pretty.sql],
    (text, p) => `CASE WHEN ${p} THEN ${spread(text)} WHEN NOT ${p} THEN ${text} END`,
  );
}

function compactText(call: Call): string {
  const value = arg(call, 0);
  if (value.type.kind === 'FLOAT64') {
    const text = (x: string): string =>
      `CASE WHEN ${x} IS NULL THEN 'null' WHEN isfinite(${x}) THEN lq_float_string(${x}) ELSE CAST(lq_float_json(${x}) AS VARCHAR) END`;
    return onName(call, value.sql, text);
  }
  const text = (x: string): string =>
    call.bind(
      [`to_json(${googleJson(call, x, value.type, 'decimals')})`],
      (json) => `coalesce(lq_json_text(${json}), 'null')`,
    );
  // Escapes double what is written again and again.
  if (value.type.kind === 'STRING' && call.args.length === 1)
    return rewritten(
      call,
      () => '1',
      (x) => onName(call, x, text),
    );
  return onName(call, value.sql, text);
}

function toJson(call: Call): string {
  const wide = call.named['STRINGIFY_WIDE_NUMBERS'];
  const json = (stringified: Stringified) => (x: string) =>
    `coalesce(to_json(${googleJson(call, x, arg(call, 0).type, stringified)}), CAST('null' AS JSON))`;
  if (wide === undefined || wide.constant === 'false') return onName(call, sqlOf(call, 0), json('none'));
  if (wide.constant === 'true') return onName(call, sqlOf(call, 0), json('wide'));
  if (wide.expr.kind === 'literal') return nothing(call);
  return call.bind([wide.sql], (w) =>
    onName(
      call,
      sqlOf(call, 0),
      (x) => `CASE WHEN ${w} THEN ${json('wide')(x)} WHEN NOT ${w} THEN ${json('none')(x)} END`,
    ),
  );
}

/** The JSON text of any value. */
export function jsonText(call: Call, { sql, type }: Argument): string {
  return onName(call, sql, (x) => `coalesce(CAST(to_json(${googleJson(call, x, type, 'none')}) AS VARCHAR), 'null')`);
}

/** Keys among which one that comes twice is looked for: each is compared with those before it. */
const MOST_KEYS = 2_048;

/** A JSON object of an array of keys and one of as many JSON texts. Of a key that comes twice the first counts. */
function objectOf(call: Call, keys: string, texts: string): string {
  return call.bind([keys, texts], (k, t) => {
    const i = 'i';
    const all = `range(1, len(${k}) + 1)`;
    const firsts = `list_filter(${all}, lambda ${i}: list_position(${k}, ${k}[${i}]) = ${i})`;
    const chosen = `CASE WHEN len(list_distinct(${k})) = len(${k}) THEN ${all} WHEN len(${k}) > ${MOST_KEYS} THEN ${call.fail('size')} ELSE ${firsts} END`;
    const members = `list_transform(${chosen}, lambda ${i}: CAST(to_json(${k}[${i}]) AS VARCHAR) || ':' || ${t}[${i}])`;
    const wrong = `${k} IS NULL OR ${t} IS NULL OR len(${k}) <> len(${t}) OR list_count(${k}) < len(${k})`;
    return `CASE WHEN ${wrong} THEN ${call.fail('argument')} ELSE CAST('{' || array_to_string(${members}, ',') || '}' AS JSON) END`;
  });
}

/** JSON_ARRAY and JSON_OBJECT: a NULL is JSON's null; keys are every other argument. */
function constructed(call: Call, duckName: string, keyed: boolean): string {
  const [first, second] = call.args;
  const ofValue = (value: Argument): string =>
    `to_json(${onName(call, value.sql, (x) => googleJson(call, x, value.type, 'none'))})`;
  if (keyed && first?.type.kind === 'ARRAY' && second?.type.kind === 'ARRAY') {
    const { element } = second.type;
    const text = `coalesce(CAST(to_json(${googleJson(call, 'e', element, 'none')}) AS VARCHAR), 'null')`;
    return objectOf(call, first.sql, `list_transform(${second.sql}, lambda e: ${text})`);
  }
  const keys = call.args.filter((_, i) => i % 2 === 0).map(({ constant }) => constant);
  if (keyed && keys.length > 1 && keys.includes(null)) {
    const values = call.args.filter((_, i) => i % 2 === 1).map((value) => jsonText(call, value));
    const texts = call.args.filter((_, i) => i % 2 === 0).map(({ sql }) => sql);
    return objectOf(call, `[${texts.join(', ')}]`, `[${values.join(', ')}]`);
  }
  if (keyed && keys.length === 1 && keys[0] === null && first !== undefined && second !== undefined)
    return call.bind(
      [first.sql],
      (key) =>
        `CASE WHEN ${key} IS NULL THEN ${call.fail('argument')} ELSE json_object(${key}, ${ofValue(second)}) END`,
    );
  const counts = (i: number): boolean => !keyed || keys.indexOf(keys[i >> 1] ?? null) === i >> 1;
  const parts = call.args
    .flatMap((value, i) => (counts(i) ? [value] : []))
    .map((value, i) => (keyed && i % 2 === 0 ? value.sql : ofValue(value)));
  return parts.length === 0 ? `CAST('${keyed ? '{}' : '[]'}' AS JSON)` : `${duckName}(${parts.join(', ')})`;
}

/** In a text: a number of more than 15 digits, or with an exponent beyond 99; fewer digits survive a double. */
const PERHAPS_WIDE = '[0-9.]{17}|[0-9]{16}|[eE][+-]?[0-9]{3}';

/** Integers keep 64 bits, other numbers are FLOAT64: one that would lose digits is an error, unless it may be rounded. */
function parse(call: Call): string {
  return byWideNumberMode(call, 'true', (exact) =>
    call.bind([sqlOf(call, 0)], (s) => {
      const bare = `regexp_replace(${s}, '"(?:[^"\\\\]|\\\\.)*"', '', 'g')`;
      const numbers = `regexp_extract_all(${bare}, '-?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')`;
      const lost = `list_bool_or(list_transform(${numbers}, lambda n: lq_is_wide_number(n, ${exact})))`;
      return (
        `CASE WHEN ${s} IS NULL THEN NULL WHEN regexp_matches(${s}, '${PERHAPS_WIDE}') AND ${lost} THEN ${call.fail('json')} ` +
        `ELSE coalesce(lq_json(${s}), ${call.fail('json')}) END`
      );
    }),
  );
}

/** What a JSON value is of, for DuckDB; `INTEGER` and `UNSIGNED` numbers are exact. */
const NUMBERS = "('BIGINT', 'UBIGINT', 'DOUBLE', 'HUGEINT')";

/** A JSON scalar of the right kind as an SQL value, an error for any other. */
function typedScalar(kinds: string, convert: (x: string, exact: Exact) => string): (call: Call) => string {
  return (call) =>
    byWideNumberMode(call, 'false', (exact) =>
      call.bind(
        [sqlOf(call, 0)],
        (x) =>
          `CASE WHEN ${x} IS NULL THEN NULL WHEN json_type(${x}) IN ${kinds} THEN ` +
          `coalesce(${convert(x, exact)}, ${call.fail('json')}) ELSE ${call.fail('json')} END`,
      ),
    );
}

/** Whether a number has to be a double exactly: a condition. */
type Exact = 'true' | 'false' | `(${string})`;

/** What `print` makes of the wide_number_mode; NULL for a NULL mode, an error for an unknown one. */
function byWideNumberMode(call: Call, fallback: Exact, print: (exact: Exact) => string): string {
  const mode = call.named['WIDE_NUMBER_MODE'];
  if (mode === undefined) return print(fallback);
  if (mode.constant === 'exact') return print('true');
  if (mode.constant === 'round') return print('false');
  const wrong = `CASE WHEN ${sqlOf(call, 0)} IS NOT NULL THEN ${call.fail('argument')} END`;
  if (mode.constant !== null) return `CAST(${wrong} AS ${duckType(call.type)})`;
  if (mode.expr.kind === 'literal') return nothing(call);
  return call.bind(
    [mode.sql],
    (m) =>
      `CASE WHEN ${m} IS NULL THEN NULL WHEN ${m} NOT IN ('exact', 'round') THEN ${wrong} ELSE ${print(`(${m} = 'exact')`)} END`,
  );
}

/** A JSON scalar as an SQL value where that makes sense, else NULL. */
function laxScalar(whens: (text: string) => string): (call: Call) => string {
  return (call) =>
    call.bind(
      [`{'k': json_type(${sqlOf(call, 0)}), 't': json_extract_string(${sqlOf(call, 0)}, '$')}`],
      (v) => `CASE ${whens(v)} END`,
    );
}

const JSON_KINDS =
  "CASE json_type(%) WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'VARCHAR' THEN 'string' " +
  "WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null' ELSE 'number' END";

const MODES: ReadonlySet<string> = new Set(['strict', 'lax', 'lax recursive']);
const DEEPEST = '500';

function keys(call: Call): string {
  const depth = call.args[1];
  const mode = call.named['MODE'];
  if (mode !== undefined && mode.expr.kind !== 'literal') return call.unsupported('computed mode of JSON_KEYS');
  const name = mode === undefined ? 'strict' : (mode.constant?.toLowerCase() ?? null);
  if (name !== null && !MODES.has(name))
    throw new QueryError('invalidQuery', 'The mode of JSON_KEYS is strict, lax or lax recursive', mode!.expr.span);
  const given = [
    { sql: `CAST(${sqlOf(call, 0)} AS VARCHAR)`, sized: 'text' as const },
    { sql: depth === undefined ? `${DEEPEST}::BIGINT` : positive(call, depth) },
    { sql: name === null ? 'CAST(NULL AS VARCHAR)' : quoteText(name), sized: 'text' as const },
  ];
  return `list_sort(list_distinct(CAST(CAST(${ownFunction(call, 'lq_json_keys', given, { text: true, empty: 'size' })} AS JSON) AS VARCHAR[])))`;
}

function positive(call: Call, { sql }: Argument): string {
  return call.bind([sql], (n) => `CASE WHEN ${n} < 1 THEN ${call.fail('argument')} ELSE ${n} END`);
}

const SHORT_NUMBERS = 'numbers come out in their shortest form';

export const JSON_FUNCTIONS = {
  BOOL: typedScalar("('BOOLEAN')", (x) => `TRY_CAST(json_extract_string(${x}, '$') AS BOOLEAN)`),
  FLOAT64: typedScalar(NUMBERS, (x, exact) => {
    const [text, number] = [`json_extract_string(${x}, '$')`, `TRY_CAST(json_extract_string(${x}, '$') AS DOUBLE)`];
    if (exact === 'false') return number;
    const rounded = exact === 'true' ? '' : `NOT ${exact} OR `;
    // An integer that a double cannot hold; one with a point or an exponent is a double already.
    return `CASE WHEN ${rounded}NOT regexp_full_match(${text}, '-?[0-9]+') OR CAST(TRY_CAST(${text} AS HUGEINT) AS DOUBLE) = ${number} AND TRY_CAST(${number} AS HUGEINT) = TRY_CAST(${text} AS HUGEINT) THEN ${number} END`;
  }),
  INT64: typedScalar(
    NUMBERS,
    (x) =>
      `CASE WHEN TRY_CAST(json_extract_string(${x}, '$') AS DOUBLE) = round(TRY_CAST(json_extract_string(${x}, '$') AS DOUBLE)) ` +
      `THEN TRY_CAST(json_extract_string(${x}, '$') AS BIGINT) END`,
  ),
  JSON_TYPE: (call) =>
    call.bind([sqlOf(call, 0)], (x) => `CASE WHEN ${x} IS NOT NULL THEN ${JSON_KINDS.replace('%', () => x)} END`),
  LAX_BOOL: laxScalar(
    (v) =>
      `WHEN ${v}."k" = 'BOOLEAN' THEN CAST(${v}."t" AS BOOLEAN) WHEN ${v}."k" IN ${NUMBERS} THEN CAST(${v}."t" AS DOUBLE) <> 0 ` +
      `WHEN ${v}."k" = 'VARCHAR' THEN CASE lower(${v}."t") WHEN 'true' THEN true WHEN 'false' THEN false END`,
  ),
  LAX_FLOAT64: laxScalar(
    (v) =>
      `WHEN ${v}."k" IN ${NUMBERS} THEN CAST(${v}."t" AS DOUBLE) WHEN ${v}."k" = 'VARCHAR' THEN lq_float64(${v}."t")`,
  ),
  LAX_INT64: laxScalar(
    (v) =>
      `WHEN ${v}."k" = 'BOOLEAN' THEN CAST(CAST(${v}."t" AS BOOLEAN) AS BIGINT) ` +
      `WHEN ${v}."k" IN ${NUMBERS} THEN coalesce(lq_int64(${v}."t"), TRY_CAST(round(CAST(${v}."t" AS DOUBLE)) AS BIGINT)) ` +
      `WHEN ${v}."k" = 'VARCHAR' THEN coalesce(lq_int64(${v}."t"), TRY_CAST(round(lq_float64(${v}."t")) AS BIGINT))`,
  ),
  LAX_STRING: laxScalar((v) => `WHEN ${v}."k" NOT IN ('OBJECT', 'ARRAY', 'NULL') THEN ${v}."t"`),
  JSON_ARRAY: (call) => constructed(call, 'json_array', false),
  JSON_EXTRACT: noted(SHORT_NUMBERS, query),
  JSON_EXTRACT_ARRAY: jsonElements,
  JSON_EXTRACT_SCALAR: scalar,
  JSON_EXTRACT_STRING_ARRAY: scalarElements,
  JSON_KEYS: keys,
  JSON_OBJECT: (call) => constructed(call, 'json_object', true),
  JSON_QUERY: noted(SHORT_NUMBERS, query),
  JSON_QUERY_ARRAY: jsonElements,
  JSON_VALUE: noted(SHORT_NUMBERS, scalar),
  JSON_VALUE_ARRAY: scalarElements,
  PARSE_JSON: parse,
  TO_JSON: toJson,
  TO_JSON_STRING: toJsonString,
} satisfies FunctionTable;
