/**
 * Texts that repeat are stored with a dictionary, on whose values DuckDB evaluates a function of that one column at once: those
 * of other projects' rows are among them.
 */
import { Random } from '../../../test/sandbox/fuzz/random';
import { acceptedText, failingText, TEXT_KINDS } from '../../../test/tenants/data/value-kinds';
import { BY_KIND } from '../../../test/tenants/sql/fallible';
import { FencedTables, IN_SEGMENTS } from './fenced-tables';
import { oneOf } from '../../../test/scale';

/** More than DuckDB works on at once, of a few values for each column. */
const ROWS = 6_000;
/** Different rows of each project. */
const DIFFERENT = 12;

const CASES = TEXT_KINDS.flatMap((kind) => BY_KIND[kind].map(([, , sql]) => sql.replaceAll('{c}', `t.${kind}`)));

/** Where an expression, `#`, may stand. */
const IN_UNION = `SELECT COUNT(*) AS n FROM (SELECT * FROM logs UNION ALL SELECT * FROM logs) AS t WHERE (#) IS NOT NULL`;
const PLACES = [
  IN_UNION,
  'SELECT COUNT(*) AS n FROM logs AS t WHERE (#) IS NOT NULL',
  'SELECT COUNT(x) AS n FROM (SELECT TO_JSON_STRING(#) AS x FROM logs AS t) AS d',
  'SELECT COUNT(*) AS n FROM logs AS l, UNNEST(l.metadata) AS t WHERE (#) IS NOT NULL',
  'SELECT MAX(TO_JSON_STRING(#)) AS x FROM logs AS t',
  // In arguments of a window and of UNNEST, and in a sort key.
  'SELECT COUNT(x) AS n FROM (SELECT MAX(TO_JSON_STRING(#)) OVER () AS x FROM logs AS t, UNNEST([TO_JSON_STRING(#)]) ORDER BY TO_JSON_STRING(#) LIMIT 5) AS d',
  // In a subquery over a list within another subquery.
  "SELECT COUNT(*) AS n FROM logs AS t WHERE TO_JSON_STRING((SELECT x FROM UNNEST([TO_JSON_STRING(#)]) AS x WHERE x <> 'q')) NOT IN (SELECT 'q' FROM logs)",
  // In lambdas of subqueries over lists, one within another, where something is volatile and DuckDB does not see it.
  "SELECT COUNT(*) AS n FROM logs AS t WHERE (SELECT COUNT(*) FROM UNNEST([1, 2]) AS o WHERE TO_JSON_STRING(#) <> 'q' AND o > 0) > 0",
  "SELECT COUNT(*) AS n FROM logs AS t WHERE EXISTS (SELECT 1 FROM UNNEST([1]) AS o WHERE (SELECT COUNT(*) FROM UNNEST([TO_JSON_STRING(#)]) AS x WHERE x <> 'q') > 0)",
  'SELECT COUNT(*) AS n FROM logs AS t WHERE ARRAY_LENGTH(ARRAY(SELECT (SELECT TO_JSON_STRING(#)) FROM UNNEST([1, 2]) AS o)) > 0',
  'SELECT COUNT(*) AS n FROM logs AS t, UNNEST(ARRAY(SELECT (SELECT TO_JSON_STRING(#)) FROM UNNEST([1]))) AS z',
];
const placed = (place: string, sql: string): string => place.replaceAll('#', () => sql);

const STORED = ['raw', 'alone'].map((table) => `WITH logs AS (SELECT * FROM ${table} WHERE project = 'mine')`);

let tables: FencedTables;
beforeAll(async () => {
  const random = new Random(7);
  const valuesOf = (mine: boolean): object[] =>
    Array.from({ length: DIFFERENT }, () => {
      const texts = Object.fromEntries(
        TEXT_KINDS.map((kind) => [kind, mine ? acceptedText(kind, random) : failingText(kind, random)]),
      );
      return { project: mine ? 'mine' : 'other', ...texts, metadata: [texts] };
    });
  const [mine, others] = [valuesOf(true), valuesOf(false)];
  const texts = TEXT_KINDS.map((name) => ({ name, type: 'STRING' }));
  const metadata = { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: texts };
  const rows = {
    raw: Array.from({ length: ROWS }, (_, i) => (i % 3 === 0 ? mine : others)[Math.floor(i / 3) % DIFFERENT]!),
    alone: Array.from({ length: ROWS / 3 }, (_, i) => mine[i % DIFFERENT]!),
  };
  tables = await FencedTables.make(rows, [{ name: 'project', type: 'STRING' }, ...texts, metadata], [IN_SEGMENTS]);
}, 300_000);
afterAll(() => tables.remove());

/** Each in half of the places. */
test.each(oneOf(8, CASES).map((sql, i) => [sql, PLACES.filter((_, n) => (n + i) % 2 === 0)] as const))(
  '%s',
  async (sql, places) => {
    for (const place of places) expect(await tables.answers(STORED, placed(place, sql))).toHaveLength(1);
  },
);

const ENOUGH = 5;

test('without the fence they differ', async () => {
  const differing: string[] = [];
  for (const sql of CASES) {
    if ((await tables.answers(STORED, placed(IN_UNION, sql), false)).length > 1) differing.push(sql);
    if (differing.length === ENOUGH) break;
  }
  expect(differing).toHaveLength(ENOUGH);
}, 120_000);
