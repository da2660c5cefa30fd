/** JSONPaths, as two families of functions read them. */

/** `standard`: JSON_VALUE, JSON_QUERY and theirs; `legacy`: JSON_EXTRACT and its. */
export type JsonPathForm = 'standard' | 'legacy';

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
};

/**
 * The steps of a path: each a key and an index, as the value has it.
 *
 * @throws JsonPathFault
 */
export function jsonPathSteps(path: string, form: JsonPathForm): string[] {
  if (!path.startsWith('$')) throw new JsonPathFault("JSONPath must start with '$'");
  const steps: string[] = [];
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
    else if (place !== null) steps.push(place);
    else if (quoted !== null) steps.push(unescaped(quoted, form));
    else if (form === 'legacy' && path.slice(at) === '.') break;
    else throw faultAt(path.slice(at));
  }
  return steps;
}

/** A backslash before the quote alone is no part of the key. */
function unescaped(quoted: string, form: JsonPathForm): string {
  return form === 'legacy' ? quoted.replaceAll(`\\'`, `'`) : quoted.replaceAll('\\"', '"');
}

function faultAt(rest: string): JsonPathFault {
  const operator = /\*|\.\.|@/.exec(rest)?.[0];
  return operator === undefined
    ? new JsonPathFault(`Invalid token in JSONPath at: ${rest}`)
    : new JsonPathFault(`Unsupported operator in JSONPath: ${operator}`);
}
