/** Tokens of an issuer at the real process: each user sees the rows of its tenant, for as long as its token and issuer are valid. */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hashOf } from '../../src/keys/key';
import { until } from '../until';
import { EventClient } from './event-client';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const SECRET = 'a secret of at least thirty-two bytes';
const QUERY = `/*
id: 77777777-aaaa-4000-8000-000000000001
name: edge
sandbox: true
export: 1000
params:
  project: { type: string, required: true }
*/
WITH edge_logs AS (
  SELECT t.timestamp, t.id, t.event_message, t.project FROM raw_edge_logs AS t WHERE t.project = @project
)
SELECT id, project FROM edge_logs ORDER BY id`;

const CACHED = QUERY.replace('000000000001', '000000000002').replace('name: edge', 'name: cached\ncache_ttl: 600');

const ISSUER = {
  name: 'app',
  tokens: { issuer: 'https://auth.example.com', audience: 'logquay', secretFile: 'secret' },
  endpoints: ['edge', 'cached'],
  pins: { project: { claim: 'app_metadata.org' } },
  export: true,
  rateLimit: 50,
};

const stage = new Stage();
afterAll(() => stage.end());

const folder = stage.folder();
const data = path.join(folder, 'data/raw_edge_logs');
const keysFile = path.join(folder, 'keys.json');
let service: Started;
let base: string;

function writeKeys(...issuers: readonly object[]): void {
  const admin = { name: 'admin', hash: hashOf('admin').toString('hex'), admin: true };
  writeFileSync(keysFile, JSON.stringify({ keys: [admin, ...issuers] }));
}

function append(project: string, id: string): void {
  const row = { id, project, timestamp: new Date().toISOString(), event_message: `${project} ${id}` };
  appendFileSync(path.join(data, 'rows.ndjson'), `${JSON.stringify(row)}\n`);
}

/** @param claims beside those of every token; `ttl`: seconds */
function tokenOf(
  org: unknown,
  { sub = 'u1', ttl = 600, secret = SECRET, ...claims }: { [claim: string]: unknown } = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  const times = { iat: now, exp: now + Number(ttl) };
  const all = { iss: 'https://auth.example.com', aud: 'logquay', sub, ...times, app_metadata: { org }, ...claims };
  const text = [{ alg: 'HS256' }, all].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${createHmac('sha256', String(secret)).update(text).digest('base64url')}`;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly reason: string | undefined;
}

async function ask(credential: string, where = '/api/endpoints/query/edge', header = 'X-API-KEY'): Promise<Answer> {
  const value = header === 'Authorization' ? `Bearer ${credential}` : credential;
  const response = await fetch(base + where, { headers: { [header]: value } });
  const text = await response.text();
  const reason = /"reason":"(\w+)"/.exec(text)?.[1];
  return { status: response.status, headers: response.headers, text, reason };
}

beforeAll(async () => {
  mkdirSync(data, { recursive: true });
  writeFileSync(path.join(folder, 'queries/edge.sql'), QUERY);
  writeFileSync(path.join(folder, 'queries/cached.sql'), CACHED);
  writeFileSync(path.join(folder, 'secret'), `${SECRET}\n`);
  for (const project of ['abc', 'xyz']) for (const id of ['1', '2']) append(project, `${project}-${id}`);
  writeKeys(ISSUER);
  service = stage.start(
    { DATA_DIR: path.dirname(data), KEYS_FILE: keysFile, LOG_LEVEL: 'info', AUDIT_FILE: 'audit.ndjson', DOCS: 'key' },
    folder,
  );
  base = `http://127.0.0.1:${String(await service.port())}`;
  await until(async () => (await ask(tokenOf('abc'))).text.includes('abc-2'));
});

it.each(['X-API-KEY', 'Authorization'])('shows the rows of the tenant that its claim names, in %s', async (header) => {
  const { status, text } = await ask(tokenOf('abc'), undefined, header);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({ result: ['abc-1', 'abc-2'].map((id) => ({ id, project: 'abc' })) });
  const other = await ask(tokenOf('xyz', { sub: 'u2' }));
  expect(other.text).toContain('xyz-1');
  expect(other.text).not.toContain('abc');
});

it.each([
  ['another value of its pin', '?project=xyz', 403, 'accessDenied'],
  [
    'a query of its own over other rows',
    `?sql=${encodeURIComponent("SELECT * FROM edge_logs WHERE project = 'xyz'")}`,
    200,
    undefined,
  ],
  [
    'a query of its own that names its table',
    `?sql=${encodeURIComponent('SELECT * FROM raw_edge_logs')}`,
    403,
    'sandboxViolation',
  ],
  ['a dry run', '?dry_run=true', 403, 'accessDenied'],
])('gives nothing of others for %s', async (_, query, status, reason) => {
  const answer = await ask(tokenOf('abc'), `/api/endpoints/query/edge${query}`);
  expect(answer).toMatchObject({ status, reason });
  expect(answer.text).not.toContain('xyz-');
});

it('shares results and runs within a tenant, and never between two', async () => {
  const text = 'SELECT COUNT(*) AS n, ANY_VALUE(project) AS p FROM edge_logs';
  for (const query of ['', `?sql=${encodeURIComponent(text)}`]) {
    const where = `/api/endpoints/query/cached${query}`;
    const users = ['u1', 'u2', 'u3'].flatMap((sub) => ['abc', 'xyz'].map((org) => ({ org, sub })));
    // At once, of which one of each tenant runs; and again, from the cache.
    for (const [cache, runs] of [
      [/fwd=miss|; hit/, 2],
      [/; hit/, 0],
    ] as const) {
      const answers = await Promise.all(users.map(({ org, sub }) => ask(tokenOf(org, { sub }), where)));
      for (const [i, { org }] of users.entries()) {
        expect(answers[i]?.text).toContain(org);
        expect(answers[i]?.text).not.toContain(org === 'abc' ? 'xyz' : 'abc');
        expect(answers[i]?.headers.get('cache-status')).toMatch(cache);
      }
      const stored = answers.filter(({ headers }) => headers.get('cache-status')?.endsWith('stored'));
      expect(stored).toHaveLength(runs);
    }
  }
});

it.each([
  ['an integer for a text', 5],
  ['a list for a text', ['abc']],
  ['a boolean', true],
  ['nothing', undefined],
])('is refused with %s as its claim, in the words of any other', async (_, org) => {
  const answer = await ask(tokenOf(org));
  expect(answer).toMatchObject({ status: 401, reason: 'unauthenticated' });
  expect(answer.text).toContain('The token is not valid.');
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

it('counts what nobody has signed as guesses, and what its issuer has for its account', async () => {
  const expired = tokenOf('abc', { iat: 1, exp: 2 });
  for (let i = 0; i < 30; i++) expect((await ask(expired)).status).toBe(401);
  const statuses = [];
  for (let i = 0; i < 30; i++) statuses.push((await ask(tokenOf('abc', { secret: `wrong ${String(i)}` }))).status);
  expect(statuses.at(-1)).toBe(429);
  expect((await ask(tokenOf('abc'))).status).toBe(200);
});

it('has an account for each user: one that is at its rate costs another nothing', async () => {
  const token = tokenOf('abc', { sub: 'busy', logquay: { rate_limit: 1 } });
  const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await ask(token)).status));
  expect(statuses).toContain(429);
  expect((await ask(tokenOf('abc', { sub: 'calm' }))).status).toBe(200);
});

it('tells what it may do, under the name of its entry', async () => {
  const { text } = await ask(tokenOf('abc'), '/api/key');
  expect(JSON.parse(text)).toMatchObject({
    result: {
      name: 'app',
      endpoints: ['cached', 'edge'],
      pinned: ['project'],
      mayExport: true,
      limits: { requestsPerSecond: 50 },
    },
  });
  expect(text).not.toContain('abc');
});

it('is no label, and in no line of the log', async () => {
  expect((await ask(tokenOf('abc'), '/api/backends')).status).toBe(501);
  await until(() => service.err.includes('"route":"/api/backends"'));
  expect(service.err).toContain('"key":"app"');
  expect(service.err).not.toMatch(/"key":"app\//);
  expect(service.err).toMatch(/"issuer":"app".*"a token is not taken"/);
});

it('is told to the operator alone: usage by key, issuer and subject, and the audit log', async () => {
  expect(await ask(tokenOf('abc'), '/api/usage')).toMatchObject({ status: 403, reason: 'accessDenied' });
  const usage = await ask('admin', '/api/usage');
  const { result: rows } = JSON.parse(usage.text) as {
    result: { key: string; subject: string | null; rows: number }[];
  };
  const subject = createHash('sha256').update('u1').digest('hex');
  expect(rows.find((row) => row.subject === subject)).toMatchObject({ period: 'day', key: 'app' });
  expect(rows.find((row) => row.subject === null && row.key === 'app')?.rows).toBeGreaterThan(3);
  const csv = await fetch(`${base}/api/usage`, { headers: { 'X-API-KEY': 'admin', Accept: 'text/csv' } });
  expect(await csv.text()).toMatch(/^period,from,key,subject,requests,hits,rows,bytes_billed,errors,statuses\r\nhour,/);
  const sql = encodeURIComponent('SELECT COUNT(*) AS n FROM edge_logs');
  expect((await ask(tokenOf('abc'), `/api/endpoints/query/edge?sql=${sql}`)).status).toBe(200);
  const audited = (): string => readFileSync(path.join(folder, 'audit.ndjson'), 'utf8');
  await until(() => audited().includes('"parameters":["sql"]'));
  const audit = audited();
  expect(audit).toContain(`"issuer":"app","subject":"${subject}"`);
  expect(audit).toMatch(
    /"endpoint":"edge","parameters":\["sql"\],"language":"sql","query":"[0-9a-f]{64}","status":200/,
  );
  expect(audit).not.toContain('edge_logs');
});

it('is described what it may run, whatever a key with the same list may', async () => {
  const hash = hashOf('all-tables').toString('hex');
  const tokens = { ...ISSUER.tokens, audience: 'tables' };
  const endpoints = ['edge', 'tables'];
  writeKeys(ISSUER, { name: 'all-tables', hash, endpoints }, { name: 'open', tokens, endpoints, unpinned: true });
  await until(async () => (await ask('all-tables', '/api/key')).status === 200, 100);
  const described = async (credential: string): Promise<string[]> => {
    const { text } = await ask(credential, '/openapi.json');
    return Object.keys((JSON.parse(text) as { paths: object }).paths).filter((one) => one.includes('/query/'));
  };
  const own = '/api/endpoints/query/edge';
  expect(await described('all-tables')).toEqual([own, '/api/endpoints/query/tables']);
  expect(await described(tokenOf('abc', { aud: 'tables' }))).toEqual([own]);
});

it('ends a tail at its end, and goes on with the next token', async () => {
  const where = '/api/endpoints/tail/edge';
  const now = Math.floor(Date.now() / 1000);
  // A token lives an hour after it was issued at most, and clocks may differ by 30 seconds.
  const short = tokenOf('abc', { iat: now - 3600 - 30 + 4, exp: now + 60 });
  const port = Number(new URL(base).port);
  const client = await EventClient.open(port, where, {}, { key: short });
  await until(() => client.end !== undefined);
  expect(JSON.parse(client.end?.data ?? '')).toMatchObject({ cause: 'key_changed' });
  expect(client.end?.retry).toBeGreaterThan(0);
  append('abc', 'abc-3');
  append('xyz', 'xyz-3');
  const next = await EventClient.open(port, where, {}, { key: tokenOf('abc'), lastId: client.lastId });
  await until(() => next.rows.some((row) => row.includes('abc-3')));
  expect(next.rows.some((row) => row.includes('xyz'))).toBe(false);
  next.response.destroy();
});

it('is not valid any more when its issuer is gone, and is again when it is back', async () => {
  const token = tokenOf('abc');
  expect((await ask(token)).status).toBe(200);
  writeKeys();
  // The address has guessed before.
  await until(async () => [401, 429].includes((await ask(token)).status));
  writeKeys({ ...ISSUER, endpoints: ['other'] });
  await until(async () => (await ask(token)).reason === 'notFound');
  writeKeys(ISSUER);
  await until(async () => (await ask(token)).status === 200);
});

/** A key pair, as its issuer publishes it. */
function pairOf(kid: string): { readonly kid: string; readonly privateKey: KeyObject; readonly jwk: object } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' } };
}

it('is taken by two replicas through a change of the key of its issuer, without a failed request', async () => {
  const [first, next] = [pairOf('first'), pairOf('next')];
  let published: readonly object[] = [first.jwk];
  let fetches = 0;
  const issuer = createServer((_, response) => {
    fetches++;
    response.end(JSON.stringify({ keys: published }));
  })
    .listen(0, '127.0.0.1')
    .unref();
  await once(issuer, 'listening');
  const jwks = `http://127.0.0.1:${String((issuer.address() as AddressInfo).port)}/jwks`;
  const tokens = { ...ISSUER.tokens, secretFile: undefined, jwks };
  writeKeys({ ...ISSUER, rateLimit: 10_000, tokens });
  const replicas = ['a', 'b'].map(() => {
    const own = stage.folder();
    cpSync(path.join(folder, 'queries'), path.join(own, 'queries'), { recursive: true });
    cpSync(data, path.join(own, 'data/raw_edge_logs'), { recursive: true });
    return stage.start({ DATA_DIR: path.join(own, 'data'), KEYS_FILE: keysFile }, own);
  });
  const bases = await Promise.all(replicas.map(async (one) => `http://127.0.0.1:${String(await one.port())}`));
  let signer = first;
  let sent = 0;
  const token = (): string => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: ISSUER.tokens.issuer, aud: 'logquay', sub: `u${String(sent % 50)}`, iat: now, exp: now + 60 };
    const all = { ...claims, app_metadata: { org: 'abc' } };
    const head = { alg: 'ES256', kid: signer.kid };
    const text = [head, all].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const key = { key: signer.privateKey, dsaEncoding: 'ieee-p1363' } as const;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  };
  const statuses = new Map<number, number>();
  let going = true;
  const load = bases.flatMap((where) =>
    Array.from({ length: 4 }, async () => {
      while (going) {
        sent++;
        const { status } = await fetch(`${where}/api/endpoints/query/edge`, { headers: { 'X-API-KEY': token() } });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  // No key id that is not known is asked for within 30 seconds of the last time.
  await sleep(31_000);
  published = [first.jwk, next.jwk];
  signer = next;
  await sleep(3_000);
  const fetched = fetches;
  going = false;
  await Promise.all(load);
  issuer.close();
  process.stdout.write(`${String(sent)} requests of tokens, ${String(fetched)} fetches of keys\n`);
  expect([...statuses.keys()]).toEqual([200]);
  // Each replica at first, and for the new key.
  expect(fetched).toBe(4);
});
