/** Functions of BigQuery that came after the engine, out of functions that it has. */

/** Characters of the shorter text of EDIT_DISTANCE. */
const MOST_EDITED = 64;

export const DISTANCES = {
  cosine_distance: (args: readonly string[]) =>
    ofVectors(args, '1 - SUM(x * y) / (SQRT(SUM(x * x)) * SQRT(SUM(y * y)))'),
  euclidean_distance: (args: readonly string[]) => ofVectors(args, 'SQRT(SUM((x - y) * (x - y)))'),
  edit_distance: editDistance,
};

function ofVectors([a = '', b = '']: readonly string[], formula: string): string {
  return `(WITH(local__a AS ${a}, local__b AS ${b}, IF(ARRAY_LENGTH(local__a) != ARRAY_LENGTH(local__b),
    CAST(ERROR('Array length mismatch') AS FLOAT64), (SELECT ${formula}
    FROM UNNEST(local__a) AS x WITH OFFSET AS i JOIN UNNEST(local__b) AS y WITH OFFSET AS j ON i = j))))`;
}

/** One row after the other of the table of distances between beginnings of both texts: the engine has no loop. */
function editDistance([a = '', b = '', most]: readonly string[]): string {
  const rows = Array.from({ length: MOST_EDITED }, (_, i) => {
    const replaced = `local__${i}[OFFSET(k - 1)] + IF(SUBSTR(local__a, ${i + 1}, 1) = SUBSTR(local__b, k, 1), 0, 1)`;
    const least = `IF(k = 0, ${i + 1}, LEAST(local__${i}[OFFSET(k)] + 1, ${replaced}))`;
    return `local__${i + 1} AS IF(LENGTH(local__a) <= ${i}, local__${i}, ARRAY(
      SELECT k + MIN(${least} - k) OVER (ORDER BY k) FROM UNNEST(GENERATE_ARRAY(0, LENGTH(local__b))) AS k ORDER BY k))`;
  });
  const distance = `local__${MOST_EDITED}[OFFSET(LENGTH(local__b))]`;
  const bound = /^max_distance\s*=>/i.exec(most ?? '')?.[0].length;
  const words = `The local BigQuery has EDIT_DISTANCE of up to ${MOST_EDITED} characters`;
  return `(WITH(local__x AS SUBSTR(${a}, 1), local__y AS SUBSTR(${b}, 1), local__a AS IF(LENGTH(local__x) < LENGTH(local__y), local__x, local__y),
    local__b AS IF(LENGTH(local__x) < LENGTH(local__y), local__y, local__x), local__0 AS GENERATE_ARRAY(0, LENGTH(local__b)), ${rows.join()},
    IF(local__x IS NULL OR local__y IS NULL, NULL, IF(LENGTH(local__a) > ${MOST_EDITED}, ERROR('${words}'), ${bound === undefined ? distance : `LEAST(${distance}, ${most?.slice(bound)})`}))))`;
}

const MODE = /^mode\s*=>\s*/i;

/**
 * JSON_KEYS by the tokens of the JSON text: the path of a key is the last key before it at each level. Modes that look into some arrays
 * stay as they are.
 */
export function jsonKeys([json = '', ...settings]: readonly string[]): string | null {
  const depth = settings.find((text) => !MODE.test(text)) ?? '500';
  const modes = settings
    .filter((text) => MODE.test(text))
    .map((text) => text.replace(MODE, '').slice(1, -1).toLowerCase());
  const [mode = 'strict'] = modes;
  if (mode !== 'strict' && mode !== 'lax recursive') return null;
  const token = String.raw`r'"(?:[^"\\]|\\.)*"|[{}\[\]:]|[^\s,:\[\]{}"]+'`;
  const count = (open: string, close: string): string =>
    `SUM(CASE token WHEN '${open}' THEN 1 WHEN '${close}' THEN -1 ELSE 0 END) OVER (ORDER BY i)`;
  const plain = String.raw`r'^[^."$\[\]\s]+$'`;
  return `(WITH(local__json AS ${json}, local__depth AS ${depth}, local__keys AS ARRAY(
    SELECT AS STRUCT i, level, IF(REGEXP_CONTAINS(name, ${plain}), name, CONCAT('"', REPLACE(name, '"', '\\\\"'), '"')) AS name
    FROM (SELECT i, JSON_VALUE(token) AS name, ${count('{', '}')} AS level, ${count('[', ']')} AS arrays, LEAD(token) OVER (ORDER BY i) = ':' AS is_key
      FROM UNNEST(REGEXP_EXTRACT_ALL(TO_JSON_STRING(local__json), ${token})) AS token WITH OFFSET AS i)
    WHERE is_key${mode === 'strict' ? ' AND arrays = 0' : ''}),
    IF(local__json IS NULL, NULL, IF(local__depth <= 0, [CAST(ERROR('Argument max_depth of JSON_KEYS must be positive') AS STRING)], ARRAY(SELECT DISTINCT (
      SELECT STRING_AGG(name, '.' ORDER BY level)
      FROM (SELECT level, ANY_VALUE(name HAVING MAX i) AS name FROM UNNEST(local__keys) WHERE i <= key.i AND level <= key.level GROUP BY level)) AS path
      FROM UNNEST(local__keys) AS key WHERE key.level <= local__depth ORDER BY path)))))`;
}

/** A part of a JSONPath: an index, a name in quotes, a character of anything else. */
const PATH_PARTS = /\[\s*\d+\s*\]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|./gs;

/** Where a path has several indexes, the engine may take the element of another array: a call for each index. */
export function jsonPathInSteps(name: string, json: string, path: string): string | null {
  const literal = /^(r?)(["'])\$(.*)\2$/is.exec(path);
  if (literal === null) return null;
  const [, raw = '', quote = '', rest = ''] = literal;
  const steps = [''];
  for (const part of rest.match(PATH_PARTS) ?? []) {
    steps.push((steps.pop() ?? '') + part);
    if (/^\[\s*\d/.test(part)) steps.push('');
  }
  const last = steps.pop() || (steps.pop() ?? '');
  const reader = name.startsWith('json_extract') ? 'JSON_EXTRACT' : 'JSON_QUERY';
  const call = (text: string, called: string, step: string): string =>
    `${called}(${text}, ${raw}${quote}$${step}${quote})`;
  return steps.length === 0
    ? null
    : call(
        steps.reduce((text, step) => call(text, reader, step), json),
        name.toUpperCase(),
        last,
      );
}
