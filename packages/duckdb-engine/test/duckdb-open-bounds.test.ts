/** Bounds that leave nothing out: their column is not read where every row has it, and they count where one has not. */
import { DataFolder, FORMS, rowsOf } from './data-folder';
import { TranslationBench } from './duckdb-translation';
import type { Shape } from './duckdb-shapes';

const FIRST = `TIMESTAMP '0001-01-01 00:00:00+00'`;
const LAST = `TIMESTAMP '9999-12-31 23:59:59.999999+00'`;
const SOURCE = '"part"."timestamp"';

const benches = new Map<Shape, TranslationBench>();
beforeAll(async () => {
  for (const shape of ['lists', 'records', 'mixed'] as const) benches.set(shape, await TranslationBench.open(shape));
}, 60_000);
afterAll(() => benches.forEach((bench) => bench.close()));

const countWhere = (condition: string): string => `SELECT COUNT(*) AS n FROM raw_edge_logs AS t WHERE ${condition}`;

describe.each(['records', 'mixed'] as const)('%s: every row has a timestamp', (shape) => {
  test.each([
    [`t.timestamp >= ${FIRST} AND t.project = 'default' AND t.timestamp <= ${LAST}`, `t.project = 'default'`],
    [`t.timestamp >= ${FIRST}`, 'TRUE'],
    [`t.timestamp >= IF(@from = '', ${FIRST}, CAST(@from AS TIMESTAMP))`, 'TRUE'],
  ])('%s', async (open, without) => {
    const bench = benches.get(shape)!;
    const answer = await bench.run(countWhere(open), { from: '' });
    expect(answer.rows).toEqual((await bench.run(countWhere(without))).rows);
    if (!open.includes('@from')) expect(answer.sql).not.toContain(SOURCE);
  });

  test.each([
    [`t.timestamp > ${FIRST}`],
    [`t.timestamp < ${LAST}`],
    [`t.timestamp >= TIMESTAMP '0001-01-01 00:00:00.000001+00'`],
    [`t.timestamp <= TIMESTAMP '9999-12-31 23:59:59.999998+00'`],
    [`t.timestamp <= ${FIRST}`],
    [`t.timestamp >= ${FIRST} OR t.project = 'default'`],
  ])('another bound is kept: %s', (bound) => {
    expect(benches.get(shape)!.translate(countWhere(bound)).sql).toContain(SOURCE);
  });

  test.each([
    ['LEFT', 'raw_auth_logs AS a LEFT JOIN raw_edge_logs AS t'],
    ['RIGHT', 'raw_edge_logs AS t RIGHT JOIN raw_auth_logs AS a'],
    ['FULL', 'raw_auth_logs AS a FULL JOIN (SELECT * FROM raw_edge_logs WHERE FALSE) AS t'],
  ])('the NULL of a %s JOIN is left out', async (_, tables) => {
    const bench = benches.get(shape)!;
    const joined = `FROM ${tables} ON a.id = t.id AND t.id = 'nobody'`;
    const [all] = (await bench.run(`SELECT COUNT(*) AS n ${joined}`)).rows as { n: number }[];
    expect(all!.n).toBeGreaterThan(0);
    const { rows } = await bench.run(`SELECT COUNT(*) AS n ${joined} WHERE t.timestamp >= ${FIRST}`);
    expect(rows).toEqual([{ n: 0 }]);
  });
});

describe('rows without a timestamp, in a table without a declared schema', () => {
  const FILE = { 'visits.ndjson': '{"id":"a","timestamp":"2026-09-30T11:00:00Z"}\n{"id":"b","timestamp":null}\n' };
  let folder: DataFolder;
  afterEach(() => folder.remove());

  test.each(FORMS)('%s', async (_, options) => {
    folder = await DataFolder.make(FILE);
    const engine = await folder.open(options);
    const sql = `SELECT id FROM visits AS t WHERE t.timestamp >= ${FIRST} AND t.timestamp <= ${LAST}`;
    expect(await rowsOf(engine, 'SELECT COUNT(*) AS n FROM visits')).toEqual([{ n: 2 }]);
    expect(await rowsOf(engine, sql)).toEqual([{ id: 'a' }]);
  });
});
