import { DISTANCES, jsonKeys, jsonPathInSteps } from './newer-functions';
import { searchTest } from './search';
import { closing, tokensOf, type Token } from './tokens';

/** A text without the `HAVING MAX x` that ends it, and that. */
function withoutHaving(text: string): readonly [text: string, having: string] {
  const tokens = tokensOf(text);
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token?.kind === 'symbol' && '([{'.includes(token.text)) i = closing(tokens, i);
    else if (token?.kind === 'word' && token.text.toLowerCase() === 'having')
      return [text.slice(0, token.start).trim(), ` ${text.slice(token.start)}`];
  }
  return [text, ''];
}

const JSON_READERS = [
  'json_value',
  'json_query',
  'json_extract',
  'json_extract_scalar',
  'json_value_array',
  'json_query_array',
  'json_extract_array',
  'json_extract_string_array',
];

/** Every text of a value, in quotes, and every other scalar; a name of a field ends in a colon. */
function leavesOf(value: string): string {
  return String.raw`UNNEST(REGEXP_EXTRACT_ALL(TO_JSON_STRING(${value}), r'"(?:[^"\\]|\\.)*"\s*:?|[^\s,:\[\]{}"]+')) AS leaf`;
}

/**
 * Functions of BigQuery that the reference engine cannot evaluate, or evaluates wrongly, written with those it can. Each takes the
 * texts of its arguments; null: the call stays as it is. `WITH(name AS value, ...)` holds an aggregate in place, so they
 * work wherever the call stood.
 */
const SUBSTITUTES: Readonly<Record<string, (args: readonly string[]) => string | null>> = {
  approx_count_distinct: ([value]) => `COUNT(DISTINCT ${value})`,

  // Exact quantiles by nearest rank: element i of n is the value at rank ceil(i / n * count), at least the first.
  approx_quantiles: ([value = '', last = '']) => {
    const [number, having] = withoutHaving(last);
    const m = /^([^]*?)\s+(ignore|respect)\s+nulls\s*$/i.exec(number);
    const nulls = `${m?.[2] ?? 'IGNORE'} NULLS`;
    return `(WITH(local__all AS ARRAY_AGG(${value} ${nulls}${having}), local__n AS ${m?.[1] ?? number},
      local__sorted AS ARRAY(SELECT e FROM UNNEST(local__all) AS e ORDER BY e),
      IF(local__all IS NULL, NULL, ARRAY(SELECT local__sorted[OFFSET(GREATEST(0, CAST(CEIL(i * ARRAY_LENGTH(local__sorted) / local__n) AS INT64) - 1))]
        FROM UNNEST(GENERATE_ARRAY(0, local__n)) AS i ORDER BY i))))`;
  },
  approx_top_count: ([value, last = '']) => {
    const [number, having] = withoutHaving(last);
    return `(WITH(local__all AS ARRAY_AGG(${value}${having}), IF(local__all IS NULL, NULL, ARRAY(
      SELECT AS STRUCT e AS value, COUNT(*) AS count FROM UNNEST(local__all) AS e GROUP BY e ORDER BY count DESC, value LIMIT ${number}))))`;
  },
  approx_top_sum: ([value, weight, last = '']) => {
    const [number, having] = withoutHaving(last);
    return `(WITH(local__all AS ARRAY_AGG(STRUCT(${value} AS v, ${weight} AS w)${having}), IF(local__all IS NULL, NULL, ARRAY(
      SELECT AS STRUCT e.v AS value, SUM(e.w) AS sum FROM UNNEST(local__all) AS e GROUP BY e.v ORDER BY sum DESC, value LIMIT ${number}))))`;
  },

  // Every leaf of the value, as text, without regard to case; names of fields are not searched.
  contains_substr: ([value = '', search, ...more]) =>
    more.length > 0
      ? null
      : `(WITH(local__value AS ${value}, local__search AS NORMALIZE_AND_CASEFOLD(${search}, NFKC), IF(local__value IS NULL, NULL, EXISTS(
      SELECT 1 FROM ${leavesOf('local__value')}
      WHERE NOT ENDS_WITH(leaf, ':') AND STRPOS(NORMALIZE_AND_CASEFOLD(JSON_VALUE(leaf), NFKC), local__search) > 0))))`,
  search: ([value = '', query = '', ...settings]) => {
    const test = searchTest('JSON_VALUE(leaf)', query, settings);
    if (test === null) return null;
    return `(WITH(local__value AS ${value}, IF(local__value IS NULL, NULL, (
      SELECT CASE WHEN LOGICAL_OR(STARTS_WITH(leaf, '"') AND ${test}) THEN TRUE WHEN LOGICAL_OR(leaf = 'null') THEN NULL ELSE FALSE END
      FROM ${leavesOf('local__value')} WHERE NOT ENDS_WITH(leaf, ':')))))`;
  },
  max_by: ([value, key = '']) => (withoutHaving(key)[1] === '' ? `ANY_VALUE(${value} HAVING MAX ${key})` : null),
  min_by: ([value, key = '']) => (withoutHaving(key)[1] === '' ? `ANY_VALUE(${value} HAVING MIN ${key})` : null),
  ...DISTANCES,
  json_keys: jsonKeys,
  ...Object.fromEntries(
    JSON_READERS.map((name) => [
      name,
      ([json = '', path = '']: readonly string[]) => jsonPathInSteps(name, json, path),
    ]),
  ),
};

/** The text with every call of those functions written out, the innermost first. */
export function substitute(sql: string): string {
  let text = sql;
  // What a function is written with comes to be looked at as well: it stands behind the place of the call.
  for (let at = Infinity; at > 0;) {
    const tokens = tokensOf(text);
    at = tokens.findLastIndex((token, i) => i < at && isCall(tokens, token, i));
    const name = tokens[at];
    if (name === undefined) break;
    const end = closing(tokens, at + 1);
    const written = SUBSTITUTES[name.text.toLowerCase()]?.(argumentsOf(text, tokens, at + 1, end)) ?? null;
    if (written !== null) text = text.slice(0, name.start) + written + text.slice(tokens[end]?.end ?? text.length);
  }
  return text;
}

function isCall(tokens: readonly Token[], token: Token, i: number): boolean {
  // Behind `SAFE.` stands no other expression: such a call stays as it is.
  if (tokens[i - 1]?.text === '.') return false;
  return token.kind === 'word' && tokens[i + 1]?.text === '(' && Object.hasOwn(SUBSTITUTES, token.text.toLowerCase());
}

/** The texts between the commas of a call's own level. */
function argumentsOf(text: string, tokens: readonly Token[], open: number, close: number): string[] {
  const parts: string[] = [];
  let start = tokens[open]?.end ?? 0;
  for (let i = open + 1; i <= close; i++) {
    const token = tokens[i];
    if (token === undefined) break;
    if (token.kind === 'symbol' && '([{'.includes(token.text)) i = closing(tokens, i);
    else if (token.text === ',' || i === close) {
      parts.push(text.slice(start, token.start).trim());
      start = token.end;
    }
  }
  return parts;
}
