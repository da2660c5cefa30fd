/** How commands end: with which exit code, and which words. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { logquay as program } from '../../src/cli/program';
import { logquay } from './command-line';
import { end } from './process';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
/** In a folder with the repository's stored queries, a faulty one in `faulty/` and none in `empty/`; one after the other. */
const ENDINGS: readonly (readonly [line: string, code: number, text: string])[] = [
  ['check', 0, 'queries/logs.all.sql: OK'],
  ['check faulty', 1, 'Unrecognized name: pth'],
  ['check empty', 1, 'empty: no .sql files'],
  ['check --engine mysql', 2, 'Allowed choices are duckdb, bigquery.'],
  ['keys create --name grafana', 0, 'Key grafana is in .data/keys.json.'],
  ['keys create --name grafana', 1, 'There is a key named grafana already: revoke it first, or choose another name.'],
  ['keys create', 2, "error: required option '--name <name>' not specified"],
  ['keys create --name b --endpoints logs.al', 2, 'Did you mean logs.all?'],
  ['keys create --name b --pin prject=abc', 2, 'Did you mean project?'],
  ['keys list', 0, 'grafana'],
  ['keys revoke grafana', 0, 'Key grafana is revoked; a running service takes that up within 2 seconds.'],
  ['keys revoke grafana', 1, 'There is no key named grafana in .data/keys.json.'],
  ['keys revoke', 2, "error: missing required argument 'name'"],
  ['run logs.all', 1, 'invalidParameter: Parameter "project" is required.'],
  ['run logs.al --param project=default', 1, 'notFound: There is no such endpoint, or this key may not run it.'],
  ['run logs.all --param project', 2, 'It is written name=value.'],
  ['test empty', 1, 'empty: no files of tests (NAME.test.yaml)'],
  ['test --format html', 2, 'Allowed choices are text, tap, junit.'],
  ['schema', 0, 'Settings of a stored query of Logquay'],
  ['lql rules --now never', 2, 'It is no date or instant.'],
  ['mcp --verbose', 2, "error: unknown option '--verbose'"],
  ['setup-bigquery --project p --keep-days x', 2, 'error: '],
  ['import-logflare --url ftp://x --token t', 1, '--url: an http or https URL is needed.'],
  ['token nobody', 1, 'There is no entry nobody with tokens in .data/keys.json.'],
  ['init raw_auth_logs --tenant project', 0, 'queries/raw_auth_logs.sql'],
  ['init raw_auth_logs', 1, 'Nothing is overwritten, and there is already: queries/raw_auth_logs.sql'],
  ['init raw_auth_log', 1, 'Did you mean raw_auth_logs?'],
  ['init raw_pgbouncer_logs --tenant owner', 1, 'raw_pgbouncer_logs has no field owner.'],
  ['init', 2, 'error: name a file or a table, --from or --preset'],
  ['serve nothing', 2, 'error: too many arguments'],
];

const before = process.cwd();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-'));
  cpSync(path.join(ROOT, 'queries'), path.join(folder, 'queries'), { recursive: true });
  for (const name of ['faulty', 'empty']) mkdirSync(path.join(folder, name));
  const faulty = '/*\nid: 00000000-0000-4000-8000-000000000001\nname: faulty\n*/\nSELECT pth FROM raw_edge_logs\n';
  writeFileSync(path.join(folder, 'faulty/one.sql'), faulty);
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

it.each(ENDINGS)('logquay %s ends with %i', async (line, code, text) => {
  const ended = await logquay(line.split(' '), { DATA_DIR: path.join(ROOT, 'test/fixture') });
  expect({ line, code: ended.code }).toEqual({ line, code });
  expect([...ended.out, ...ended.notes].join('\n')).toContain(text);
});

it('shows every code but that of Ctrl-C, and a failure of every command that can fail without a service', () => {
  expect(new Set(ENDINGS.map(([, code]) => code))).toEqual(new Set([0, 1, 2]));
  const failing = new Set(ENDINGS.flatMap(([line, code]) => (code === 0 ? [] : line.split(' ')[0])));
  const all = program({ environment: {}, out: () => undefined, note: () => undefined, now: Date.now }).commands;
  const commands = all.map((one) => one.name()).filter((name) => name !== 'help');
  const without = commands.filter((name) => !failing.has(name));
  // It prints, or hands over to a program of its own.
  expect(without).toEqual(['schema', 'emulator']);
});

it('serve says why it cannot start', async () => {
  const { code, stdout, stderr } = await end(['serve'], { environment: { PORT: 'x' }, cwd: folder });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Logquay cannot start\.\n.*PORT/);
});

it('check names what a new version changes: settings that are gone, and entries of the keys file', async () => {
  const key = { name: 'app', hash: '0'.repeat(64) };
  writeFileSync(
    path.join(folder, 'keys.json'),
    JSON.stringify({ keys: [key, { ...key, name: 'other', arrow: true }] }),
  );
  const environment = { DATA_DIR: path.join(ROOT, 'test/fixture'), KEYS_FILE: 'keys.json', STALE_IF_ERROR: '7200' };
  const { code, out, notes } = await logquay(['check'], environment);
  expect(notes).toEqual([expect.stringMatching(/^warning: STALE_IF_ERROR has no effect: .*3600 seconds/)]);
  expect(out).toContainEqual(expect.stringMatching(/^keys\.json: entry 2 \(other\): .*arrow/));
  expect(code).toBe(1);
  await expect(logquay(['check'], { ...environment, MAX_WARMED: '10' })).resolves.toMatchObject({
    code: 1,
    notes: [expect.stringMatching(/^MAX_WARMED: this setting is gone/)],
  });
});
