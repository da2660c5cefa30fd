/** The client that `logquay client` writes: compiled as strictly as TypeScript can, and run against the service. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { clientSource } from '../../src/client/source';
import { logquay } from '../cli/command-line';
import { ALL } from '../openapi/endpoints';
import { describeEndpoints } from '../../src/openapi';
import { Stage } from '../process/started';

jest.setTimeout(180_000);

const execute = promisify(execFile);
const ROOT = path.join(__dirname, '../..');
const FIXTURE = path.join(ROOT, 'test/fixture');
const KEY = 'test-key-of-the-service';

const NESTED = `/*
id: 44444444-aaaa-4000-8000-000000000003
name: own.nested
description: "Ends *\\u002f no comment, it's \\"quoted\\"."
params:
  kind: { type: enum, values: ["it's", 'say "x"', 'back\\slash'], default: "it's" }
  least: { type: integer, required: true }
*/
SELECT @kind AS kind, STRUCT(@least AS \`least-1\`, [STRUCT(1.5 AS f)] AS list, JSON '[1]' AS j) AS nested, b'x' AS bytes, 1 AS \`1\`
`;

const PROGRAM = `import { Logquay, type Failure, type Row, type RowOf } from './logquay';

const { BASE = '', KEY = '' } = process.env;
const logquay = new Logquay({ url: \`\${BASE}/\`, key: KEY });
const found: { [name: string]: unknown } = {};

function failureOf(result: { readonly ok: boolean; readonly error?: Failure }): Failure | null {
  return result.error ?? null;
}

async function main(): Promise<void> {
  const since = new Date('2026-09-30T00:00:00Z');
  const logs = await logquay.run('logs.all', { project: 'default', iso_timestamp_start: since });
  if (!logs.ok) throw new Error(JSON.stringify(logs.error));
  const row: RowOf<'logs.all'> | undefined = logs.rows[0];
  const message: string | null | undefined = row?.event_message;
  const micros: number | null | undefined = row?.timestamp;
  const status: number | null | undefined = row?.metadata[0]?.response[0]?.status_code;
  Object.assign(found, { message, micros, status, truncated: logs.truncated, hasId: logs.requestId !== null });
  // @ts-expect-error There is no such column.
  row?.event_mesage;
  // @ts-expect-error There is no such endpoint.
  void logquay.run('logs.none', {});
  // @ts-expect-error A required parameter is missing.
  void logquay.run('logs.all', {});
  // @ts-expect-error There is no such interval.
  void logquay.run('usage.api-counts', { project: '.', interval: 'yearly' });
  // @ts-expect-error It takes no queries.
  void logquay.query('own.nested', { least: 1 }, { sql: 'SELECT 1' });

  const counts = await logquay.run('usage.api-counts', { project: '.', interval: 'daily' });
  const total: number | null | undefined = counts.ok ? counts.rows[0]?.total_rest_requests : undefined;
  found['total'] = total;

  const nested = await logquay.run('own.nested', { kind: 'say "x"', least: 9007199254740993n });
  const list: number | string | null | undefined = nested.ok ? nested.rows[0]?.nested?.list[0]?.f : undefined;
  found['kind'] = nested.ok ? nested.rows[0]?.kind : failureOf(nested);
  found['list'] = list;

  const sql = 'SELECT COUNT(*) AS n FROM edge_logs';
  const own = await logquay.query<{ readonly n: number }>('logs.all', { project: 'default' }, { sql });
  const n: number | undefined = own.ok ? own.rows[0]?.n : undefined;
  // Longer than a URL: it goes as POST.
  const long = await logquay.query('logs.all', { project: 'default' }, { sql: \`\${sql} -- \${'x'.repeat(20_000)}\` });
  const rows: readonly Row[] = long.ok ? long.rows : [];
  found['counted'] = [n, rows[0]?.['n']];
  const lql = await logquay.query('logs.all', { project: 'default' }, { lql: 'f:edge_logs' });
  found['lql'] = lql.ok && lql.rows.length > 0;
  const ip = await logquay.query('logs.all', { project: 'default' }, { sql: "SELECT '192.0.2.1' AS ip FROM edge_logs LIMIT 1" }, { redact: true });
  found['redacted'] = ip.ok ? ip.rows[0]?.['ip'] : null;

  found['service'] = failureOf(await logquay.query('logs.all', { project: 'default' }, { sql: 'SELECT nope\\nFROM edge_logs' }));
  found['unauthenticated'] = failureOf(await new Logquay({ url: BASE, key: 'wrong' }).run('logs.all', { project: 'a' }));
  found['aborted'] = failureOf(await logquay.run('logs.all', { project: 'a' }, { signal: AbortSignal.abort() }));
  found['network'] = failureOf(await new Logquay({ url: 'http://127.0.0.1:1', key: KEY }).run('logs.all', { project: 'a' }));
  const page = (): Promise<Response> => Promise.resolve(new Response('<html>', { status: 502 }));
  found['unreadable'] = failureOf(await new Logquay({ url: BASE, key: KEY, fetch: page }).run('logs.all', { project: 'a' }));
  const busy = (): Promise<Response> =>
    Promise.resolve(
      new Response('{"error":{"code":429,"message":"m","requestId":"r","errors":[{"reason":"budgetExceeded","message":"m"}]}}', {
        status: 429,
        headers: { 'Retry-After': '7' },
      }),
    );
  found['busy'] = failureOf(await new Logquay({ url: BASE, key: KEY, fetch: busy }).run('logs.all', { project: 'a' }));
  const text = (): Promise<Response> =>
    Promise.resolve(Response.json({ error: 'm' }, { headers: { 'X-Error-Status': '403', 'X-Request-Id': 'r' } }));
  found['as Logflare'] = failureOf(await new Logquay({ url: BASE, key: KEY, fetch: text }).run('logs.all', { project: 'a' }));
  console.log(JSON.stringify(found));
}

void main();
`;

const STRICTEST = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  target: 'ES2022',
};

const stage = new Stage();
let folder: string;
let base: string;
beforeAll(async () => {
  const service = stage.folder();
  writeFileSync(path.join(service, 'queries/nested.sql'), NESTED);
  base = await stage.start({ API_KEY: KEY, CLOCK: '2026-09-30T12:00:00Z' }, service).ready();
  folder = path.join(service, 'client');
  mkdirSync(folder);
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const environment = { QUERIES_DIR: path.join(service, 'queries'), DATA_DIR: FIXTURE };
  const ended = await logquay(['client', '--out', path.join(folder, 'logquay.ts')], environment);
  expect(ended).toEqual({ code: 0, out: [], notes: [] });
  const printed = await logquay(['client'], environment);
  expect(`${printed.out.join('\n')}\n`).toBe(readFileSync(path.join(folder, 'logquay.ts'), 'utf8'));
});
afterAll(() => stage.end());

/** @throws Error with what the compiler, of these packages, says */
async function compile(
  by: 'typescript' | 'typescript-native',
  files: readonly string[],
  options: object,
): Promise<void> {
  const config = { compilerOptions: { ...STRICTEST, ...options }, files };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = path.join(ROOT, 'node_modules', by, 'bin/tsc');
  await execute(process.execPath, [compiler, '-p', '.'], { cwd: folder }).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
}

it('compiles and runs, with rows, errors and cancellation as results', async () => {
  writeFileSync(path.join(folder, 'program.ts'), PROGRAM.replace("'./logquay'", "'./logquay.js'"));
  await compile('typescript', ['program.ts'], { module: 'NodeNext', types: ['node'], skipLibCheck: true });
  const { stdout } = await execute(process.execPath, ['program.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], BASE: base, KEY },
  });
  const found = JSON.parse(stdout) as Record<string, unknown>;
  const counted = expect.any(Number) as number;
  expect(found).toEqual({
    message: expect.stringContaining(' | '),
    micros: expect.any(Number),
    status: expect.any(Number),
    truncated: false,
    hasId: true,
    total: expect.any(Number),
    kind: 'say "x"',
    list: 1.5,
    counted: [counted, counted],
    lql: true,
    redacted: 'REDACTED',
    service: expect.objectContaining({
      kind: 'service',
      status: 400,
      reason: 'unknownField',
      line: 1,
      column: 8,
      retryAfter: null,
    }),
    unauthenticated: expect.objectContaining({ kind: 'service', status: 401, reason: 'unauthenticated' }),
    aborted: { kind: 'aborted', message: expect.any(String) },
    network: { kind: 'network', message: expect.any(String) },
    unreadable: { kind: 'unreadable', status: 502, message: expect.any(String) },
    'as Logflare': {
      kind: 'service',
      status: 403,
      reason: 'sandboxViolation',
      message: 'm',
      requestId: 'r',
      retryAfter: null,
    },
    busy: { kind: 'service', status: 429, reason: 'budgetExceeded', message: 'm', requestId: 'r', retryAfter: 7 },
  });
  const [n, again] = found['counted'] as number[];
  expect([n, n === again]).toEqual([expect.any(Number), true]);
});

it('compiles for browsers, and for whatever a stored query may declare', async () => {
  const described = describeEndpoints(ALL, { key: null, engine: { kind: 'bigquery', dryRun: true } });
  writeFileSync(path.join(folder, 'all.ts'), clientSource(described));
  await compile('typescript-native', ['logquay.ts', 'all.ts'], {
    module: 'ESNext',
    moduleResolution: 'Bundler',
    lib: ['ES2022', 'DOM'],
    types: [],
    noEmit: true,
  });
});

it('leaves rows without types where a stored query does not resolve, and says so', async () => {
  const wrong = '/*\nid: 44444444-aaaa-4000-8000-000000000004\nname: wrong\n*/\nSELECT nope FROM raw_edge_logs\n';
  const queries = path.join(stage.folder(), 'queries');
  writeFileSync(path.join(queries, 'wrong.sql'), wrong);
  const { code, out, notes } = await logquay(['client'], { QUERIES_DIR: queries });
  expect([code, notes]).toEqual([0, [expect.stringMatching(/^wrong: its rows have no types, .*nope/)]]);
  expect(out.join('\n')).toMatch(/readonly wrong: \{\n {4}readonly parameters: .*;\n {4}readonly row: Row;/);
});
