/** Texts read from DuckDB's memory are those that its own binding reads. */
import { type DuckDBConnection, type DuckDBDataChunk, DuckDBInstance } from '@duckdb/node-api';

import { textRuns } from '../src/engine/text-column';

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create();
  connection = await instance.connect();
  await connection.run(
    `CREATE TABLE t AS SELECT i, repeat(CASE i % 7 WHEN 0 THEN 'é' WHEN 1 THEN '😀' ELSE 'x' END, i % 40) AS mixed, 'row ' || i % 5 AS few FROM range(10000) AS r(i)`,
  );
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const QUERIES = [
  'SELECT mixed FROM t ORDER BY i',
  `SELECT repeat('x', CAST(i % 40 AS INTEGER)) FROM t ORDER BY i`,
  'SELECT few FROM t',
  'SELECT CAST(to_json(t) AS VARCHAR) FROM t',
  `SELECT '' FROM t`,
  `SELECT 'the same for all rows' FROM t`,
  // From several places of memory, and in another order than they were made.
  'SELECT mixed FROM t WHERE i % 3 = 0 ORDER BY hash(i)',
  `SELECT repeat('wide', 100000) || i FROM range(20) AS r(i)`,
];

async function chunksOf(sql: string): Promise<DuckDBDataChunk[]> {
  const result = await connection.stream(sql);
  const chunks = [];
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk())
    chunks.push(chunk);
  return chunks;
}

test.each(QUERIES)('%s', async (sql) => {
  const chunks = await chunksOf(sql);
  const expected = chunks.flatMap((chunk) => chunk.getColumnValues(0));
  expect(expected.length).toBeGreaterThan(0);
  let count = 0;
  for (const chunk of chunks) {
    for (const run of textRuns(chunk, chunk.rowCount)) {
      expect(Buffer.from(run.bytes).toString()).toBe(expected.slice(count, count + run.count).join(''));
      count += run.count;
    }
  }
  expect(count).toBe(expected.length);
});

test('the first rows alone', async () => {
  const [chunk] = await chunksOf('SELECT mixed FROM t ORDER BY i');
  const runs = [...textRuns(chunk!, 45)];
  expect(runs.map((run) => Buffer.from(run.bytes).toString()).join('')).toBe(
    chunk!.getColumnValues(0).slice(0, 45).join(''),
  );
});
