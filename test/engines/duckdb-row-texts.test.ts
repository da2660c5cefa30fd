/** Rows whose texts were answered before have the same texts again, and no other row has them. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Engine, EngineQuery } from '../../src/engines/contract';
import type { BoundParameter } from '../../src/engines/bound-parameter';
import { translateText } from '../../src/engines/duckdb/engine/translation-task';
import { RowTexts } from '../../src/engines/duckdb/engine/row-texts';
import { until } from '../until';
import { DataFolder, ndjson } from './data-folder';

const FIELDS = [
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'id', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'data', type: 'BYTES' },
  {
    name: 'metadata',
    type: 'RECORD',
    mode: 'REPEATED',
    fields: [
      { name: 'level', type: 'STRING' },
      { name: 'origin', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'host', type: 'STRING' }] },
    ],
  },
];
const ROWS = 3000;
/** One row in 300 has two records: it is stored with lists, beside the others. */
const metadata = (i: number): object[] =>
  [
    { level: `l${i % 5}`, origin: [{ host: `"h\n${i}"` }] },
    { level: 'second', origin: [] },
  ].slice(0, i % 300 === 7 ? 2 : 1);
const row = (i: number): object => ({
  timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString(),
  id: `r${i}`,
  project: i % 3 === 0 ? 'other' : 'mine',
  data: Buffer.from(`${i}`).toString('base64'),
  metadata: metadata(i),
});
const SCHEMA = JSON.stringify({ raw_x: { fields: FIELDS }, raw_y: { fields: FIELDS } });

let folder: DataFolder;
let engine: Engine;
beforeAll(async () => {
  const all = Array.from({ length: ROWS }, (_, i) => row(i));
  folder = await DataFolder.make({
    'schema.json': SCHEMA,
    'raw_x.ndjson': ndjson(...all),
    'raw_y.ndjson': ndjson(...all.slice(0, 10)),
  });
  engine = await folder.open({ smallFile: 0 });
});
afterAll(() => folder.remove());

const limits = { deadline: performance.now() + 600_000, signal: new AbortController().signal };

function queryOf(sql: string, leftOut: string, more: Partial<EngineQuery> = {}): EngineQuery {
  const parameters: BoundParameter[] = [{ name: 'left_out', type: 'STRING', value: leftOut }];
  return { sql, parameters, maxRows: 1000, hideBytes: false, maxBytesBilled: null, labels: {}, ...more };
}

/** The rows as the engine makes them without any that it remembers. */
async function printed(query: EngineQuery): Promise<string[]> {
  const texts: string[] = [];
  const sink = {
    begin: () => undefined,
    take: (lines: Uint8Array) => void texts.push(...Buffer.from(lines).toString().split('\n').slice(0, -1)),
  };
  await engine.stream(query, limits, sink);
  return texts;
}

/** How often rows were found by their numbers alone. */
function found(): jest.SpyInstance {
  return jest.spyOn(RowTexts.prototype, 'send');
}
afterEach(() => jest.restoreAllMocks());

const WHOLE = `SELECT timestamp, id, metadata FROM raw_x WHERE id <> @left_out ORDER BY timestamp DESC LIMIT 500`;

test.each([
  WHOLE,
  WHOLE.replace('DESC', ''),
  `SELECT id, metadata FROM raw_x WHERE id <> @left_out ORDER BY id LIMIT 900`,
  `SELECT data, timestamp, metadata FROM raw_x WHERE id <> @left_out ORDER BY id LIMIT 300`,
  `SELECT metadata, id FROM (SELECT * FROM raw_x WHERE project = 'mine') WHERE id <> @left_out ORDER BY timestamp LIMIT 300`,
  `WITH x AS (SELECT id, metadata AS m, timestamp AS t FROM raw_x) SELECT t AS time, m AS id FROM x WHERE id <> @left_out ORDER BY t DESC LIMIT 400`,
  `SELECT x.id, m.level FROM raw_x AS x, UNNEST(metadata) AS m WHERE x.id <> @left_out ORDER BY x.timestamp, m.level LIMIT 800`,
  `SELECT x.id, x.metadata FROM raw_x AS x JOIN raw_y AS y ON x.project = y.project AND x.id <> @left_out ORDER BY x.timestamp, y.id LIMIT 700`,
  `SELECT a.id, b.metadata FROM raw_x AS a JOIN raw_x AS b ON a.timestamp = b.timestamp AND a.id <> @left_out ORDER BY a.timestamp LIMIT 700`,
  `SELECT y.id, y.metadata FROM raw_x AS x LEFT JOIN raw_y AS y ON x.id = y.id WHERE x.id <> @left_out ORDER BY x.timestamp, y.id LIMIT 50`,
  `SELECT id, ARRAY_LENGTH(metadata) AS n FROM raw_x WHERE id <> @left_out ORDER BY timestamp LIMIT 20`,
  `SELECT id, @left_out AS x FROM raw_x ORDER BY timestamp LIMIT 20`,
  `SELECT id, metadata FROM raw_x WHERE id <> @left_out UNION ALL SELECT id, metadata FROM raw_y ORDER BY id LIMIT 60`,
  `SELECT DISTINCT id FROM raw_x WHERE id <> @left_out ORDER BY id LIMIT 20`,
  `SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM raw_x WHERE id <> @left_out ORDER BY n LIMIT 20`,
])('%s', async (sql) => {
  // Rows come and go by what is asked for; forms of the answer take turns.
  for (const leftOut of ['', 'r0', 'r2999', 'r2998', 'r7', '', 'r2707', 'r2700', 'r1', 'r2999']) {
    for (const more of [{}, { isoTimestamps: true }, { hideBytes: true }]) {
      const query = queryOf(sql, leftOut, more);
      const [{ rows }, expected] = [await engine.run(query, limits), await printed(query)];
      expect(rows.join('\n')).toBe(expected.join('\n'));
    }
  }
});

test('whole rows are found by their numbers once they are known', async () => {
  const sends = found();
  const sql = WHOLE.replace('metadata', 'metadata AS whole');
  for (const leftOut of ['a', 'b', 'c', 'd', 'e']) await engine.run(queryOf(sql, leftOut), limits);
  // The first run translates, the second remembers.
  expect(sends).toHaveBeenCalledTimes(3);
  await Promise.all(sends.mock.results.map(({ value }) => expect(value).resolves.toBe(false)));
});

test.each([
  ['computed values, once', `SELECT CONCAT(id, 'x') AS x, metadata FROM raw_x WHERE id <> @left_out`, 1],
  ['stored values, once more when it comes again', `SELECT id AS x, metadata FROM raw_x WHERE id <> @left_out`, 2],
])('a text is translated for %s', async (_what, sql, times) => {
  const translations = jest.spyOn(translateText, 'run');
  for (let i = 0; i < 4; i++) await engine.run(queryOf(sql, 'x', { stored: true }), limits);
  expect(translations).toHaveBeenCalledTimes(times);
});

test('a result that is cut off says so', async () => {
  const sends = found();
  for (let i = 0; i < 4; i++) {
    const { rows, truncated } = await engine.run(queryOf(WHOLE, 'x', { maxRows: 100 }), limits);
    expect([rows.length, truncated]).toEqual([100, true]);
  }
  expect(sends).toHaveBeenCalled();
});

test('rows with pins are never looked for', async () => {
  const sends = found();
  const stored = `WITH a AS (SELECT * FROM raw_x WHERE project = 'mine')\n`;
  const sql = `${stored}SELECT id, metadata FROM a WHERE id <> @left_out ORDER BY timestamp LIMIT 10`;
  const fence = { consumer: { start: stored.length, end: sql.length } };
  for (let i = 0; i < 4; i++) await engine.run(queryOf(sql, `r${i}`, { fence }), limits);
  expect(sends).not.toHaveBeenCalled();
});

test('rows that are appended are there at once, and those of deleted files are not', async () => {
  const own = await DataFolder.make({
    'schema.json': SCHEMA,
    'raw_x/a.ndjson': ndjson(row(1), row(2)),
    'raw_x/b.ndjson': ndjson(row(4)),
  });
  try {
    const growing = await own.open({ smallFile: 0 });
    const ids = async (): Promise<unknown[]> => {
      const { rows } = await growing.run(queryOf(WHOLE, 'x'), limits);
      return rows.map((text) => (JSON.parse(text) as { id: string }).id);
    };
    const sends = found();
    for (let i = 0; i < 4; i++) expect(await ids()).toEqual(['r4', 'r2', 'r1']);
    expect(sends).toHaveBeenCalled();
    await own.append({ 'raw_x/a.ndjson': ndjson(row(5)) });
    await rm(join(own.dataDir, 'raw_x/b.ndjson'));
    await until(async () => (await ids()).join() === 'r5,r2,r1');
  } finally {
    await own.remove();
  }
});

describe('Texts', () => {
  const shown = { parts: ['p'], form: 'f' };
  const line = (i: number): string => `{"i":${i}}\n`;
  const remember = (texts: RowTexts, numbers: readonly number[]): void => {
    const recorder = texts.recorder(shown);
    recorder.takeNumbers(numbers);
    recorder.take(Buffer.from(numbers.map(line).join('')));
    recorder.end();
  };
  const ask = async (texts: RowTexts, numbers: readonly number[], maxBytes = 1000): Promise<string | null> => {
    let all = '';
    const take = (lines: Uint8Array): void => void (all += Buffer.from(lines).toString());
    const known = await texts.send({ numbers, truncated: false }, shown, maxBytes, { begin: () => undefined, take });
    return known === null ? null : all;
  };

  test('come in the order that is asked for', async () => {
    const texts = new RowTexts(100_000);
    remember(texts, [3, 1, 2]);
    remember(texts, [2, 7]);
    expect(await ask(texts, [7, 1, 2, 3, 3])).toBe([7, 1, 2, 3, 3].map(line).join(''));
    expect(await ask(texts, [1, 4])).toBeNull();
  });

  test('are bounded', async () => {
    const texts = new RowTexts(4 * 10 * 140);
    for (let i = 0; i < 100; i += 5) remember(texts, [i, i + 1, i + 2, i + 3, i + 4]);
    expect(await ask(texts, [99, 98, 97])).toBe([99, 98, 97].map(line).join(''));
    expect(await ask(texts, [0])).toBeNull();
    remember(
      texts,
      Array.from({ length: 1000 }, (_, i) => i),
    );
    expect(await ask(texts, [500])).toBeNull();
  });

  test('are not looked for when they are never there', async () => {
    const texts = new RowTexts(100_000);
    expect(texts.useFor('f')).toBe('record');
    const uses: string[] = [];
    for (let i = 0; i < 40; i++) {
      remember(texts, [i]);
      uses.push(texts.useFor('f'));
      if (uses.at(-1) === 'find') expect(await ask(texts, [i + 1])).toBeNull();
    }
    expect(uses.slice(0, 3)).toEqual(['find', 'find', 'find']);
    expect(uses.slice(3).filter((use) => use === 'find').length).toBeLessThan(4);
    await ask(texts, [39]);
    expect(texts.useFor('f')).toBe('find');
  });

  test('larger than an answer may be are refused as such', async () => {
    const texts = new RowTexts(100_000);
    remember(texts, [1, 2]);
    await expect(ask(texts, [1, 2], 10)).rejects.toMatchObject({ reason: 'resourcesExceeded' });
  });
});
