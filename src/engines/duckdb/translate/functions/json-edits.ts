/** Functions that change a JSON value at a path, and JSON_KEYS: computed by our own scalar functions. */
import { QueryError } from '../../../../errors';
import { type Argument, type Call, type FunctionTable, sqlOf } from '../expressions/call';
import { jsonText, pathSteps } from './json';
import { ownFunction } from './own-functions';
import { quoteText } from '../../sql';

/** The JSON text of a JSONPath's steps; null: of NULL. */
function path(call: Call, argument: Argument): string | null {
  const { expr } = argument;
  if (expr.type.kind !== 'STRING') throw new QueryError('invalidQuery', 'A JSONPath is a STRING', expr.span);
  if (expr.kind !== 'literal' && expr.kind !== 'parameter' && expr.kind !== 'cast')
    throw new QueryError('invalidQuery', `A JSONPath of ${call.name} must be a literal or query parameter.`, expr.span);
  const steps = pathSteps(call, argument, 'strict');
  return steps === null ? null : quoteText(JSON.stringify(steps));
}

/** A named argument that is a literal BOOL; null: NULL. */
function flag(call: Call, name: string, fallback: boolean): boolean | null {
  const argument = call.named[name];
  if (argument === undefined) return fallback;
  if (argument.expr.kind === 'parameter') return call.unsupported(`A parameter as ${name.toLowerCase()}`);
  if (argument.expr.kind !== 'literal') {
    const words = `Argument '${name.toLowerCase()}' to ${call.name} must be a literal or query parameter.`;
    throw new QueryError('invalidQuery', words, argument.expr.span);
  }
  return argument.constant === null ? null : argument.constant === 'true';
}

const NULL_JSON = 'CAST(NULL AS JSON)';

/** A JSON value changed by `name` once for each path, from the first to the last. */
function changed(
  call: Call,
  name: string,
  changes: readonly { readonly path: string | null; readonly more: readonly string[] }[],
): string {
  return changes.reduce(
    (json, change) => {
      if (change.path === null) return NULL_JSON;
      const text = `CAST(${json} AS VARCHAR)`;
      const given = [text, change.path, ...change.more].map((sql) => ({ sql, sized: 'text' as const }));
      const fixed = change.more.map((sql) => (/^(?:true|false)$/.test(sql) ? { sql } : null));
      const all = given.map((g, i) => fixed[i - 2] ?? g);
      return `CAST(${ownFunction(call, name, all, { text: true, empty: 'size' })} AS JSON)`;
    },
    sqlOf(call, 0),
  );
}

/** Of functions that take paths with values. */
function withValues(name: string, option: string): (call: Call) => string {
  return (call) => {
    const on = flag(call, option, true);
    const [, ...rest] = call.args;
    if (rest.length % 2 !== 0)
      throw new QueryError('invalidQuery', `Number of arguments does not match for function ${call.name}.`, call.span);
    const changes = rest.flatMap((argument, i) => {
      if (i % 2 !== 0) return [];
      const value = rest[i + 1]!;
      // Elements one by one are those of an ARRAY, not of a JSON array.
      const each = name === 'lq_json_set' ? on === true : on === true && value.type.kind === 'ARRAY';
      return [{ path: path(call, argument), more: [jsonText(call, value), String(each)] }];
    });
    return on === null ? NULL_JSON : changed(call, name, changes);
  };
}

function remove(call: Call): string {
  const [, ...paths] = call.args;
  const changes = paths.map((argument) => {
    const steps = path(call, argument);
    if (steps === quoteText('[]'))
      throw new QueryError('invalidQuery', 'The JSONPath cannot be $ for JSON_REMOVE', argument.expr.span);
    return { path: steps, more: [] };
  });
  return changed(call, 'lq_json_remove', changes);
}

function stripNulls(call: Call): string {
  const at = call.args[1];
  const steps = at === undefined ? quoteText('[]') : path(call, at);
  const [arrays, empty] = [flag(call, 'INCLUDE_ARRAYS', true), flag(call, 'REMOVE_EMPTY', false)];
  if (steps === null || arrays === null || empty === null) return NULL_JSON;
  return changed(call, 'lq_json_strip_nulls', [{ path: steps, more: [String(arrays), String(empty)] }]);
}

const MODES: ReadonlySet<string> = new Set(['strict', 'lax', 'lax recursive']);
const DEEPEST = '500';

function keys(call: Call): string {
  const depth = call.args[1];
  const mode = call.named['MODE'];
  if (mode !== undefined && mode.expr.kind !== 'literal') return call.unsupported('A computed mode of JSON_KEYS');
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

export const JSON_EDIT_FUNCTIONS: FunctionTable = {
  JSON_ARRAY_APPEND: withValues('lq_json_array_append', 'APPEND_EACH_ELEMENT'),
  JSON_ARRAY_INSERT: withValues('lq_json_array_insert', 'INSERT_EACH_ELEMENT'),
  JSON_KEYS: keys,
  JSON_REMOVE: remove,
  JSON_SET: withValues('lq_json_set', 'CREATE_IF_MISSING'),
  JSON_STRIP_NULLS: stripNulls,
};
