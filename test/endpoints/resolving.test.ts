/** Stored queries are resolved against the engine's tables before they are served. */
import { LOG_SCHEMA } from '../../src/engines/log-schema';
import path from 'node:path';

import { resolverOf, StoredAnalyses } from '../../src/analysis/stored-analyses';
import { type Catalogue, openCatalogue, type Resolution, type ResolveStored } from '../../src/endpoints/catalogue';
import { check } from '../../src/endpoints/check';
import { openSchemaEngine } from '../../packages/duckdb-engine/src/engine/schema-engine';
import { FAULTY_QUERIES, FAULTY_SETTINGS, faultyFiles } from './faulty-queries';
import { QueryFolder } from './folder';

const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const file = (number: number, sql: string) => `/*\nid: ${uuidOf(number)}\nname: q${String(number)}\n*/\n${sql}`;
const SOUND = 'SELECT id FROM raw_edge_logs';

let resolve: ResolveStored;
beforeAll(async () => {
  const engine = await openSchemaEngine({ dataDir: null, declared: LOG_SCHEMA });
  resolve = resolverOf(new StoredAnalyses(engine, { columns: () => Promise.reject(new Error('No gate.')) }));
});

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function folderOf(files: Readonly<Record<string, string>>): Promise<QueryFolder> {
  const folder = await QueryFolder.create(files);
  closers.push(() => folder.remove());
  return folder;
}

const logged: string[] = [];
const reported: (string | null)[] = [];

async function open(folder: QueryFolder, resolveEvery = 50): Promise<Catalogue> {
  logged.length = 0;
  reported.length = 0;
  const write = (facts: object | string, message?: string): void =>
    void logged.push(`${message ?? ''} ${JSON.stringify(facts)}`);
  const report = (_component: string, fault: string | null): void => void reported.push(fault);
  const catalogue = await openCatalogue(folder.path, {
    log: { info: write, warn: write },
    pollEvery: 20,
    resolveEvery,
    report,
  });
  closers.push(() => catalogue.close());
  return catalogue;
}

const unquoted = (line: string): string => line.replaceAll('\\"', '"');

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done, 10));
}

it('check names each of twenty faults with file, line, column, the line and a caret, in one pass', async () => {
  const files = FAULTY_QUERIES.map(
    ([sql], i) => [`q${String(i + 10)}.sql`, file(i + 10, `SELECT * FROM (\n${sql}\n)`)] as const,
  );
  const folder = await folderOf(Object.fromEntries([...files, ['q99.sql', file(99, SOUND)]]));
  const lines: string[] = [];
  expect(await check(folder.path, (line) => lines.push(line), { resolve })).toBe(1);
  expect(lines[0]).toBe(`${folder.file('q99.sql')}: OK`);
  expect(lines).toHaveLength(1 + 3 * FAULTY_QUERIES.length);
  FAULTY_QUERIES.forEach(([sql, near, message], i) => {
    const [fault = '', shown = '', caret = ''] = lines.slice(1 + 3 * i);
    const [, name, line, column, reason] = /^(.*):(\d+):(\d+): (.*)$/.exec(fault) ?? [];
    expect([name, line]).toEqual([folder.file(`q${String(i + 10)}.sql`), '6']);
    expect(reason).toMatch(message);
    expect(shown.slice(4)).toContain(sql.slice(-20));
    if (near !== '') expect(shown.slice(caret.length - 1)).toMatch(new RegExp(`^${near.replace(/[+.]/g, '\\$&')}`));
    expect(sql.slice(Number(column) - 1)).toMatch(new RegExp(`^${near.replace(/[+.]/g, '\\$&')}`));
  });
});

it('check finds what is wrong with settings and with the query in one pass', async () => {
  const folder = await folderOf({ 'a.sql': file(1, 'SELECT pth FROM raw_edge_logs').replace('*/', 'cache: 900\n*/') });
  const lines: string[] = [];
  await check(folder.path, (line) => lines.push(line), { resolve });
  expect(
    lines.filter((line) => line.startsWith(folder.path)).map((line) => line.slice(folder.path.length + 1)),
  ).toEqual([
    'a.sql:4:1: unknown setting "cache". Did you mean cache_ttl?',
    expect.stringMatching(/^a\.sql:6:8: Unrecognized name: pth\. path is in metadata\.request: add CROSS JOIN UNNEST/),
  ]);
});

it('check finds roles that no table of the query has, and nobody else minds', async () => {
  const log = 'log:\n  time: timestmp\n  message: metadata\n  severity: metadata.response.status_code';
  const text = file(1, 'WITH a AS (SELECT timestamp, metadata FROM raw_edge_logs) SELECT * FROM a');
  const folder = await folderOf({ 'a.sql': text.replace('*/', `${log}\n*/`) });
  const lines: string[] = [];
  expect(await check(folder.path, (line) => lines.push(line), { resolve })).toBe(1);
  expect(
    lines.filter((line) => line.startsWith(folder.path)).map((line) => line.slice(folder.path.length + 1)),
  ).toEqual([
    'a.sql:5:3: log: time: timestmp: no table of the query has it. Did you mean timestamp?',
    'a.sql:6:3: log: message: metadata: a message is STRING or JSON',
  ]);
  expect(await (await open(folder)).resolveWith(resolve)).toEqual([]);
});

it('check warns of a parameter that switches a feature off, and passes', async () => {
  const names = ['export', 'page_size', 'page_token', 'timestamps', 'estimate', 'position', 'history'];
  const params = names.map((name) => `  ${name}: { type: string }`).join('\n');
  const sql = `${SOUND} WHERE id IN (${names.map((name) => `@${name}`).join(', ')})`;
  const folder = await folderOf({ 'a.sql': file(1, sql).replace('*/', `params:\n${params}\n*/`) });
  const lines: string[] = [];
  expect(await check(folder.path, (line) => lines.push(line), { resolve })).toBe(0);
  expect(lines).toEqual([
    `${folder.file('a.sql')}: OK`,
    ...names.map(
      (name) =>
        `${folder.file('a.sql')}: warning: the parameter ${name} switches off the feature of this name for the endpoint`,
    ),
  ]);
});

it('a change that does not resolve is refused, and the last good version goes on', async () => {
  const names = FAULTY_QUERIES.map((_, i) => `q${String(i)}.sql`);
  const folder = await folderOf(Object.fromEntries(names.map((name, i) => [name, file(i, SOUND)])));
  const catalogue = await open(folder, 60_000);
  expect(await catalogue.resolveWith(resolve)).toEqual([]);
  const before = catalogue.current().map(({ revision }) => revision);
  for (const [i, [sql]] of FAULTY_QUERIES.entries()) await folder.write(names[i] ?? '', file(i, sql));
  await until(
    () => logged.filter((line) => line.includes('its last good version keeps serving')).length === names.length,
  );
  for (const endpoint of catalogue.current()) {
    expect(endpoint.sql).toContain(SOUND);
    expect(catalogue.isBroken(endpoint)).toBe(false);
  }
  for (const [i, [, , message]] of FAULTY_QUERIES.entries()) {
    const line = logged.find((one) => one.includes(`${path.sep}q${String(i)}.sql:5:`));
    expect(JSON.parse(`"${/"faults":\["(.*)"\]/.exec(line ?? '')?.[1] ?? ''}"`)).toMatch(message);
  }
  // Settings that cannot be read, or that the query does not fit, are refused as well.
  const wrong = Object.entries(faultyFiles()).slice(FAULTY_QUERIES.length);
  for (const [i, [, text]] of wrong.entries()) {
    const own = text.replace(/^id: .*$/m, `id: ${uuidOf(i)}`).replace(/^name: .*$/m, `name: q${String(i)}`);
    await folder.write(names[i] ?? '', own);
  }
  const refused = (i: number): string | undefined =>
    logged.find(
      (line) => line.includes(`${path.sep}q${String(i)}.sql:`) && FAULTY_SETTINGS[i]?.[3].test(unquoted(line)),
    );
  await until(() => wrong.every((_, i) => refused(i) !== undefined));
  for (const endpoint of catalogue.current()) expect(endpoint.sql).toContain(SOUND);
  expect(catalogue.current().map(({ revision }) => revision)).toEqual(before);
  await folder.write('q0.sql', file(0, 'SELECT project FROM raw_edge_logs'));
  await until(() => catalogue.find('q0')?.sql.includes('project') === true);
});

it('an endpoint that does not resolve at the start is broken until it does', async () => {
  const folder = await folderOf({ 'a.sql': file(1, SOUND), 'b.sql': file(2, 'SELECT pth FROM raw_edge_logs') });
  const catalogue = await open(folder);
  const faults = await catalogue.resolveWith(resolve);
  expect(faults).toMatchObject([{ file: folder.file('b.sql'), line: 5, column: 8 }]);
  const broken = () =>
    catalogue
      .current()
      .filter((endpoint) => catalogue.isBroken(endpoint))
      .map(({ name }) => name);
  expect(broken()).toEqual(['q2']);
  expect(logged.join()).toContain('it is answered with endpointBroken');
  expect(reported.at(-1)).toContain('b.sql:5:8: Unrecognized name: pth.');
  await folder.write('b.sql', file(2, SOUND));
  await until(() => broken().length === 0 && reported.at(-1) === null);
  expect(catalogue.find('q2')?.sql).toContain(SOUND);
});

it('what could not be resolved is resolved later: tables come and go', async () => {
  const folder = await folderOf({ 'a.sql': file(1, SOUND), 'b.sql': file(2, SOUND) });
  const catalogue = await open(folder);
  let resolution: Resolution = { kind: 'unreachable', reason: 'The engine does not answer.' };
  expect(await catalogue.resolveWith(() => Promise.resolve(resolution))).toEqual([]);
  const isBroken = () => catalogue.current().map((endpoint) => catalogue.isBroken(endpoint));
  expect(isBroken()).toEqual([false, false]);
  expect(logged.filter((line) => line.includes('could not be resolved'))).toHaveLength(2);
  resolution = { kind: 'faulty', faults: [{ line: 5, column: 1, reason: 'Table not found: raw_edge_logs.' }] };
  await until(() => isBroken().every((broken) => broken));
  resolution = { kind: 'resolved' };
  await until(() => isBroken().every((broken) => !broken));
  await until(() => reported.at(-1) === null);
});

it('what is found broken later is broken at once, however long the others take', async () => {
  const folder = await folderOf({ 'a.sql': file(1, SOUND), 'b.sql': file(2, SOUND) });
  const catalogue = await open(folder);
  let reached = false;
  let goOn = (): void => undefined;
  const second = new Promise<void>((done) => (goOn = done));
  await catalogue.resolveWith(async ({ name }) => {
    if (!reached) return { kind: 'unreachable', reason: 'The engine does not answer.' };
    if (name === 'q2') await second;
    return { kind: 'faulty', faults: [{ line: 5, column: 1, reason: 'Table not found: raw_edge_logs.' }] };
  });
  const isBroken = (name: string) => catalogue.isBroken(catalogue.find(name)!);
  reached = true;
  await until(() => isBroken('q1'));
  expect(isBroken('q2')).toBe(false);
  goOn();
  await until(() => isBroken('q2'));
});

it('behind a start they are resolved one after the other, but at once what a request asks for', async () => {
  const folder = await folderOf({
    'a.sql': file(1, SOUND),
    'b.sql': file(2, 'SELECT pth FROM raw_edge_logs'),
    'c.sql': file(3, SOUND),
  });
  const catalogue = await open(folder);
  const begun: string[] = [];
  let goOn = (): void => undefined;
  const first = new Promise<void>((resolve) => (goOn = resolve));
  const all = catalogue.resolveWith(async (endpoint) => {
    begun.push(endpoint.name);
    if (endpoint.name === 'q1') await first;
    return resolve(endpoint);
  }, false);
  const broken = catalogue.find('q2')!;
  expect([begun, catalogue.isBroken(broken)]).toEqual([['q1'], false]);
  await catalogue.resolution(broken);
  expect([begun, catalogue.isBroken(broken), catalogue.resolution(broken)]).toEqual([['q1', 'q2'], true, null]);
  goOn();
  expect(await all).toMatchObject([{ file: folder.file('b.sql') }]);
  expect(begun).toEqual(['q1', 'q2', 'q3']);
});

it('goes on for the others when who has asked first leaves', async () => {
  const engine = await openSchemaEngine({ dataDir: null, declared: LOG_SCHEMA });
  let go = (): void => undefined;
  const going = new Promise<void>((done) => (go = done));
  const slow: ConstructorParameters<typeof StoredAnalyses>[0] = {
    kind: engine.kind,
    target: engine.target,
    tables: async (paths, limits) => {
      await going;
      limits.signal.throwIfAborted();
      return engine.tables(paths, limits);
    },
    describe: (...call) => engine.describe(...call),
  };
  const analyses = new StoredAnalyses(slow, { columns: () => Promise.reject(new Error('No gate.')) });
  const folder = await folderOf({ 'q1.sql': file(1, SOUND) });
  const [endpoint] = (await open(folder)).current();
  const abort = new AbortController();
  const deadline = performance.now() + 20_000;
  const first = analyses.of(endpoint!, { deadline, signal: abort.signal });
  const second = analyses.of(endpoint!, { deadline, signal: new AbortController().signal });
  const late = expect(
    analyses.of(endpoint!, { deadline: performance.now() + 20, signal: new AbortController().signal }),
  );
  await late.rejects.toMatchObject({ reason: 'deadlineExceeded' });
  abort.abort();
  await expect(first).rejects.toMatchObject({ name: 'AbortError' });
  go();
  expect((await second).errors).toEqual([]);
});
