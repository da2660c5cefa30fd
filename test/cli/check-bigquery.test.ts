/** `logquay check --engine bigquery`: what BigQuery, and not the embedded engine, says of stored queries, in dry runs. */
import path from 'node:path';

import { expectEveryFault, faultyFiles } from '../endpoints/faulty-queries';
import { QueryFolder, storedQuery } from '../endpoints/folder';
import { overLocalBigQuery } from '../engines/over-local-bigquery';
import { type Ended, logquay } from './command-line';

jest.setTimeout(120_000);

const QUERIES = path.join(__dirname, '../../queries');

overLocalBigQuery('logquay check --engine bigquery', (local) => {
  const folders: QueryFolder[] = [];
  afterAll(() => Promise.all(folders.map((folder) => folder.remove())));

  async function folderOf(files: Readonly<Record<string, string>>): Promise<QueryFolder> {
    const folder = await QueryFolder.create(files);
    folders.push(folder);
    return folder;
  }

  const checked = (folder: string, host = local().host): Promise<Ended> =>
    logquay(['check', folder, '--engine', 'bigquery'], {
      BIGQUERY_EMULATOR_HOST: host,
      BIGQUERY_PROJECT_ID: 'test',
      BIGQUERY_DATASET: 'logs',
      PRICE_PER_TIB: '10000',
    });

  it('says what each stored query reads and what that costs, and runs none', async () => {
    await local().control({ reset: true });
    const { code, out, notes } = await checked(QUERIES);
    expect([code, notes]).toEqual([0, []]);
    const lines = out.map((line) =>
      /^(.*)\.sql: OK \(reads (\d+) bytes without parameters, (\d+\.\d{4}) USD\)$/.exec(line),
    );
    expect(lines.map((line) => path.basename(line?.[1] ?? ''))).toContain('logs.all');
    // Where timestamps are required, what is read depends on them.
    expect(out.filter((_, i) => lines[i] === null).every((line) => line.endsWith('.sql: OK'))).toBe(true);
    // BigQuery bills 10 MiB of each table at least.
    const prices = Array.from({ length: 20 }, (_, tables) => (((tables + 1) * 10 * 10_000) / 2 ** 20).toFixed(4));
    for (const [line, , bytes, price] of lines.flatMap((found) => (found === null ? [] : [found]))) {
      expect([line, Number(bytes) > 0]).toEqual([line, true]);
      expect([line, prices]).toEqual([line, expect.arrayContaining([price])]);
    }
    const { requests } = await local().control();
    const jobs = requests.filter(({ operation }) => ['query', 'insertJob'].includes(operation));
    expect(jobs.length).toBeGreaterThan(0);
    for (const { body } of jobs)
      expect(body['dryRun'] ?? (body['configuration'] as { dryRun?: boolean } | undefined)?.dryRun).toBe(true);
  });

  it('names every fault of every file in one pass, with its place and what was probably meant', async () => {
    const folder = await folderOf(faultyFiles());
    const { code, out } = await checked(folder.path);
    expect(code).toBe(1);
    expectEveryFault(out, folder);
  });

  it('names tables that are not there beside what is wrong with those that are', async () => {
    const sql = 'SELECT a.idd, b.id FROM raw_edge_logs AS a, raw_auth_log AS b, raw_storage_lgs AS c';
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a', '', sql) });
    const { out } = await checked(folder.path);
    expect(out.filter((line) => line.startsWith(folder.path)).map((line) => line.replace(/^.*:5:/, ''))).toEqual([
      '10: Name idd not found inside a. Did you mean id?',
      '45: Table not found: raw_auth_log. Did you mean raw_auth_logs?',
      '64: Table not found: raw_storage_lgs. Did you mean raw_storage_logs?',
    ]);
  });

  it('takes what BigQuery takes and our own reading does not know, and says what it alone refuses', async () => {
    const folder = await folderOf({
      'a.sql': storedQuery(1, 'known.there', '', 'SELECT table_name FROM logs.INFORMATION_SCHEMA.TABLES'),
      'b.sql': storedQuery(2, 'refused.there', '', 'SELECT table_name FROM logs.INFORMATION_SCHEMA.NOTHING'),
    });
    const { code, out } = await checked(folder.path);
    expect([code, out.slice(0, 2)]).toEqual([
      1,
      [
        expect.stringMatching(/a\.sql: OK/),
        `${folder.file('b.sql')}:5:24: Table not found: logs.INFORMATION_SCHEMA.NOTHING.`,
      ],
    ]);
  });

  it('fails where BigQuery does not answer, and says so of each file', async () => {
    const folder = await folderOf({ 'a.sql': storedQuery(1, 'a'), 'b.sql': storedQuery(2, 'b') });
    const { code, out } = await checked(folder.path, '127.0.0.1:1');
    expect(code).toBe(1);
    for (const name of ['a.sql', 'b.sql'])
      expect(out).toContain(`${folder.file(name)}:1:1: could not be resolved: BigQuery is not available.`);
  });
});
