/** A run-time error has the place of the expression that failed, among several that can. */
import { runtimeError } from '../src/translate';
import { TranslationBench } from './duckdb-translation';
import { opened } from '../../../test/opened';

const bench = opened(() => TranslationBench.open());

test.each([
  ["SELECT CAST('1' AS INT64) AS a, 1 / x AS b FROM UNNEST([0]) AS x", '1 / x'],
  ["SELECT CAST(x AS INT64) AS a, DIV(1, 2) AS b FROM UNNEST(['y']) AS x", 'CAST(x AS INT64)'],
  ['SELECT DIV(1, 2) AS a, [1, 2][OFFSET(x)] AS b FROM UNNEST([5]) AS x', '[1, 2][OFFSET(x)]'],
  ["SELECT DIV(1, 2) AS a, PARSE_JSON(x) AS b FROM UNNEST(['{']) AS x", 'PARSE_JSON(x)'],
  ['SELECT 1 / 2 AS a, DATE(x, 1, 1) + 1 AS b FROM UNNEST([99999]) AS x', null],
  ["SELECT 1 / 2 AS a, NET.IP_FROM_STRING(x) AS b FROM UNNEST(['y']) AS x", 'NET.IP_FROM_STRING(x)'],
])('%s', async (sql, words) => {
  const error: unknown = await bench()
    .run(sql)
    .catch((thrown: unknown) => thrown);
  const span = runtimeError(error)?.span ?? null;
  expect(span && sql.slice(span.start, span.end)).toBe(words);
});
