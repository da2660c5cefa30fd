/** The real process over a disk that is full, files that may grow no longer, and folders that may not be written. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

import { inLong, long } from '../scale';
import { until } from '../until';
import { Stage } from './started';

jest.setTimeout(180_000);

const PRIVATE = 'private-token-of-the-stack';
const PUBLIC = 'public-token-of-the-stack';
const STACK = {
  COLLECT: 'on',
  COLLECT_MIN_FREE: '0',
  LOGFLARE_SINGLE_TENANT: 'true',
  LOGFLARE_PRIVATE_ACCESS_TOKEN: PRIVATE,
  LOGFLARE_PUBLIC_ACCESS_TOKEN: PUBLIC,
  DATA_DIR: 'logs',
};
const EDGE = 'cloudflare.logs.prod';
const AUTH = 'gotrue.logs.prod';
/** Where root is no more than the owner of its files, as under any other user. */
const AS_OWNER = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
/** A file system of its own, of 4 MB, of which something else has three quarters; it goes with the process. */
const SMALL_DISK = [
  'unshare',
  '-Urm',
  'sh',
  '-c',
  'mount -t tmpfs -o size=4m none logs && head -c 3000000 /dev/zero > logs/.other && exec "$@"',
  'sh',
];

const stage = new Stage();
afterAll(() => stage.end());

/** Messages of a batch, which say what they are in any order. */
const named = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `event-${String(from + i)}`);

async function send(at: string, source: string, messages: readonly string[]): Promise<Response> {
  const events = messages.map((message) => ({
    project: 'default',
    event_message: message,
    timestamp: '2026-11-22T10:00:00Z',
    metadata: { text: 'x'.repeat(200) },
  }));
  return fetch(`${at}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
}

async function status(at: string, source: string, messages: readonly string[]): Promise<number> {
  const response = await send(at, source, messages);
  await response.arrayBuffer();
  return response.status;
}

/** Batches until one is refused. @returns messages of those that were stored, and of that one */
async function fill(at: string, source: string, count: number): Promise<{ stored: string[]; refused: string[] }> {
  const stored: string[] = [];
  for (;;) {
    const batch = named(stored.length, count);
    if ((await status(at, source, batch)) !== 200) return { stored, refused: batch };
    stored.push(...batch);
  }
}

function ask(at: string, table: string): Promise<Response> {
  const sql = `SELECT STRING_AGG(event_message, ' ' ORDER BY event_message) AS all_of FROM ${table}`;
  const query = new URLSearchParams({ project: 'default', sql }).toString();
  return fetch(`${at}/api/endpoints/query/logs.all?${query}`, { headers: { 'X-API-KEY': PRIVATE } });
}

/** What queries see of a table, each message once. */
async function served(at: string, table: string): Promise<string[]> {
  const response = await ask(at, table);
  expect(response.status).toBe(200);
  const { result } = (await response.json()) as { result: { all_of: string | null }[] };
  return result[0]?.all_of?.split(' ') ?? [];
}

async function serves(at: string, table: string, messages: readonly string[]): Promise<void> {
  await until(async () => (await served(at, table)).length >= messages.length);
  expect(await served(at, table)).toEqual([...messages].sort());
}

async function degraded(at: string): Promise<boolean> {
  const detail = (await (await fetch(`${at}/ready`)).json()) as { degraded?: boolean };
  return detail.degraded === true;
}

/** The one daily file of a table. */
function daily(logs: string, table: string): string {
  const folder = path.join(logs, table);
  const [name = ''] = readdirSync(folder);
  return path.join(folder, name);
}

it.each(['is killed', ...inLong(['goes on'])])(
  'cuts off what a failed write has left of a row, and %s',
  async (ending) => {
    const folder = stage.folder();
    let service = stage.start(STACK, folder);
    let at = await service.ready();
    const limit = (size: string): void => {
      const { status: failed } = spawnSync('prlimit', ['--pid', String(service.child.pid), `--fsize=${size}:`]);
      expect(failed).toBe(0);
    };
    limit('1500000');
    const { stored, refused } = await fill(at, EDGE, 1000);
    expect(stored.length).toBeGreaterThan(1000);
    const file = daily(path.join(folder, 'logs'), 'raw_edge_logs');
    const torn = readFileSync(file);
    expect([torn.length, torn.at(-1) === 10]).toEqual([1_500_000, false]);
    // Whole rows of the batch may be seen before it comes again; none is seen in part, and none that was stored is missing.
    const whole = torn.toString().split('\n').length - 1;
    await serves(at, 'edge_logs', [...stored, ...refused].slice(0, whole));
    expect(await degraded(at)).toBe(true);
    expect((await send(at, EDGE, refused)).headers.get('retry-after')).toBe('5');
    expect(await status(at, AUTH, ['other'])).toBe(200);
    if (ending === 'is killed') {
      service.signal('SIGKILL');
      await service.exit;
      service = stage.start(STACK, folder);
      at = await service.ready();
    } else limit('unlimited');
    expect(await status(at, EDGE, refused)).toBe(200);
    expect(await status(at, EDGE, ['last'])).toBe(200);
    await serves(at, 'edge_logs', [...stored, ...refused, 'last']);
    await serves(at, 'auth_logs', ['other']);
    expect(await degraded(at)).toBe(false);
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(stored.length + refused.length + 1);
    service.signal('SIGKILL');
  },
);

const mounts = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'none', '/tmp']).status === 0;
if (!mounts) {
  process.stderr.write('No file system can be mounted here: that the collector outlives a full one is skipped.\n');
  if (!process.env['CI']) it.skip('answers 507 on a full disk', () => undefined);
} else {
  it('answers 507 on a full disk, serves on, and stores what comes again once there is room', async () => {
    const folder = stage.folder();
    mkdirSync(path.join(folder, 'logs'));
    const service = stage.start(STACK, folder, SMALL_DISK);
    const at = await service.ready();
    const logs = path.join(`/proc/${String(service.child.pid)}/root`, folder, 'logs');
    const full = await Promise.all([fill(at, EDGE, 100), fill(at, AUTH, 40)]);
    const again = await send(at, EDGE, full[0].refused);
    expect([again.status, again.headers.get('retry-after')]).toEqual([507, '5']);
    // Exporters of OpenTelemetry send again after 503 alone.
    const otlp = await fetch(`${at}/v1/logs`, {
      method: 'POST',
      headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'x'.repeat(90_000) } }] }] }],
      }),
    });
    expect([otlp.status, otlp.headers.get('retry-after'), await otlp.json()]).toMatchObject([503, '5', { code: 8 }]);
    expect(await degraded(at)).toBe(true);
    for (const [i, table] of ['edge_logs', 'auth_logs'].entries()) {
      const { stored, refused } = full[i]!;
      await until(async () => (await served(at, table)).length >= stored.length);
      const seen = await served(at, table);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(stored));
      expect([...stored, ...refused]).toEqual(expect.arrayContaining(seen));
    }
    rmSync(path.join(logs, '.other'));
    for (const [i, source] of [EDGE, AUTH].entries()) expect(await status(at, source, full[i]!.refused)).toBe(200);
    await serves(at, 'edge_logs', [...full[0].stored, ...full[0].refused]);
    await serves(at, 'auth_logs', [...full[1].stored, ...full[1].refused]);
    expect(await degraded(at)).toBe(false);
    service.signal('SIGKILL');
  });
}

long('refuses what it may not write, stores the rest, and all of it once it may', async () => {
  const folder = stage.folder();
  const logs = path.join(folder, 'logs');
  const service = stage.start(STACK, folder, AS_OWNER);
  const at = await service.ready();
  expect(await status(at, EDGE, ['first'])).toBe(200);
  // The folder of another table can be made no longer, nor a file of today in place of one that is gone.
  chmodSync(logs, 0o555);
  const refused = await send(at, AUTH, ['refused']);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.text()).not.toContain(folder);
  await service.logged(/EACCES/);
  expect(await status(at, EDGE, ['second'])).toBe(200);
  chmodSync(logs, 0o755);
  expect(await status(at, AUTH, ['refused'])).toBe(200);
  await serves(at, 'edge_logs', ['first', 'second']);
  await serves(at, 'auth_logs', ['refused']);
  service.signal('SIGKILL');
  await service.exit;

  // What of the last batches is in a file is not known until that can be read: nothing is stored before, and nothing is lost.
  const file = daily(logs, 'raw_auth_logs');
  const mode = statSync(file).mode;
  chmodSync(file, 0);
  const again = stage.start({ ...STACK, CACHE_DIR: 'another-cache' }, folder, AS_OWNER);
  const now = await again.ready();
  await serves(now, 'edge_logs', ['first', 'second']);
  // A table of which nothing can be read is not empty.
  expect((await ask(now, 'auth_logs')).status).toBe(503);
  expect(await status(now, AUTH, ['later'])).toBe(503);
  chmodSync(file, mode);
  await until(async () => (await status(now, AUTH, ['later'])) === 200);
  await until(async () => (await ask(now, 'auth_logs')).status === 200, 200);
  await serves(now, 'auth_logs', ['refused', 'later']);
  again.signal('SIGKILL');
});

it.each(['logs', ...inLong(['logs/.collector'])])('does not start where it may not write %s', async (unwritable) => {
  const folder = stage.folder();
  mkdirSync(path.join(folder, 'logs/.collector'), { recursive: true });
  chmodSync(path.join(folder, unwritable), 0o555);
  const service = stage.start(STACK, folder, AS_OWNER);
  expect(await service.exit).toBe(1);
  expect(service.err).toContain('EACCES');
  chmodSync(path.join(folder, unwritable), 0o755);
});
