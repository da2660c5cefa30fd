import type { Standing } from '../src/engine/log';
import { openDatabase } from '../src/engine/database';
import { DataFolder } from './data-folder';
import { LOG_SCHEMA } from '../../../src/engines/log-schema';

async function progressOf(files: Readonly<Record<string, string>> | null): Promise<(Standing | null)[]> {
  const folder = await DataFolder.make(files ?? {});
  const standings: (Standing | null)[] = [];
  const log = { ...folder.log, progress: (standing: Standing | null) => standings.push(standing) };
  const { dataDir, cacheDir } = folder;
  const options = { declared: LOG_SCHEMA, dataDir: files === null ? null : dataDir, cacheDir, now: null, log };
  const database = await openDatabase(options);
  await database.close();
  (await database.instance).closeSync();
  await folder.remove();
  return standings;
}

it('generating samples reports every table, and of the end', async () => {
  const seen = await progressOf(null);
  expect(seen.at(-1)).toBeNull();
  const counts = seen.slice(0, -1).map((standing) => standing?.done ?? NaN);
  expect(counts).toHaveLength(9);
  expect(counts[0]).toBe(0);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(seen[0]).toMatchObject({ what: 'Making sample logs', unit: 'rows' });
  expect(seen[0]?.total).toBeGreaterThanOrEqual(50_000);
});

it('converting reports its steps', async () => {
  const line = (n: number) => `${JSON.stringify({ a: 'x'.repeat(200), n: n % 7 === 0 ? 'odd' : n })}\n`;
  const schema = {
    fields: [
      { name: 'a', type: 'STRING' },
      { name: 'n', type: 'INTEGER' },
    ],
  };
  const rows = Array.from({ length: 150_000 }, (_, n) => line(n)).join('');
  const files = {
    'things.ndjson': rows,
    'more.ndjson': '{"b":1}\n',
    'schema.json': JSON.stringify({ things: schema }),
  };
  const seen = await progressOf(files);
  expect(seen.at(-1)).toBeNull();
  const steps = new Set<string>();
  for (const standing of seen) {
    if (standing === null) continue;
    steps.add(standing.what);
    expect(standing.done).toBeGreaterThanOrEqual(0);
    expect(standing.done).toBeLessThanOrEqual(standing.total);
  }
  expect(steps).toContain('Reading things');
});
