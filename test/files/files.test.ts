import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { readTestFile } from '../../src/cli/endpoint-tests/test-file';
import { readBounded, readBoundedSync } from '../../packages/duckdb-engine/src/files';
import { readSources } from '../../packages/collector/src/sources';
import { readCatalogue } from '../../src/endpoints/directory';
import { describedTables } from '../../packages/duckdb-engine/src/data/schemas';
import { readWrittenEntries } from '../../src/keys/keys-file';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-bounded-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function fileOf(size: number, name = 'file'): string {
  const file = path.join(folder, name);
  writeFileSync(file, '');
  truncateSync(file, size);
  return file;
}

it('reads as many bytes as it may, and not one more', async () => {
  const file = fileOf(10);
  expect([(await readBounded(file, 10)).length, readBoundedSync(file, 10).length]).toEqual([10, 10]);
  await expect(readBounded(file, 9)).rejects.toThrow(/EFBIG/);
  expect(() => readBoundedSync(file, 9)).toThrow(/EFBIG/);
  await expect(readBounded(path.join(folder, 'none'), 9)).rejects.toThrow(/ENOENT/);
});

it.each<[string, string, (file: string) => unknown]>([
  ['a stored query', 'a.sql', async () => (await readCatalogue(folder)).faults],
  ['the keys file', 'keys.json', readWrittenEntries],
  ['schema.json', 'schema.json', () => describedTables(folder, { declared: LOG_SCHEMA })],
  ['sources', 'sources.json', (file) => readSources(file, 'COLLECT_SOURCES')],
  ['tests of an endpoint', 'a.test.yaml', readTestFile],
])('does not read %s of a gigabyte', async (_what, name, read) => {
  const file = fileOf(1024 ** 3, name);
  const before = process.memoryUsage().rss;
  const said = await Promise.resolve()
    .then(() => read(file))
    .then(JSON.stringify, String);
  expect(said).toMatch(/cannot be read.*EFBIG, it has more than \d+ bytes/);
  expect(process.memoryUsage().rss - before).toBeLessThan(512 * 1024 ** 2);
});
