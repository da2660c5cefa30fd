/** The Model Context Protocol on the real process, by the official client: over HTTP, and on the standard input and output. */
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { hashOf } from '../../src/keys/key';
import { until } from '../until';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const ERRORS = `/*
id: 66666666-aaaa-4000-8000-000000000001
name: errors.by-day
description: Errors of a project by their number.
mcp: true
sandbox: true
params:
  project: { type: string, required: true, description: Whose rows. }
  most: { type: integer, default: 3, min: 1, max: 200 }
*/
WITH numbers AS (
  SELECT n, CONCAT(@project, ' ', REPEAT('x', 200)) AS text, 9007199254740993 AS wide
  FROM UNNEST(GENERATE_ARRAY(1, 200)) AS n
)
SELECT * FROM numbers WHERE n <= @most ORDER BY n`;

const OF_LEVELS = `/*
id: 66666666-aaaa-4000-8000-000000000003
name: of-levels
params:
  levels: { type: "string[]", required: true }
*/
SELECT ARRAY_LENGTH(@levels) AS n`;

/** It has no end within the patience of a test. */
const ENDLESS = `/*
id: 66666666-aaaa-4000-8000-000000000002
name: endless
timeout: 120
params:
  n: { type: integer, default: 0 }
*/
SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 10000)) AS a, UNNEST(GENERATE_ARRAY(1, 1000000)) AS b
WHERE MOD(a * b, 7) = 8 + @n`;

/** Messages by what they are, each with how many it counts for. */
const message = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params });
const toolCall = (name: string, given: unknown = {}) => message('tools/call', { name, arguments: given });
const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
const COUNTED: readonly (readonly [what: string, message: unknown, count: number])[] = [
  ['initialize', INITIALIZE, 1],
  ['a list of tools', message('tools/list'), 1],
  ['a ping', message('ping'), 1],
  ['list_endpoints', toolCall('list_endpoints'), 1],
  ['a batch', Array.from({ length: 10 }, (_, id) => message('tools/list', {}, id)), 10],
];
const RATED = COUNTED.map((_, i) => [`rated-${String(i)}`, { rateLimit: 1000 }] as const);

const KEYS = {
  ...Object.fromEntries(RATED),
  slow: { rateLimit: 1 },
  reader: {},
  pinned: { pins: { project: 'abc' } },
  narrow: { endpoints: ['logs.all'] },
};

interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: unknown;
}

const stage = new Stage();
const folder = stage.folder();
const ROOT = path.join(__dirname, '../..');
const clients: Client[] = [];
let service: Started;
let port: number;

beforeAll(async () => {
  writeFileSync(path.join(folder, 'queries/errors.sql'), ERRORS);
  writeFileSync(path.join(folder, 'queries/endless.sql'), ENDLESS);
  writeFileSync(path.join(folder, 'queries/of-levels.sql'), OF_LEVELS);
  const keys = Object.entries(KEYS).map(([name, more]) => ({ name, hash: hashOf(name).toString('hex'), ...more }));
  const file = path.join(folder, 'keys.json');
  writeFileSync(file, JSON.stringify({ keys }));
  service = stage.start({ KEYS_FILE: file }, folder);
  port = await service.port();
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await stage.end();
});

async function overHttp(key: string, options: ClientOptions = {}, at = port): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  const url = new URL(`http://127.0.0.1:${String(at)}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'X-API-KEY': key } } }));
  clients.push(client);
  return client;
}

async function onStdio(): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const { PATH = '' } = process.env;
  const env = { PATH, DATA_DIR: path.join(__dirname, '../fixture') };
  const args = [path.join(ROOT, 'dist/cli.js'), 'mcp'];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: folder, stderr: 'inherit' }),
  );
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Answer> {
  const { content, isError, structuredContent } = await client.callTool({ name, arguments: given });
  const [first] = content as { text: string }[];
  return { isError: isError === true, text: first?.text ?? '', structured: structuredContent };
}

/** Status and reason of a message that no client would send. */
async function post(
  headers: Readonly<Record<string, string>>,
  body: string,
  method = 'POST',
): Promise<[number, string]> {
  const { status, text } = await send({ Accept: 'application/json, text/event-stream', ...headers }, body, method);
  return [status, /"reason":"(\w+)"/.exec(text)?.[1] ?? text];
}

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
}

function send(headers: Readonly<Record<string, string>>, body: string, method = 'POST'): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const all = { 'Content-Type': 'application/json', ...headers };
    const request = http.request({ port, method, path: '/mcp', headers: all, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

const project = 'default';

describe.each([
  ['over HTTP', () => overHttp('reader')],
  [
    'over HTTP, by the revision of 2026',
    () => overHttp('reader', { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
  ],
  ['on stdin and stdout', () => onStdio()],
])('%s', (how, connect) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect();
  });

  it('lists tools that only read, in few words', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_endpoints',
      'describe_endpoint',
      'analyze',
      'run_endpoint',
      'query_logs',
      'endpoint_errors_by-day',
    ]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    // Four characters a token are few for JSON.
    expect(JSON.stringify(tools).length).toBeLessThan(3000 * 3);
  });

  it('leads from the endpoints to a query of one', async () => {
    const listed = JSON.parse((await call(client, 'list_endpoints')).text);
    expect(listed.endpoints).toContainEqual(
      expect.objectContaining({ name: 'logs.all', tables: expect.arrayContaining(['edge_logs']) as unknown }),
    );
    const described = JSON.parse((await call(client, 'describe_endpoint', { endpoint: 'logs.all' })).text);
    expect(described.parameters).toContainEqual(expect.objectContaining({ name: 'project', required: true }));
    const { sql } = described.example as { sql: string };
    const counted = JSON.parse(
      (await call(client, 'query_logs', { endpoint: 'logs.all', parameters: { project }, sql })).text,
    );
    expect(counted).toMatchObject({ columns: ['n'], rowCount: 1, truncated: false });
  });

  // In earlier revisions a client cancels by another message, which the stateless service cannot connect with the call.
  const cancels = how !== 'over HTTP';
  if (cancels) {
    it('ends a call that is cancelled, and answers the next one', async () => {
      // As many as the service runs at once: those that went on would hold up all that follow.
      const started = Array.from({ length: how === 'on stdin and stdout' ? 1 : 4 }, (_, n) => {
        const cancel = new AbortController();
        const params = { name: 'run_endpoint', arguments: { endpoint: 'endless', parameters: { n } } };
        const called = expect(client.callTool(params, { signal: cancel.signal })).rejects.toThrow();
        return { cancel, called };
      });
      await call(client, 'list_endpoints');
      for (const { cancel, called } of started) {
        cancel.abort('enough');
        await called;
      }
      const next = await call(client, 'run_endpoint', { endpoint: 'errors.by-day', parameters: { project, most: 1 } });
      expect([next.isError, next.text]).toEqual([false, expect.stringContaining('default x')]);
    });
  }

  it('checks a query, and says of a wrong one what, where and what instead', async () => {
    const given = { endpoint: 'errors.by-day', parameters: { project }, sql: 'SELECT textt FROM numbers' };
    const [fault] = JSON.parse((await call(client, 'analyze', given)).text).errors;
    expect(fault).toMatchObject({ line: 1, column: 8 });
    const failed = await call(client, 'query_logs', given);
    expect(failed.isError).toBe(true);
    expect(JSON.parse(failed.text).error).toMatchObject({ reason: 'unknownField', line: 1, column: 8, near: 'textt' });
    // It has what the next try needs.
    const { hint, allowed, message } = JSON.parse(failed.text).error;
    const [, meant = ''] = /`?\b(text)\b`?/.exec(JSON.stringify([message, hint, allowed])) ?? [];
    const sql = `SELECT ${meant} FROM numbers`;
    expect(await call(client, 'query_logs', { ...given, sql })).toMatchObject({ isError: false });
  });
});

it('answers a batch that cancels one of its own calls', async () => {
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  const batch = JSON.stringify([toolCall('list_endpoints'), cancelled]);
  expect(await post({ 'X-API-KEY': 'reader' }, batch)).toEqual([200, expect.stringContaining('errors.by-day')]);
  expect(await post({ 'X-API-KEY': 'reader' }, JSON.stringify([cancelled]))).toEqual([202, '']);
}, 60_000);

describe('whatever carries it', () => {
  let client: Client;
  beforeAll(async () => {
    client = await overHttp('reader');
  });

  it('describes the nested fields of a table', async () => {
    const { text } = await call(client, 'describe_endpoint', { endpoint: 'logs.all', table: 'edge_logs' });
    expect(JSON.parse(text).fields).toContain('metadata[].request[].method STRING');
  });

  it('runs an endpoint, and one that is a tool', async () => {
    const ran = await call(client, 'run_endpoint', { endpoint: 'errors.by-day', parameters: { project, most: 2 } });
    expect(ran.text).toContain('"rows":[[1,"default x');
    // Every digit.
    expect(ran.text).toContain(',9007199254740993]');
    const own = await call(client, 'endpoint_errors_by-day', { project, most: 2 });
    expect(own.text).toBe(ran.text);
    expect(own.structured).toMatchObject({ columns: ['n', 'text', 'wide'], rowCount: 2 });
  });

  it('gives few rows, and says how to narrow', async () => {
    const parameters = { project, most: 200 };
    const few = JSON.parse((await call(client, 'run_endpoint', { endpoint: 'errors.by-day', parameters })).text);
    expect([few.rows.length, few.rowCount, few.truncated]).toEqual([50, 200, true]);
    expect(few.hint).toMatch(/[Aa]ggregate/);
    expect(few.note).toMatch(/[Uu]ntrusted/);
    const more = await call(client, 'run_endpoint', { endpoint: 'errors.by-day', parameters, max_rows: 150 });
    expect(JSON.parse(more.text).rows).toHaveLength(150);
  });

  it.each([
    ['no endpoint', 'run_endpoint', {}, 'invalidParameter'],
    ['an unknown endpoint', 'run_endpoint', { endpoint: 'nosuch' }, 'notFound'],
    ['a missing parameter', 'run_endpoint', { endpoint: 'logs.all' }, 'invalidParameter'],
    [
      'a table of the data',
      'query_logs',
      { endpoint: 'logs.all', parameters: { project }, sql: 'SELECT 1 FROM raw_edge_logs' },
      'sandboxViolation',
    ],
    ['an unknown tool', 'drop_table', {}, 'notFound'],
  ])('refuses %s', async (_what, name, given, reason) => {
    const failed = await call(client, name, given);
    expect([failed.isError, JSON.parse(failed.text).error.reason]).toEqual([true, reason]);
  });
});

it('has no pinned parameter in its schemas', async () => {
  const client = await overHttp('pinned');
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === 'endpoint_errors_by-day');
  expect(Object.keys(tool?.inputSchema.properties ?? {})).toEqual(['max_rows', 'most']);
  expect(JSON.stringify(tools)).not.toContain('abc');
});

it('shows a key nothing but what it may run', async () => {
  const client = await overHttp('narrow');
  expect((await client.listTools()).tools).toHaveLength(5);
  expect(JSON.parse((await call(client, 'list_endpoints')).text).endpoints).toHaveLength(1);
});

it.each([
  ['without a key', {}, 'POST', [401, 'unauthenticated']],
  ['with a wrong key', { 'X-API-KEY': 'nobody' }, 'POST', [401, 'unauthenticated']],
  [
    'from a page of another origin',
    { 'X-API-KEY': 'reader', Origin: 'https://evil.example' },
    'POST',
    [403, 'accessDenied'],
  ],
  ['by another method', { 'X-API-KEY': 'reader' }, 'DELETE', [405, 'methodNotAllowed']],
])('refuses a message %s', async (_how, headers, method, wanted) => {
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  expect(await post(headers, message, method)).toEqual(wanted);
});

it('counts messages against the rate of their key', async () => {
  for (const [i, [what, sent, count]] of COUNTED.entries()) {
    const { headers } = await send({ 'X-API-KEY': `rated-${String(i)}` }, JSON.stringify(sent));
    expect([what, headers['ratelimit']]).toEqual([what, expect.stringMatching(`"key";r=${String(1000 - count)};`)]);
  }
});

it('refuses what comes on top of the rate: a call as a model reads it, all else as any request', async () => {
  const slow = { 'X-API-KEY': 'slow' };
  const ping = JSON.stringify(message('ping'));
  const refusal = [429, 'rateLimitExceeded'];
  expect(await post(slow, `[${ping},${ping}]`)).toEqual(refusal);
  for (const other of [message('tools/list'), INITIALIZE]) {
    await until(async () => (await post(slow, JSON.stringify(other))).join() === refusal.join());
  }
  await until(async () => {
    const { status, text } = await send(slow, JSON.stringify(toolCall('list_endpoints')));
    return status === 200 && text.includes('"isError":true') && text.includes('rateLimitExceeded');
  });
});

it.each([
  ['a batch of too many messages', JSON.stringify(Array.from({ length: 11 }, () => message('ping')))] as const,
  ...['[', '{"a":'].flatMap((open) => {
    const deep = `${open.repeat(40_000)}1${(open === '[' ? ']' : '}').repeat(40_000)}`;
    const call = JSON.stringify(toolCall('run_endpoint', { endpoint: 'logs.all', parameters: { project: 'DEEP' } }));
    return [
      [`${open} at the top`, deep],
      [`${open} in parameters`, call.replace('"DEEP"', deep)],
      [
        `${open} in parameters of a method`,
        JSON.stringify(message('tools/list', { a: 'DEEP' })).replace('"DEEP"', deep),
      ],
    ] as const;
  }),
])('answers 400 to %s', async (_what, body) => {
  expect(await post({ 'X-API-KEY': 'reader' }, body)).toEqual([400, 'invalidParameter']);
  expect(service.err).not.toMatch(/call stack/);
});

it.each(['application/json', '*/*', 'text/event-stream, application/json', ''])(
  'answers JSON to a client that accepts %j, by every revision',
  async (accept) => {
    const headers = { 'X-API-KEY': 'reader', ...(accept === '' ? {} : { Accept: accept }) };
    for (const [sent, more] of [
      [INITIALIZE, {}],
      [toolCall('list_endpoints'), { 'MCP-Protocol-Version': '2025-06-18' }],
      [[message('tools/list', {}, 1), message('ping', {}, 2)], { 'MCP-Protocol-Version': '2025-03-26' }],
    ] as const) {
      const { status, text, headers: answered } = await send({ ...headers, ...more }, JSON.stringify(sent));
      expect([status, answered['content-type']]).toEqual([200, 'application/json']);
      const answers = [JSON.parse(text) as unknown].flat();
      expect(answers).toEqual(
        [sent].flat().map(({ id }) => expect.objectContaining({ id, result: expect.anything() as unknown }) as unknown),
      );
    }
  },
);

it('answers 406 to a client that takes no JSON', async () => {
  expect(await post({ 'X-API-KEY': 'reader', Accept: 'text/html' }, JSON.stringify(INITIALIZE))).toEqual([
    406,
    'notAcceptable',
  ]);
});

it('takes parameters as JSON text, with lists and every digit, and max_rows as digits', async () => {
  const client = await overHttp('reader');
  const { tools } = await client.listTools();
  const { properties } = tools.find(({ name }) => name === 'run_endpoint')?.inputSchema ?? {};
  expect(properties?.['parameters']).toMatchObject({
    additionalProperties: { type: expect.arrayContaining(['array']) as unknown },
  });
  const run = (given: object) => call(client, 'run_endpoint', { endpoint: 'errors.by-day', ...given });
  const wanted = await run({ parameters: { project, most: 2 }, max_rows: 1 });
  expect(wanted.isError).toBe(false);
  expect(await run({ parameters: JSON.stringify({ project, most: 2 }), max_rows: '1' })).toEqual(wanted);
  for (const parameters of ['[]', '{', '1']) {
    const { isError, text } = await run({ parameters });
    expect([isError, JSON.parse(text).error.reason]).toEqual([true, 'invalidParameter']);
  }
  const listed = await call(client, 'run_endpoint', { endpoint: 'of-levels', parameters: { levels: ['a', 'b'] } });
  expect(listed.text).toContain('"rows":[[2]]');
});

it('has a log of JSON lines alone, whoever writes', () => {
  for (const line of service.err.trimEnd().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
});
