/** What JSON can say, with whole numbers beyond 2^53 as BigInt: an INT64 keeps its digits. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** What a reviver gets of a number's text, where the browser tells it (all current ones do). */
interface Context {
  readonly source?: string;
}

/** Like `JSON.parse`, and exact for whole numbers. @throws SyntaxError */
export function parseExactly(text: string): Json {
  return JSON.parse(text, function exact(this: unknown, _name: string, value: unknown, context?: Context): unknown {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
  } as (this: unknown, name: string, value: unknown) => unknown) as Json;
}

/** JSON text of a value, with every digit of a whole number. @param indent blanks of a level; 0: on one line */
export function writeExactly(value: Json, indent = 0, level = 0): string {
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? (value as readonly Json[]).map((one) => writeExactly(one, indent, level + 1))
    : Object.entries(value).map(
        ([name, one]) => `${JSON.stringify(name)}:${indent > 0 ? ' ' : ''}${writeExactly(one, indent, level + 1)}`,
      );
  const [open, close] = isList ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  if (indent === 0) return `${open}${parts.join(',')}${close}`;
  const margin = ' '.repeat(indent * (level + 1));
  return `${open}\n${margin}${parts.join(`,\n${margin}`)}\n${' '.repeat(indent * level)}${close}`;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A record; or the only record of a list, which is how log tables nest them. null: neither */
export function recordIn(value: Json | undefined): JsonObject | null {
  const only = Array.isArray(value) && value.length === 1 ? (value[0] as Json) : value;
  return isObject(only) ? only : null;
}

/** An own member: rows may be called `constructor` or `__proto__`. */
export function member(record: JsonObject | null, name: string): Json | undefined {
  return record !== null && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** A nested value: through lists of one record, and by the keys of a list of key and value pairs. */
export function valueAt(row: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = row;
  for (const [i, name] of path.entries()) {
    if (Array.isArray(value)) {
      const found = besideKey(pairsIn(value as readonly Json[]) ?? [], path.slice(i));
      if (found !== undefined) return found;
    }
    const record = recordIn(value);
    const next = member(record, name);
    // JSON has keys with dots, as attributes of OpenTelemetry are called.
    if (next === undefined && i < path.length - 1) return member(record, path.slice(i).join('.'));
    value = next;
  }
  return value;
}

/** The member of the value that is named last, else the value itself, as `followPath` of GoogleSQL's types goes on. */
function besideKey(pairs: Pairs, names: readonly string[]): Json | undefined {
  const beside = (key: string): Json | undefined => pairs.find((pair) => pair.key === key)?.value;
  return member(recordIn(beside(names.slice(0, -1).join('.'))), names.at(-1) ?? '') ?? beside(names.join('.'));
}

type Pairs = readonly { readonly key: string; readonly value: Json }[];

/** A list whose records are a key and a value alone. null: it is none */
export function pairsIn(list: readonly Json[]): Pairs | null {
  const isPairs =
    list.length > 0 &&
    list.every(
      (one) => isObject(one) && typeof one.key === 'string' && 'value' in one && Object.keys(one).length === 2,
    );
  return isPairs ? (list as unknown as Pairs) : null;
}
