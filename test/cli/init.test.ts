/** `logquay init`: what it writes passes `check` and its own tests, on both engines. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { RestField } from '../../packages/googlesql/src/rest-schema';
import { compare } from '../../src/cli/endpoint-tests/compare';
import { dataSetOf, writeDataSet } from '../../src/cli/endpoint-tests/data-set';
import { runTest } from '../../src/cli/endpoint-tests/test-endpoints';
import { readTestFile } from '../../src/cli/endpoint-tests/test-file';
import { openLocalRunner } from '../../src/cli/local-runner';
import { tenantOf } from '../../src/cli/init/endpoint-text';
import { readConfig } from '../../src/config';
import { openCatalogue } from '../../src/endpoints/catalogue';
import { SOFT_RESERVED } from '../../src/endpoints/declaration';
import { RESERVED } from '../../src/keys/key';
import { openLog } from '../../src/log';
import { localBigQueryInstalled, startLocalBigQuery } from '../local-bigquery';
import { type Ended, logquay } from './command-line';
import { TENANTS } from './presets';

jest.setTimeout(300_000);

const folder = mkdtempSync(path.join(tmpdir(), 'logquay-init-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DATA_DIR = path.join(folder, 'data');
const QUERIES_DIR = path.join(folder, 'queries');
const environment = { DATA_DIR, QUERIES_DIR, CACHE_DIR: path.join(folder, 'cache') };
const init = (...args: string[]): Promise<Ended> => logquay(['init', ...args], environment);
const textOf = (file: string): string => readFileSync(path.join(QUERIES_DIR, file), 'utf8');

beforeAll(() => {
  mkdirSync(DATA_DIR);
  const rows = [
    { ts: 1790000000, text: 'a', who: { org: 'acme' }, tags: [{ key: 'env', value: 'dev' }], n: 1 },
    { ts: 1790000001, text: 'b', who: { org: 'other' }, tags: [], n: 2 },
  ];
  writeFileSync(path.join(DATA_DIR, 'own-logs.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});

it('knows a tenant of each preset, and each preset', () => {
  const files = readdirSync(path.join(__dirname, '../../src/cli/init/presets'));
  expect(files.map((file) => file.replace('.yaml', '')).sort()).toEqual(Object.keys(TENANTS).sort());
});

it('writes over files, tables and known shapes what check and its own tests take', async () => {
  const csv = path.join(folder, 'elsewhere.csv');
  writeFileSync(csv, 'when,host,status,line\n2026-01-01 10:00:00,a,200,hello\n');
  const own = path.join(DATA_DIR, 'own-logs.ndjson');
  const lines: readonly (readonly string[])[] = [
    [csv],
    [own],
    // The first of them declares the table, which is open from then on.
    [own, '--name', 'by-org', '--tenant', 'who.org'],
    ['own-logs', '--name', 'by-tag', '--tenant', 'tags.env'],
    ['own-logs', '--name', 'by-number', '--tenant', 'n'],
    ...Object.entries(TENANTS).map(([preset, tenant]) => ['--preset', preset, '--tenant', tenant]),
    ['otel-2', '--preset', 'otel', '--name', 'other', '--tenant', 'resource_attributes.service.name'],
  ];
  for (const line of lines) expect({ line, ...(await init(...line)) }).toMatchObject({ line, code: 0 });
  expect(textOf('elsewhere.sql')).toMatch(/^log:\n {2}time: when\n {2}message: line\n {2}severity: status$/m);
  expect(textOf('own-logs.sql')).toMatch(/time:\n {4}column: ts\n {4}unit: s/);
  // What has no type cannot be pinned.
  expect(await init('own-logs', '--name', 'none', '--tenant', 'who.orgg')).toMatchObject({ code: 1, out: [] });
  expect(Object.keys(JSON.parse(textOf('schema.json')) as object)).toContain('own-logs');
  rmSync(path.join(QUERIES_DIR, 'elsewhere.sql'));
  rmSync(path.join(QUERIES_DIR, 'elsewhere.test.yaml'));

  const checked = await logquay(['check'], environment);
  expect(checked.out.filter((line) => !line.endsWith('.sql: OK'))).toEqual([]);
  expect([checked.code, checked.out.length]).toEqual([0, 4 + 2 * (Object.keys(TENANTS).length + 1)]);
  const files = ['by-org', 'by-tag', 'by-number', 'own-logs'].map((name) => path.join(QUERIES_DIR, `${name}.sql`));
  expect(await logquay(['test', ...files], environment)).toMatchObject({ code: 0 });
});

/** The tests of all presets, over tables of which each has those of its own preset. */
async function testsOfPresets() {
  const found = [];
  const data = { base: QUERIES_DIR, schema: new Map<string, readonly RestField[]>(), tables: {}, clock: null };
  for (const preset of Object.keys(TENANTS).flatMap((name) => [name, `${name}.counts`])) {
    const file = await readTestFile(path.join(QUERIES_DIR, `${preset}.test.yaml`));
    for (const test of file.content.tests) {
      const own = await dataSetOf(file, test);
      for (const table of Object.keys(own.tables)) data.schema.set(table, own.schema.get(table) ?? []);
      Object.assign(data.tables, own.tables);
      found.push({ preset, test });
    }
  }
  return { found, data };
}

// Without the local BigQuery, on a laptop. CI installs it, and counts what is skipped as failed.
const available = localBigQueryInstalled || process.env['CI'] !== undefined;

for (const engine of ['duckdb', 'bigquery']) {
  const onEngine = engine === 'duckdb' || available ? it : it.skip;
  onEngine(`each preset passes its tests on ${engine}`, async () => {
    const { found, data } = await testsOfPresets();
    const written = await writeDataSet(data);
    const dataDir = path.join(written.folder, 'data');
    const local = engine === 'duckdb' ? null : await startLocalBigQuery(['--data', dataDir]);
    const settings = local === null ? { DATA_DIR: dataDir } : bigQueryAt(local);
    const common = { QUERIES_DIR, CACHE_DIR: path.join(written.folder, 'cache') };
    const silent = openLog('silent', { write: () => true });
    const catalogue = await openCatalogue(QUERIES_DIR, { log: silent });
    const { signal } = new AbortController();
    const runner = await openLocalRunner(readConfig({ ...settings, ...common }), catalogue, silent, signal);
    try {
      const failed = [];
      for (const { preset, test } of found) {
        const outcome = await runTest(test, catalogue.find(preset)!, runner, signal);
        const differences = compare(test, outcome);
        if (differences.length > 0) failed.push([preset, test.name, ...differences]);
      }
      expect(failed).toEqual([]);
      expect(found.length).toBeGreaterThan(5 * Object.keys(TENANTS).length);
      if (local === null) return;
      const presets = path.join(folder, 'presets');
      mkdirSync(presets);
      for (const name of new Set(found.map(({ preset }) => `${preset}.sql`))) {
        copyFileSync(path.join(QUERIES_DIR, name), path.join(presets, name));
      }
      const { out } = await logquay(['check', presets, '--engine', 'bigquery'], settings);
      expect(out.filter((line) => !/\.sql: OK/.test(line))).toEqual([]);
    } finally {
      await runner.close();
      catalogue.close();
      await local?.stop();
      await written.remove();
    }
  });
}

function bigQueryAt({ host }: { readonly host: string }): Record<string, string> {
  return { BIGQUERY_EMULATOR_HOST: host, BIGQUERY_PROJECT_ID: 'test', BIGQUERY_DATASET: 'logs' };
}

it('refuses a tenant whose parameter would mean something else', () => {
  for (const name of [...RESERVED, ...SOFT_RESERVED, 'ISO_timestamp_start', 'History']) {
    const table = { name: 'logs', columns: [{ name, type: { kind: 'STRING' } }] } as const;
    expect(() => tenantOf(table, name)).toThrow(`cannot be called ${name}`);
  }
});

it('takes a preset for rows of its form alone, with the fields that they have beside it', async () => {
  const data = path.join(folder, 'of-presets');
  const settings = {
    DATA_DIR: data,
    QUERIES_DIR: path.join(folder, 'over-presets'),
    CACHE_DIR: path.join(data, '.cache'),
  };
  mkdirSync(data);
  const line = (status: number): string => `192.0.2.1 - - [29/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" ${status} 12\n`;
  const rows = {
    'access.log': line(200) + line(404),
    // The time is of another type.
    'iso.ndjson': '{"level":30,"time":"2026-11-29T10:00:00Z","pid":1,"hostname":"h","name":"n","msg":"m"}\n',
    'app.ndjson': '{"level":30,"time":1790000000000,"pid":1,"hostname":"h","msg":"m","org":{"id":7},"team":"a"}\n',
    'k8s.ndjson': '{"time":"2026-11-29T10:00:00Z","stream":"stdout","log":"m","kubernetes":{"team":"a","host":"h"}}\n',
  };
  for (const [file, text] of Object.entries(rows)) writeFileSync(path.join(data, file), text);
  const over = (...args: string[]): Promise<Ended> => logquay(['init', ...args], settings);
  for (const [table, preset] of [
    ['access', 'nginx'],
    ['iso', 'pino'],
  ] as const) {
    const { code, out, notes } = await over(table, '--preset', preset);
    expect([code, out, notes.join()]).toEqual([1, [], expect.stringContaining(`"logquay init ${table}"`)]);
  }
  for (const [table, preset, tenant, name] of [
    ['app', 'pino', 'team', 'app'],
    ['app', 'pino', 'org.id', 'by-org'],
    ['k8s', 'kubernetes', 'kubernetes.team', 'k8s'],
    // No row of it is there, and none of the preset's has the field.
    ['later', 'nginx', 'request_id', 'later'],
  ] as const) {
    const called = name === table ? [] : ['--name', name];
    const { code, out, notes } = await over(table, '--preset', preset, '--tenant', tenant, ...called);
    const parameter = tenant.split('.').at(-1)!;
    expect([code, out.length >= 5, notes.join('\n')]).toEqual([0, true, expect.stringContaining(`/query/${name}?`)]);
    expect(notes.join('\n')).toContain(
      `logquay keys create --name acme --endpoints ${name},${name}.counts --pin ${parameter}=VALUE`,
    );
  }
  expect(await logquay(['check'], settings)).toMatchObject({ code: 0 });
  expect(await logquay(['test'], settings)).toMatchObject({ code: 0 });
  // Where nobody has said where the tables are.
  const samples = { QUERIES_DIR: settings.QUERIES_DIR, CACHE_DIR: settings.CACHE_DIR };
  writeFileSync(path.join(settings.QUERIES_DIR, 'schema.json'), '{}');
  for (const command of [['check'], ['init', 'app']])
    expect(await logquay(command, samples)).toMatchObject({
      code: 1,
      notes: [expect.stringContaining('DATA_DIR is not set')],
    });
});

it('overwrites nothing', async () => {
  const before = readdirSync(QUERIES_DIR).map((file) => [file, textOf(file)]);
  const again = await init('--preset', 'otel');
  expect([again.code, again.out, again.notes.join()]).toEqual([1, [], expect.stringContaining('otel.sql')]);
  // The table is declared as something else.
  expect((await init('own-logs', '--preset', 'otel', '--name', 'again')).notes.join()).toContain(
    'declares another table own-logs already',
  );
  expect(readdirSync(QUERIES_DIR).map((file) => [file, textOf(file)])).toEqual(before);
});

(available ? it : it.skip)('writes over a table of BigQuery what a dry run takes', async () => {
  const queries = path.join(folder, 'of-bigquery');
  const local = await startLocalBigQuery(['--data', path.join(__dirname, '../fixture')]);
  const settings = { ...bigQueryAt(local), QUERIES_DIR: queries };
  const bigquery = { ...settings, BIGQUERY_DATASET: '' };
  try {
    const from = 'bigquery:logs.raw_auth_logs';
    expect(await logquay(['init', '--from', from, '--tenant', 'project'], bigquery)).toMatchObject({ code: 0 });
    expect(readdirSync(queries).sort()).toEqual(['raw_auth_logs.sql', 'raw_auth_logs.test.yaml']);
    expect((await logquay(['check', '--engine', 'bigquery'], settings)).out.join()).toMatch(/raw_auth_logs\.sql: OK/);
    expect((await logquay(['init', '--from', 'bigquery:logs.raw_auth_log'], bigquery)).notes.join()).toContain(
      'Did you mean raw_auth_logs?',
    );
    expect((await logquay(['init', '--from', 'logs.raw_auth_logs'], bigquery)).code).toBe(1);
  } finally {
    await local.stop();
  }
});
