/** What becomes of calls when their process has to be ended, over a process that follows a script. */
import { once, setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type RunLimits, textsOf } from '../src/contract/contract';
import type { Opening, Request } from '../src/process/messages';
import { RefusedRequests } from '../src/process/refused-requests';
import { RemoteEngine } from '../src/process/remote-engine';
import { startProcess } from '../src/process/start-process';
import { Supervisor, type SupervisorOptions } from '../src/process/supervisor';
import { queryOf, within } from './queries';
import { silentLog } from './silent-log';
import { LOG_SCHEMA } from '../../../src/engines/log-schema';

jest.setTimeout(180_000);

const MIB = 1024 * 1024;
const causes: string[] = [];
let refused: RefusedRequests;
const open: Supervisor[] = [];
let folder: string;

beforeEach(() => {
  causes.length = 0;
  refused = new RefusedRequests();
  folder = mkdtempSync(join(tmpdir(), 'logquay-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((supervisor) => supervisor.close()));
  rmSync(folder, { recursive: true });
});

function supervisor(options: Partial<SupervisorOptions> = {}): Supervisor {
  const supervisor = new Supervisor({
    file: join(__dirname, 'scripted-child.js'),
    opening: () => ({ role: 'planning' }),
    maxResident: 4096 * MIB,
    idle: null,
    refused,
    patience: { grace: 100, unread: 60_000 },
    log: silentLog,
    died: (cause) => causes.push(cause),
    ...options,
  });
  open.push(supervisor);
  return supervisor;
}

const query = (sql: string): Request => ({ kind: 'run', query: queryOf(sql, { maxRows: 1 }) });
const limits = (signal?: AbortSignal): RunLimits => within(50_000, signal);
const call = (to: Supervisor, sql: string, signal?: AbortSignal, allowance: number | null = null) =>
  to.call({ request: query(sql), limits: limits(signal), allowance });
async function pid(of: Supervisor): Promise<number> {
  const [row = ''] = textsOf((await call(of, 'answer')).lines);
  return (JSON.parse(row) as { pid: number }).pid;
}
/** An engine over such processes, and a query of a key on it. */
function engineOver(data: Supervisor, planning: Supervisor, connections: number) {
  const more = { streams: null, copies: false, dispose: () => undefined };
  const engine = new RemoteEngine({ data, planning, refused, connections, ...more });
  const run = (
    sql: string,
    keyName: string,
    given: Partial<RunLimits> & { stored?: boolean } = {},
  ): Promise<unknown> => {
    const { stored = false, ...of } = given;
    return engine.run(queryOf(sql, { maxRows: 1, stored }), { ...limits(), keyName, ...of });
  };
  return { engine, run };
}
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

it('a call that does not end when it is cancelled has the process ended; the others are sent to the next', async () => {
  const one = supervisor();
  await one.open();
  const first = await pid(one);
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const hanging = outcome(call(one, 'hang', leaving.signal));
  const waiting = outcome(call(one, 'wait', staying.signal));
  leaving.abort();
  expect(await hanging).toMatchObject({ reason: 'resourcesExceeded' });
  expect(causes).toEqual(['overdue']);
  expect(await pid(one)).not.toBe(first);
  // It runs over there, and can be cancelled.
  staying.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError', message: 'cancelled' });
  expect(causes).toEqual(['overdue']);
  expect(() => refused.check({ request: query('hang'), keyName: '' })).toThrow(
    expect.objectContaining({ reason: 'resourcesExceeded' }),
  );
  expect(() => refused.check({ request: query('wait'), keyName: '' })).not.toThrow();
});

it('a process that has been started already is the first one, unless it has ended', async () => {
  const file = join(__dirname, 'scripted-child.js');
  const [first, second] = [startProcess('planning', file), startProcess('planning', file)];
  const one = supervisor({ first });
  await one.open();
  expect(await pid(one)).toBe(first.child.pid);
  const ended = once(second.child, 'exit');
  second.child.kill('SIGKILL');
  await ended;
  const two = supervisor({ first: second });
  await two.open();
  expect(await pid(two)).not.toBe(second.child.pid);
});

/** Opens data, which does not open for one reason after the other, and then does. */
const openingData = (faults: string[]) => (): Opening => {
  const options = { declared: LOG_SCHEMA, dataDir: null, cacheDir: folder, now: null, samplesFile: null };
  return { role: 'data', options, before: null, folders: faults.splice(0, 1) };
};

it.each([
  ['says why', 'No space left.', 'No space left.'],
  ['ends without a word', '', "The engine's process ended while it started (exit code 1)."],
])('a first process that turns out not to open its data is why the start fails: it %s', async (_, fault, message) => {
  const one = supervisor({ opening: openingData([fault]) });
  await one.open();
  await expect(one.readable).rejects.toThrow(message);
  expect(causes).toEqual([]);
});

it('a later one that does not open its data is followed by the next after a pause, and calls are sent there', async () => {
  const faults: string[] = [];
  const failed: string[] = [];
  const log = { ...silentLog, error: (_: object, message: string) => void failed.push(message) };
  const one = supervisor({ opening: openingData(faults), log });
  await one.open();
  await one.readable;
  faults.push('', 'No space left.');
  expect(await outcome(call(one, 'die'))).toMatchObject({ reason: 'backendError' });
  expect(await pid(one)).toBeGreaterThan(0);
  expect(failed.filter((message) => message.endsWith('does not start; it is tried again'))).toHaveLength(2);
});

it('whoever waits for rows that can be read gets AbortError when it is closed before', async () => {
  const one = supervisor();
  const waiting = outcome(one.readable);
  await one.close();
  expect(await waiting).toMatchObject({ name: 'AbortError' });
});

it('a process that dies is replaced, and every call but the one it dies of is answered', async () => {
  const one = supervisor();
  await one.open();
  const staying = new AbortController();
  const dying = outcome(call(one, 'die'));
  const answers = Promise.all([pid(one), pid(one), pid(one)]);
  const waiting = outcome(call(one, 'wait', staying.signal));
  expect(await dying).toMatchObject({ reason: 'backendError' });
  expect(new Set(await answers).size).toBeGreaterThan(0);
  staying.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError' });
  expect(new Set(causes)).toEqual(new Set(['crashed']));
});

it('a process that was killed from outside costs nobody an answer', async () => {
  const one = supervisor();
  await one.open();
  const staying = new AbortController();
  const waiting = outcome(call(one, 'wait', staying.signal));
  const again = call(one, `die ${join(folder, 'died')}`);
  expect(await pid(one)).toBeGreaterThan(0);
  expect(await again).toMatchObject({ answer: { truncated: false } });
  expect(causes).toEqual(['crashed']);
  staying.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError', message: 'cancelled' });
});

it('a process that has grown by many calls is replaced between two of them, and nobody is blamed', async () => {
  const one = supervisor({ maxResident: 512 * MIB, replacedAbove: 400 * MIB });
  await one.open();
  const pids = new Set<string | undefined>();
  for (let i = 0; i < 20; i++) pids.add(textsOf((await call(one, 'grow')).lines)[0]);
  expect(pids.size).toBeGreaterThan(1);
  expect(causes).toEqual([]);
});

it('a process that takes too much memory is ended, and the one that took it is answered', async () => {
  const one = supervisor({ maxResident: 256 * MIB });
  await one.open();
  const staying = new AbortController();
  const waiting = outcome(call(one, 'wait', staying.signal));
  expect(await outcome(call(one, 'fill'))).toMatchObject({ reason: 'resourcesExceeded' });
  expect(new Set(causes)).toEqual(new Set(['memory']));
  expect(await pid(one)).toBeGreaterThan(0);
  staying.abort();
  expect(await waiting).toMatchObject({ name: 'AbortError', message: 'cancelled' });
});

it('a process that no longer listens is ended', async () => {
  const one = supervisor({ patience: { grace: 60_000, unread: 200 } });
  await one.open();
  expect(await outcome(call(one, 'spin'))).toMatchObject({ reason: 'resourcesExceeded' });
  expect(causes).toEqual(['stalled']);
  expect(await pid(one)).toBeGreaterThan(0);
});

it('one that idles ends, and is started again by the next call', async () => {
  const one = supervisor({ idle: 10 });
  const first = await pid(one);
  while (one.resident > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await pid(one)).not.toBe(first);
  expect(causes).toEqual([]);
});

it('closing answers everybody, also while a call cannot be interrupted', async () => {
  const one = supervisor();
  await one.open();
  const all = Promise.all(['hang', 'wait', 'spin'].map((sql) => outcome(call(one, sql))));
  await one.close();
  for (const error of await all) expect(error).toMatchObject({ name: 'AbortError' });
  await expect(pid(one)).rejects.toMatchObject({ name: 'AbortError' });
});

it('a process that cannot start says why', async () => {
  const one = supervisor({ file: join(__dirname, 'nowhere.js') });
  await expect(one.open()).rejects.toThrow('ended while it started');
});

it('no key holds every connection, whatever it sends', async () => {
  const data = supervisor();
  await data.open();
  const { run } = engineOver(data, supervisor(), 3);
  const end = new AbortController();
  setMaxListeners(20, end.signal);
  const greedy = Array.from({ length: 10 }, () => outcome(run('wait', 'greedy', { signal: end.signal })));
  // Nothing of the greedy key's has ended: there is a connection for another key all the same.
  for (let i = 0; i < 3; i++) expect(await run('answer', 'modest')).toMatchObject({ rows: [expect.any(String)] });
  end.abort();
  for (const error of await Promise.all(greedy)) expect(error).toMatchObject({ name: 'AbortError' });
});

it('a key that costs several processes sends no queries of its own for a while; others do', async () => {
  const one = supervisor();
  const { engine, run } = engineOver(one, one, 2);
  for (const n of [1, 2, 3]) {
    // Each of them ends two: it may have been killed from outside the first time.
    const dying = run(`die ${'x'.repeat(300)}/${String(n)}`, 'costly');
    expect(await outcome(dying)).toMatchObject({ reason: 'backendError' });
  }
  expect(await outcome(run('answer', 'costly'))).toMatchObject({ reason: 'tooManyConcurrentQueries' });
  expect(() => engine.admits('costly')).toThrow('several times');
  expect(() => engine.admits('other')).not.toThrow();
  expect(await run('answer', 'costly', { stored: true })).toMatchObject({ truncated: false });
  expect(await run('answer', 'other')).toMatchObject({ truncated: false });
});

it('a caller is answered at the deadline, whatever the process does', async () => {
  const data = supervisor({ patience: { grace: 60_000, unread: 60_000 } });
  await data.open();
  const { engine, run } = engineOver(data, supervisor(), 2);
  const short = run('hang for ever', 'a', { deadline: performance.now() + 50 });
  await expect(short).rejects.toMatchObject({ reason: 'deadlineExceeded' });
  await expect(engine.ping(limits())).resolves.toBeUndefined();
});
