import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Stage } from '../process/started';
import { end, onTerminal, start } from './process';

jest.setTimeout(180_000);

const LOGS = ['run', 'logs.all', '--param', 'project=default'];
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-run-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const at = () => ({ environment: { CACHE_DIR: path.join(folder, 'cache') } });

it('prints what the service answers, in every form', async () => {
  const stage = new Stage();
  try {
    const service = stage.start({ CLOCK: '2026-09-30T12:00:00Z', API_KEY: 'k' });
    const base = await service.ready();
    const lql = ['lql', 'f:postgres_logs'] as const;
    const sql = ['sql', 'select id, timestamp from auth_logs order by id'] as const;
    for (const [format, accept, query] of [
      ['json', 'application/json', sql],
      ['ndjson', 'application/x-ndjson', lql],
      ['csv', 'text/csv', null],
    ] as const) {
      const url = new URL(`${base}/api/endpoints/query/logs.all?project=default`);
      if (query !== null) url.searchParams.set(query[0], query[1]);
      const answer = await fetch(url, { headers: { 'X-API-KEY': 'k', Accept: accept } });
      const expected = await answer.text();
      expect([answer.status, expected.length > 50]).toEqual([200, true]);
      expect(expected).not.toContain('REDACTED');
      const option = query === null ? [] : [`--${query[0]}`, query[1]];
      const ended = await end([...LOGS, '--format', format, ...option], at());
      expect(ended).toEqual({ code: 0, stdout: expected.replace(/\n?$/, '\n'), stderr: '' });
    }
  } finally {
    await stage.end();
  }
});

it('shows a terminal what would steer it, gives a pipe the bytes, and redacts when it is asked to', async () => {
  const sql = "select concat('a', chr(27), '[31m', chr(155), chr(8238)) as s from edge_logs limit 1";
  const args = [...LOGS, '--format', 'csv', '--sql', sql];
  const [piped, shown, redacted] = await Promise.all([
    end(args, at()),
    end(args, { ...at(), under: onTerminal }),
    end([...LOGS, '--redact'], at()),
  ]);
  expect(piped.stdout).toBe('s\r\na\u001b[31m\u009b\u202e\r\n');
  expect(shown.stdout).toContain(String.raw`a\u001b[31m\u009b\u202e`);
  expect(redacted.stdout).toMatch(/^\{"result":\[.*REDACTED.*\]\}\n$/);
});

it('reads SQL from the standard input, and says beside the result that max_rows cut it', async () => {
  const input = 'select a.id\nfrom edge_logs as a cross join edge_logs as b cross join edge_logs as c';
  const { code, stdout, stderr } = await end([...LOGS, '--format', 'ndjson', '--sql', '-'], { ...at(), input });
  expect(code).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1000);
  expect(stderr).toMatch(/max_rows/);
});

it.each([
  ['an endpoint that is not there', ['run', 'nope'], /^notFound: /],
  [
    'a fault in the query',
    [...LOGS, '--sql', 'select\n  frm from edge_logs'],
    /^unknownField \(line 2, column 3, near "frm"\): /,
  ],
  [
    'a table that is fenced off',
    [...LOGS, '--sql', 'select * from raw_edge_logs'],
    /^sandboxViolation \(.*\): .*\nAllowed: /,
  ],
])('fails with 1 and words for %s', async (_, args, words) => {
  const { code, stdout, stderr } = await end(args, at());
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(words);
});

it('fails as a start does with a bad setting', async () => {
  const { code, stdout, stderr } = await end(LOGS, { environment: { QUERY_TIMEOUT: 'soon' } });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^QUERY_TIMEOUT: allowed is /);
});

it('lets the reader of a pipe leave', async () => {
  const entry = path.join(__dirname, '../../dist/cli.js');
  const command = `node ${entry} run logs.all --param project=default --format ndjson | head -c 10; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], {
    env: { ...process.env, ...at().environment, DATA_DIR: path.join(__dirname, '../fixture') },
    cwd: path.join(__dirname, '../..'),
  });
  expect(stdout).toMatch(/^\{"id":".{3}0\n$/);
  expect(stderr).toBe('');
});

it('stops at Ctrl-C', async () => {
  const rows = Array.from({ length: 9 }, (_, i) => `edge_logs as t${String(i)}`).join(' cross join ');
  const { child, ended } = start(
    [...LOGS, '--sql', `select count(distinct concat(t0.id, t8.id)) as n from ${rows}`],
    at(),
  );
  await sleep(3000);
  expect(child.exitCode).toBeNull();
  // It would run for hours.
  child.kill('SIGINT');
  expect(await ended).toEqual({ code: 130, stdout: '', stderr: '' });
});
