/** JSON, as text and as a value. Text that is no JSON gives NULL. */
import type { SqlType } from '../../../../googlesql/types';
import { type Call, type FunctionTable, arg, sqlOf } from '../call';
import { datetimeText, numericText, timeText } from '../text';
import { physicalFieldNames, quoteName, quoteText } from '../sql';

/**
 * A JSONPath of GoogleSQL as one of DuckDB: `$.a.b[0]`, `$['a']`, `$."a"`. null where it is no such path.
 * `quoted` is the quote that may stand inside brackets; JSON_EXTRACT and JSON_VALUE differ in that alone and both are read.
 */
export function jsonPath(path: string): string | null {
  if (!path.startsWith('$')) return null;
  const step = /\.([^.[\]"'\s][^.[\]"]*)|\."((?:[^"\\]|\\.)*)"|\[\s*(\d+)\s*\]|\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[\s*"((?:[^"\\]|\\.)*)"\s*\]/y;
  const steps: (string | number)[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return null;
    const name = match[1] ?? match[2] ?? match[4] ?? match[5];
    steps.push(name === undefined ? Number(match[3]) : match[1] === undefined ? name.replace(/\\(.)/gs, '$1') : name);
  }
  if (steps.every((s) => typeof s === 'number' || /^[^"\\*]*$/.test(s))) {
    return `$${steps.map((s) => (typeof s === 'number' ? `[${s}]` : `."${s}"`)).join('')}`;
  }
  return `/${steps.map((s) => String(s).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}

function pathOf(call: Call, i = 1): string {
  const path = call.args[i];
  if (path === undefined) return '$';
  if (path.constant === null) return call.unsupported('A JSONPath that is no literal');
  const read = jsonPath(path.constant);
  return read ?? call.unsupported('This JSONPath');
}

/** Runs `print` on the document where it is JSON. A JSON value always is, and SQL NULL stays NULL. */
function onDocument(call: Call, print: (document: string) => string): string {
  const document = arg(call, 0);
  if (document.type.kind === 'JSON') return print(document.sql);
  return call.bind([document.sql], (d) => `CASE WHEN json_valid(${d}) THEN ${print(d!)} END`);
}

/** A scalar as text; NULL for an object, an array and JSON null. */
function scalar(call: Call): string {
  const path = quoteText(pathOf(call));
  return onDocument(
    call,
    (d) =>
      call.bind([d], (x) => `CASE WHEN json_type(${x}, ${path}) NOT IN ('OBJECT', 'ARRAY', 'NULL') THEN json_extract_string(${x}, ${path}) END`),
  );
}

/** Any value as JSON: text of it for a STRING, where JSON null is NULL. */
function query(call: Call): string {
  const path = quoteText(pathOf(call));
  if (call.type.kind === 'JSON') return `json_extract(${sqlOf(call, 0)}, ${path})`;
  return onDocument(call, (d) => `nullif(CAST(json_extract(${d}, ${path}) AS VARCHAR), 'null')`);
}

/** The elements of an array; NULL for anything else. */
function elements(call: Call, element: (e: string) => string): string {
  const path = pathOf(call);
  return onDocument(call, (d) =>
    call.bind(
      [d],
      (x) =>
        `CASE WHEN json_type(${x}, ${quoteText(path)}) = 'ARRAY' THEN ` +
        `list_transform(json_extract(${path === '$' ? x : `json_extract(${x}, ${quoteText(path)})`}, '$[*]'), lambda e: ${element('e')}) END`,
    ),
  );
}

const jsonElements = (call: Call): string =>
  elements(call, (e) =>
    call.type.kind === 'ARRAY' && call.type.element.kind === 'JSON' ? e : `CAST(${e} AS VARCHAR)`,
  );

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

/** A value as JSON in GoogleSQL's own words: instants as ISO text, integers that a double cannot hold as text. */
function googleJson(call: Call, x: string, type: SqlType, wide: boolean): string {
  switch (type.kind) {
    case 'BOOL':
    case 'STRING':
    case 'JSON':
    case 'GEOGRAPHY':
      return x;
    case 'INT64':
      return wide ? `CASE WHEN abs(CAST(${x} AS HUGEINT)) > 9007199254740992 THEN to_json(CAST(${x} AS VARCHAR)) ELSE to_json(${x}) END` : x;
    case 'FLOAT64':
      return `lq_float_json(${x})`;
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return `CASE WHEN ${x} = round(${x}, 0) AND abs(${x}) > 9007199254740992 THEN to_json(${numericText(x)}) ELSE CAST(${numericText(x)} AS JSON) END`;
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
      return call.unsupported('An INTERVAL as JSON');
    case 'ARRAY': {
      const value = googleJson(call, 'e', type.element, wide);
      const list = value === 'e' ? x : `list_transform(${x}, lambda e: ${value})`;
      return `coalesce(${list}, [])`;
    }
    case 'STRUCT': {
      const physical = physicalFieldNames(type.fields);
      const fields = type.fields.map((f, i) => ({
        name: f.name ?? '',
        value: googleJson(call, `${x}.${quoteName(physical[i]!)}`, f.type, wide),
      }));
      const plain = fields.every((f, i) => f.name === physical[i]);
      const object = plain
        ? `{${fields.map((f) => `${quoteText(f.name)}: ${f.value}`).join(', ')}}`
        : `json_object(${fields.map((f) => `${quoteText(f.name)}, ${f.value}`).join(', ')})`;
      return `CASE WHEN ${x} IS NOT NULL THEN ${object} END`;
    }
  }
}

/** A name for the value: JSON texts repeat it. */
function named(call: Call, print: (x: string) => string): string {
  const value = sqlOf(call, 0);
  return /^(?:"c\d+"|v\d+)(?:\."(?:[^"]|"")+")*$/.test(value)
    ? print(value)
    : call.bind([`{'x': ${value}}`], (row) => print(`${row}."x"`));
}

function toJsonString(call: Call): string {
  if (call.args.length > 1 && call.args[1]?.constant !== 'false') return call.unsupported('TO_JSON_STRING with pretty printing');
  return named(call, (x) => `coalesce(CAST(to_json(${googleJson(call, x, arg(call, 0).type, true)}) AS VARCHAR), 'null')`);
}

function toJson(call: Call): string {
  if (Object.keys(call.named).length > 0) return call.unsupported('TO_JSON with stringify_wide_numbers');
  return named(call, (x) => `coalesce(to_json(${googleJson(call, x, arg(call, 0).type, false)}), CAST('null' AS JSON))`);
}

function parse(call: Call): string {
  return call.bind(
    [sqlOf(call, 0)],
    (s) => `CASE WHEN ${s} IS NULL THEN NULL ELSE coalesce(TRY_CAST(${s} AS JSON), ${call.fail('json')}) END`,
  );
}

export const JSON_FUNCTIONS: FunctionTable = {
  JSON_EXTRACT: query,
  JSON_EXTRACT_ARRAY: jsonElements,
  JSON_EXTRACT_SCALAR: scalar,
  JSON_EXTRACT_STRING_ARRAY: scalarElements,
  JSON_QUERY: query,
  JSON_QUERY_ARRAY: jsonElements,
  JSON_VALUE: scalar,
  JSON_VALUE_ARRAY: scalarElements,
  PARSE_JSON: parse,
  TO_JSON: toJson,
  TO_JSON_STRING: toJsonString,
};
