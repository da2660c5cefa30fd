/** Behind the fence an input that can fail is evaluated, whether or not what it is joined with has rows. */
import type { Engine } from '../../src/engines/contract';
import { DataFolder, FORMS, ndjson } from './data-folder';

const FIELDS = [
  { name: 'id', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'text', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'text', type: 'STRING' }] },
];
/** Of other projects, in one of both tables: so DuckDB takes now the one and now the other for the smaller. */
const MANY = 20_000;
const OWN = 300;

const rows = (project: string, count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `${project}${i}`,
    project,
    text: 'x',
    n: i % 7,
    metadata: [{ text: 'x' }],
  }));

/** The queried project has rows in `full_*` alone. */
const FILES = {
  full_0: rows('mine', OWN),
  full_1: [...rows('mine', OWN), ...rows('other', MANY)],
  empty_0: [],
  empty_1: rows('other', 5),
  empty_2: rows('other', MANY),
};

let folder: DataFolder;
const engines: Engine[] = [];
const folders: DataFolder[] = [];
beforeAll(async () => {
  const files = Object.fromEntries(Object.entries(FILES).map(([name, of]) => [`${name}.ndjson`, ndjson(...of)]));
  const schema = Object.fromEntries(Object.keys(FILES).map((name) => [name, { fields: FIELDS }]));
  for (const [, options] of FORMS) {
    folder = await DataFolder.make({ ...files, 'schema.json': JSON.stringify(schema) });
    folders.push(folder);
    engines.push(await folder.open(options));
  }
}, 300_000);
afterAll(async () => {
  for (const one of folders) await one.remove();
});

async function answer(engine: Engine, full: string, empty: string, consumer: string, fenced: boolean): Promise<string> {
  const stored = `WITH a AS (SELECT * FROM ${full} WHERE project = 'mine'), e AS (SELECT * FROM ${empty} WHERE project = 'mine')\n`;
  const sql = stored + consumer;
  const fence = fenced ? { consumer: { start: stored.length, end: sql.length }, instants: [] } : null;
  const query = { sql, parameters: [], fence, maxRows: 10, hideBytes: false, maxBytesBilled: null, labels: {} };
  return engine.run(query, { deadline: performance.now() + 60_000, signal: new AbortController().signal }).then(
    (result) => result.rows.join(),
    (error: unknown) => `failed: ${(error as Error).message}`,
  );
}

async function answers(consumer: string, fenced: boolean): Promise<Set<string>> {
  const all = new Set<string>();
  for (const engine of engines) {
    for (const full of ['full_0', 'full_1']) {
      for (const empty of ['empty_0', 'empty_1', 'empty_2'])
        all.add(await answer(engine, full, empty, consumer, fenced));
    }
  }
  return all;
}

const FAILING = `(SELECT id, CAST(text AS INT64) AS x, n FROM a)`;

/** Each fails on the own rows of `a`. */
const FAILS: readonly string[] = [
  `SELECT COUNT(d.x) AS c FROM ${FAILING} AS d JOIN e ON d.id = e.id`,
  `SELECT COUNT(d.x) AS c FROM e JOIN ${FAILING} AS d ON d.id = e.id`,
  `SELECT COUNT(*) AS c FROM a JOIN e ON CAST(a.text AS INT64) = e.n`,
  `SELECT COUNT(*) AS c FROM e JOIN a ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM e LEFT JOIN a ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM a RIGHT JOIN e ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(*) AS c FROM a FULL JOIN e ON e.n = CAST(a.text AS INT64)`,
  `SELECT COUNT(d.x) AS c FROM e CROSS JOIN ${FAILING} AS d`,
  `SELECT COUNT(d.x) AS c FROM ${FAILING} AS d, e WHERE d.id = e.id`,
  `SELECT COUNT(*) AS c FROM e, (SELECT id FROM a WHERE CAST(text AS INT64) > 0) AS d WHERE d.id = e.id`,
  `SELECT COUNT(*) AS c FROM e JOIN (SELECT SUM(CAST(text AS INT64)) AS s FROM a) AS d ON d.s = e.n`,
  `SELECT COUNT(*) AS c FROM e WHERE n IN (SELECT CAST(text AS INT64) FROM a)`,
  `SELECT COUNT(*) AS c FROM e WHERE n NOT IN (SELECT CAST(text AS INT64) FROM a)`,
  `SELECT COUNT(*) AS c FROM e WHERE EXISTS (SELECT 1 FROM a WHERE CAST(text AS INT64) > 0)`,
  `SELECT COUNT(*) AS c FROM e WHERE EXISTS (SELECT 1 FROM a WHERE a.id = e.id AND CAST(a.text AS INT64) > 0)`,
  `SELECT COUNT(*) AS c FROM e WHERE n > (SELECT MAX(CAST(text AS INT64)) FROM a)`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM e INTERSECT DISTINCT SELECT CAST(text AS INT64) FROM a) AS d`,
  `SELECT COUNT(*) AS c FROM (SELECT n FROM e EXCEPT DISTINCT SELECT CAST(text AS INT64) FROM a) AS d`,
  `SELECT COUNT(*) AS c FROM (SELECT CAST(text AS INT64) AS x FROM a INTERSECT DISTINCT SELECT n FROM e) AS d`,
  `SELECT COUNT(f.x) AS c FROM e JOIN (SELECT d.id, d.x FROM ${FAILING} AS d JOIN a ON d.id = a.id) AS f ON f.id = e.id`,
  `SELECT COUNT(*) AS c FROM e, UNNEST(e.metadata) AS m WHERE EXISTS (SELECT 1 FROM a WHERE CAST(text AS INT64) > 0)`,
  `SELECT COUNT(*) AS c FROM e, UNNEST(e.metadata) AS m JOIN (SELECT a.id FROM a, UNNEST(a.metadata) AS o WHERE CAST(a.text AS INT64) > LENGTH(o.text)) AS d ON d.id = m.text`,
  `FROM a |> EXTEND CAST(text AS INT64) AS x |> JOIN e ON e.n = x |> AGGREGATE COUNT(*) AS c`,
];

test.each(FAILS)('%s', async (consumer) => {
  expect([...(await answers(consumer, true))]).toEqual([expect.stringMatching(/^failed/)]);
});

/** The same with nothing that fails: rows are what they were. */
test.each(
  FAILS.map((sql) =>
    sql.replaceAll('CAST(text AS INT64)', 'n + LENGTH(text)').replaceAll('CAST(a.text AS INT64)', 'DIV(a.n, 2)'),
  ),
)('%s', async (consumer) => {
  const fenced = await answers(consumer, true);
  expect(fenced).toEqual(await answers(consumer, false));
  expect(fenced.size).toBe(1);
  expect([...fenced][0]).toMatch(/^\{/);
});

test('without the fence they differ', async () => {
  const differing: string[] = [];
  for (const consumer of FAILS) if ((await answers(consumer, false)).size > 1) differing.push(consumer);
  expect(differing.length).toBeGreaterThan(3);
});
