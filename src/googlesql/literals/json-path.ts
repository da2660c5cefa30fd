/** JSONPaths, as three families of functions read them. */

/**
 * `standard`: JSON_VALUE, JSON_QUERY and theirs; `legacy`: JSON_EXTRACT and its; `strict`: the functions that change a
 * value, for which an index is no key.
 */
export type JsonPathForm = 'standard' | 'legacy' | 'strict';

/** What is wrong with a JSONPath, in BigQuery's words. */
export class JsonPathFault extends Error {}

const SPACE = String.raw`[\t\n\f\r ]`;
const KEY = /\.([\p{L}\p{N}_:\t\n\f\r -]+)/uy;
const IN_QUOTES = /\."((?:[^\\"]|\\[^])*)"/uy;
const IN_BRACKETS = new RegExp(String.raw`\[${SPACE}*'((?:[^\\']|\\[^])*)'${SPACE}*\]`, 'uy');
const index = (inside: string): RegExp => new RegExp(String.raw`\[${SPACE}*(${inside}+)${SPACE}*\]`, 'uy');
const INDEX: Readonly<Record<JsonPathForm, RegExp>> = {
  standard: index(String.raw`[\p{N}_-]`),
  legacy: index(String.raw`[\p{L}\p{N}_-]`),
  strict: index(String.raw`\p{N}`),
};
const LARGEST_INDEX = 2n ** 63n - 1n;

/**
 * The steps of a path. Under `strict` a number is an index and a text is a key; else a text is both, as the value has it.
 *
 * @throws JsonPathFault
 */
export function jsonPathSteps(path: string, form: JsonPathForm): (string | number)[] {
  if (!path.startsWith('$')) throw new JsonPathFault("JSONPath must start with '$'");
  const steps: (string | number)[] = [];
  let at = 1;
  const next = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(path);
    if (match === null) return null;
    at = pattern.lastIndex;
    return match[1]!;
  };
  while (at < path.length) {
    const key = next(KEY);
    const place = key === null ? next(INDEX[form]) : null;
    const quoted = key === null && place === null ? next(form === 'legacy' ? IN_BRACKETS : IN_QUOTES) : null;
    if (key !== null) steps.push(key);
    else if (place !== null) steps.push(form === 'strict' ? indexOf(place) : place);
    else if (quoted !== null) steps.push(unescaped(quoted, form));
    else if (form === 'legacy' && path.slice(at) === '.') break;
    else throw faultAt(path.slice(at), form);
  }
  return steps;
}

function indexOf(digits: string): number {
  if (!/^[0-9]+$/.test(digits) || BigInt(digits) > LARGEST_INDEX)
    throw new JsonPathFault(`JSONPath contains invalid array index: ${digits}`);
  return Number(digits);
}

/** A backslash before the quote alone is no part of the key; under `strict` every one is. */
function unescaped(quoted: string, form: JsonPathForm): string {
  if (form === 'strict') return quoted;
  return form === 'legacy' ? quoted.replaceAll(`\\'`, `'`) : quoted.replaceAll('\\"', '"');
}

function faultAt(rest: string, form: JsonPathForm): JsonPathFault {
  const operator = form === 'strict' ? undefined : /\*|\.\.|@/.exec(rest)?.[0];
  return operator === undefined
    ? new JsonPathFault(`Invalid token in JSONPath at: ${rest}`)
    : new JsonPathFault(`Unsupported operator in JSONPath: ${operator}`);
}
