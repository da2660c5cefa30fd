/**
 * The fence over records that are stored as lists of one, as the records themselves, and as both: their fields then have
 * statistics like any column, which hold for the rows of all projects.
 */
import { FORMS } from './data-folder';
import { FencedTables } from './fenced-tables';
import { oneOf } from '../scale';

/** Thousands of rows, so that rows of both projects are worked on together. */
const ROWS = 4000;

const RECORD = [
  { name: 'text', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
  { name: 'ts', type: 'TIMESTAMP' },
];
const FIELDS = [
  { name: 'id', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: RECORD },
];

const minutesAgo = (i: number): string => new Date(Date.UTC(2026, 8, 30) - i * 60_000).toISOString();

function mine(i: number, records: number): object {
  const record = { text: 'x', n: 1, ts: '2026-01-01T00:00:00Z' };
  const metadata = Array.from({ length: records }, () => record);
  return { id: `m${i}`, project: 'mine', timestamp: minutesAgo(i), metadata };
}

function others(i: number, records: number): object {
  const record = { text: i % 2 === 0 ? 'A secret' : '7', n: 100, ts: '0001-01-01T00:00:00Z' };
  const metadata = Array.from({ length: records }, () => record);
  return { id: `o${i}`, project: 'other', timestamp: minutesAgo(i), metadata };
}

const often = (i: number, odd: number): number => (i % 500 === 7 ? odd : 1);

/** By name: rows of a table with those of another project among them, and without. */
const SHAPES = {
  records: [(i: number) => mine(i, 1), (i: number) => others(i, 1)],
  lists: [(i: number) => mine(i, 1 + (i % 2)), (i: number) => others(i, 1 + (i % 2))],
  both: [(i: number) => mine(i, often(i, 2)), (i: number) => others(i, often(i, 0))],
  'others are odd': [(i: number) => mine(i, 1), (i: number) => others(i, often(i, 2))],
} as const;

const UNNESTED = `(SELECT l.id, l.timestamp, m.text, m.n, m.ts FROM logs AS l, UNNEST(l.metadata) AS m)`;
const FAILING = `CAST(text AS INT64) > 0`;
const BOOM = `DIV(1, IF(STARTS_WITH(m.text, 'A'), 0, 1)) = 1`;

/** Answered alike with and without other projects' rows. */
const CONSUMERS: readonly string[] = [
  `SELECT COUNT(*) AS c FROM logs AS l, UNNEST(l.metadata) AS m WHERE ${BOOM}`,
  `SELECT COUNT(*) AS c FROM logs AS l LEFT JOIN UNNEST(l.metadata) AS m ON ${BOOM}`,
  `SELECT COUNT(*) AS c FROM logs AS l LEFT JOIN UNNEST(l.metadata) AS m WITH OFFSET AS o WHERE ${BOOM} AND o = 0`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE ${BOOM})`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE (SELECT COUNTIF(${BOOM}) FROM UNNEST(l.metadata) AS m) > 0`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE 1 IN (SELECT DIV(1, IF(STARTS_WITH(m.text, 'A'), 0, 1)) FROM UNNEST(l.metadata) AS m)`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE DIV(1, IF(STARTS_WITH(metadata[SAFE_OFFSET(0)].text, 'A'), 0, 1)) = 1`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE ARRAY_LENGTH(metadata) > 0 AND DIV(1, ARRAY_LENGTH(metadata)) >= 0`,
  `SELECT id, metadata FROM logs AS l WHERE DIV(1, IF(STARTS_WITH(TO_JSON_STRING(metadata), '[{"text":"A'), 0, 1)) = 1 ORDER BY timestamp DESC, id LIMIT 20`,
  `SELECT id, m.n FROM logs AS l, UNNEST(l.metadata) AS m WHERE ${BOOM} ORDER BY timestamp DESC, id LIMIT 20`,
  `SELECT m.text, COUNT(*) AS c FROM logs AS l, UNNEST(l.metadata) AS m GROUP BY m.text HAVING COUNTIF(${BOOM.replace('m.text', "COALESCE(m.text, 'A')")}) >= 0`,
  `SELECT a.id FROM ${UNNESTED} AS a JOIN ${UNNESTED} AS b ON a.id = b.id AND DIV(1, IF(STARTS_WITH(a.text, 'A'), 0, 1)) = DIV(1, IF(STARTS_WITH(b.text, 'A'), 0, 1))`,
  `SELECT id FROM ${UNNESTED} AS d QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY DIV(1, IF(STARTS_WITH(text, 'A'), 0, 1)), n) = 1`,
  // What fails on any row meets only rows for which the condition before it holds: none of the own.
  `SELECT COUNT(*) AS c FROM logs AS l WHERE EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE STARTS_WITH(m.text, 'A') AND TO_JSON_STRING(9223372036854775807 + 1) <> 'none')`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE STARTS_WITH(m.text, 'A') AND (SELECT x FROM UNNEST([1, 2]) AS x) IS NOT NULL)`,
  `SELECT COUNT(*) AS c FROM logs AS l, UNNEST(l.metadata) AS o WHERE EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE STARTS_WITH(m.text, 'A') AND 1 / 0 = 1)`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE UPPER(m.text) = 'A SECRET' AND 1 / 0 = 1)`,
  `SELECT COUNT(*) AS c FROM logs AS l, UNNEST(l.metadata) AS m WHERE STARTS_WITH(m.text, 'A') AND 1 / 0 = 1`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE (SELECT COUNTIF(STARTS_WITH(m.text, 'A') AND 1 / 0 = 1) FROM UNNEST(l.metadata) AS m) > 0`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE CAST(id AS INT64) > 0 AND metadata[OFFSET(0)].n = 77`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE CAST(id AS INT64) > 0 AND metadata[SAFE_OFFSET(0)].n = 77`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE CAST(id AS INT64) > 0 AND EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE m.n = 77)`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE CAST(id AS INT64) > 0 AND EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS m WHERE m.n = 77 AND CAST(m.text AS INT64) = 1)`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE CAST(id AS INT64) > 0 AND EXISTS (SELECT 1 FROM UNNEST(l.metadata) AS a, UNNEST(l.metadata) AS b WHERE a.n = 77 AND b.n = 78)`,
  `SELECT COUNT(*) AS c FROM logs AS l JOIN UNNEST(l.metadata) AS m ON m.n = 77 AND CAST(m.text AS INT64) = 1`,
  `SELECT COUNT(*) AS c FROM logs AS l, UNNEST(l.metadata) AS m WHERE CAST(id AS INT64) > 0 AND m.n = 77`,
  `SELECT IF(m.n = 77, CAST(m.text AS INT64), 1) AS x FROM logs AS l, UNNEST(l.metadata) AS m WHERE m.n = 1 ORDER BY l.timestamp LIMIT 1`,
  `SELECT ARRAY(SELECT CAST(m.text AS INT64) FROM UNNEST(l.metadata) AS m WHERE m.n = 77) AS x FROM logs AS l WHERE ARRAY_LENGTH(metadata) = 1 LIMIT 1`,
  `SELECT COUNT(*) AS c FROM logs AS l WHERE (SELECT CAST(m.text AS INT64) FROM UNNEST(l.metadata) AS m WHERE m.n = 77 LIMIT 1) = 1`,
  // What the own rows fail on does not depend on the range of the others' values.
  `SELECT COUNT(*) AS c FROM (SELECT ts FROM ${UNNESTED} AS u WHERE ${FAILING}) AS d WHERE EXTRACT(YEAR FROM ts) = 1`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM ${UNNESTED} AS u WHERE ${FAILING}) AS d WHERE n = 77`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM ${UNNESTED} AS u WHERE ${FAILING}) AS d WHERE n + 0 = 77`,
  `SELECT COUNT(*) AS c FROM (SELECT DISTINCT n FROM ${UNNESTED} AS u WHERE ${FAILING}) AS d WHERE n > 50`,
  `SELECT COUNT(*) AS c FROM ${UNNESTED} AS u WHERE ${FAILING} AND n = 77`,
  `SELECT COUNT(*) AS c FROM logs AS l, UNNEST(l.metadata) AS m WHERE CAST(m.text AS INT64) > 0 AND m.n = 77`,
  `SELECT COUNT(x) AS c FROM (SELECT n, CAST(text AS INT64) AS x FROM ${UNNESTED} AS u) AS d WHERE n = 77`,
  `WITH d AS (SELECT n, COUNT(*) AS c FROM ${UNNESTED} AS u WHERE ${FAILING} GROUP BY n) SELECT COUNT(*) AS c FROM d AS a, d AS b WHERE a.n = 77 AND b.n = 78`,
];

const storedOver = (table: string): string => `WITH logs AS (SELECT * FROM ${table} WHERE project = 'mine')`;

let tables: FencedTables;
beforeAll(async () => {
  const rows: Record<string, object[]> = {};
  for (const [i, [own, other]] of Object.values(SHAPES).entries()) {
    rows[`alone_${i}`] = Array.from({ length: ROWS / 2 }, (_, k) => own(k));
    rows[`mixed_${i}`] = rows[`alone_${i}`]!.flatMap((row, k) => [row, other(k)]);
  }
  tables = await FencedTables.make(rows, FIELDS);
}, 300_000);
afterAll(() => tables.remove());

describe.each(Object.keys(SHAPES).map((name, i) => [name, i] as const))('%s', (_name, i) => {
  const stored = [`mixed_${i}`, `alone_${i}`].map(storedOver);
  test.each(oneOf(4, CONSUMERS))('%s', async (consumer) => {
    // In all forms: how many rows others have decides on that, too.
    expect(await tables.answers(stored, consumer)).toHaveLength(1);
  });
});

test('without the fence some differ', async () => {
  const differing: string[] = [];
  for (const consumer of CONSUMERS) {
    const [mixed, alone] = await Promise.all(
      ['mixed_0', 'alone_0'].map((table) => tables.answer(1, storedOver(table), consumer, false)),
    );
    if (mixed !== alone) differing.push(consumer);
  }
  expect(differing).not.toEqual([]);
});

test.each([...FORMS.keys()])('the tables are stored in the shapes that they are named for', async (form) => {
  const about = async (i: number): Promise<string> => {
    const lengths = 'SELECT ARRAY_LENGTH(metadata) AS n, COUNT(*) AS c FROM logs GROUP BY n';
    const [row] = (await tables.answer(form, storedOver(`mixed_${i}`), lengths)).split('\n');
    return row!;
  };
  expect(await about(0)).toBe('{"n":1,"c":2000}');
  expect(await about(2)).toBe('{"n":1,"c":1996}');
});
