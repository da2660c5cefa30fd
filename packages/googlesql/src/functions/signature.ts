/**
 * One signature of a function, read from its text: `STRING, INT64, INT64? -> STRING`.
 * `?` optional, `*` repeated, `T1` a template, `PART` a date part, `MODE` and `ROUNDING` keywords, `ANY` anything,
 * `name=TYPE` an argument that may be named, `name:=TYPE` one that must be.
 */
import { rangeElement, scalarNamed } from '../type-names';
import type { SqlType } from '../types';

export type Pattern =
  | { readonly kind: 'fixed'; readonly type: SqlType }
  | { readonly kind: 'template'; readonly name: string }
  | { readonly kind: 'array_template'; readonly name: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'part' | 'mode' | 'rounding' }
  /** ARRAY<STRUCT<value T1, count INT64>>, and with `sum` of the second argument's type. */
  | { readonly kind: 'top_count' | 'top_sum' };

export interface Parameter {
  readonly pattern: Pattern;
  readonly cardinality: 'required' | 'optional' | 'repeated';
  readonly name: string | null;
  readonly namedOnly: boolean;
}

export interface Signature {
  readonly parameters: readonly Parameter[];
  /** Those that are not given by name only. */
  readonly positional: readonly Parameter[];
  readonly result: Pattern;
}

const cache = new Map<string, Signature>();

/** The signature that a text of the table describes. */
export function signatureOf(text: string): Signature {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const arrow = text.lastIndexOf('->');
  const list = text.slice(0, arrow).trim();
  const parameters = list === '' ? [] : splitTopLevel(list).map(parameterOf);
  const signature: Signature = {
    parameters,
    positional: parameters.filter(({ namedOnly }) => !namedOnly),
    result: patternOf(text.slice(arrow + 2).trim()),
  };
  cache.set(text, signature);
  return signature;
}

const ofFunctions = new WeakMap<readonly string[], readonly Signature[]>();

/** All signatures of a function, in the table's order. */
export function signaturesOf({ signatures }: { readonly signatures: readonly string[] }): readonly Signature[] {
  let known = ofFunctions.get(signatures);
  if (known === undefined) ofFunctions.set(signatures, (known = signatures.map(signatureOf)));
  return known;
}

function parameterOf(text: string): Parameter {
  const match = /^(?:([a-z_]+)(:?=))?(.*?)([?*]?)$/.exec(text);
  if (match === null) throw new Error(`bad parameter in a signature: ${text}`);
  const [, name, equals, pattern = '', mark] = match;
  return {
    pattern: patternOf(pattern),
    cardinality: mark === '?' ? 'optional' : mark === '*' ? 'repeated' : 'required',
    name: name ?? null,
    namedOnly: equals === ':=',
  };
}

function patternOf(text: string): Pattern {
  if (text === 'ANY') return { kind: 'any' };
  if (text === 'PART') return { kind: 'part' };
  if (text === 'MODE') return { kind: 'mode' };
  if (text === 'ROUNDING') return { kind: 'rounding' };
  if (text === 'TOP_COUNT') return { kind: 'top_count' };
  if (text === 'TOP_SUM') return { kind: 'top_sum' };
  if (/^T\d$/.test(text)) return { kind: 'template', name: text };
  const array = /^ARRAY<(T\d)>$/.exec(text);
  if (array?.[1] !== undefined) return { kind: 'array_template', name: array[1] };
  return { kind: 'fixed', type: fixedType(text) };
}

function fixedType(text: string): SqlType {
  const array = /^ARRAY<(.*)>$/.exec(text);
  if (array?.[1] !== undefined) return { kind: 'ARRAY', element: fixedType(array[1]) };
  const range = rangeElement(/^RANGE<(.*)>$/.exec(text)?.[1] ?? '');
  if (range !== null) return { kind: 'RANGE', element: { kind: range } };
  const struct = /^STRUCT<(.*)>$/.exec(text);
  if (struct?.[1] !== undefined) {
    const fields = splitTopLevel(struct[1]).map((field) => {
      const space = field.indexOf(' ');
      return { name: field.slice(0, space), type: fixedType(field.slice(space + 1)) };
    });
    return { kind: 'STRUCT', fields };
  }
  const kind = scalarNamed(text);
  if (kind === undefined) throw new Error(`bad type in a signature: ${text}`);
  return { kind };
}

function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '<') depth++;
    else if (c === '>') depth--;
    else if (c === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}
