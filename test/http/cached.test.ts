/** What is cached and shared, over the real router and an engine that records its queries. */
import http from 'node:http';

import fc from 'fast-check';

import { StoredAnalyses } from '../../src/analysis/stored-analyses';
import { MemoryStore } from '../../src/cache/memory';
import { Results } from '../../src/cache/results';
import { readDefinition } from '../../src/endpoints/definition';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { type Reason, ServiceError } from '../../src/errors';
import { Gate } from '../../src/sandbox/gate';
import type { Engine, EngineQuery, EngineResult, RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import type { NamedType } from '../../packages/googlesql/src/types';
import { PlanCache } from '../../src/run/plan-cache';
import { until } from '../until';
import { ENDPOINTS, ScriptedEngine, serve, type Served } from './served';
import { runs } from '../scale';

function endpointOf(digit: number, name: string, ttl: number): Endpoint {
  const text = `/*
id: 33333333-aaaa-4000-8000-00000000000${digit}
name: ${name}
sandbox: true
cache_ttl: ${ttl}
params:
  project: { type: string, required: true, description: Whose rows. }
  since: { type: timestamp }
  n: { type: integer, default: 1 }
*/
WITH t AS (SELECT @project AS project, @since AS since, @n AS n) SELECT * FROM t`;
  const { endpoint, faults } = readDefinition(Buffer.from(text));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

/** Seconds; below ten a lifetime is never shortened. */
const TTL = 9;
const CACHED = endpointOf(1, 'cached.rows', TTL);
const TWIN = endpointOf(2, 'twin.rows', TTL);
const PASSING = endpointOf(3, 'passing.rows', 0);

/** Its one row tells the number of the run and the parameters that it was bound to, and holds an address. */
class TellingEngine extends ScriptedEngine {
  override async run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    const number = this.queries.length;
    const result = await super.run(query, limits);
    const bound = query.parameters.map(({ name, value }) => `${name}=${String(value)}`).join(' ');
    return { ...result, rows: [JSON.stringify({ id: number, message: `${bound} from 10.1.2.3` })] };
  }

  override describe(): Promise<readonly NamedType[]> {
    return Promise.resolve(
      ['project', 'since', 'n'].map((name): NamedType => ({ name, type: { kind: name === 'n' ? 'INT64' : 'STRING' } })),
    );
  }

  override inspect(): Promise<void> {
    return Promise.resolve();
  }
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

interface Got {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

let engine: TellingEngine;
let served: Served;

async function open(kind: Engine['kind'] = 'duckdb'): Promise<void> {
  engine = new TellingEngine(kind);
  served = await serve({ engine, endpoints: [CACHED, TWIN, PASSING, ...ENDPOINTS] });
}
beforeEach(() => {
  later(0);
  return open();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await served.close();
});

/** As the wire has it. */
function ask(path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { port: served.port, method, path, headers: { 'X-API-KEY': 'all', ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const run = (name: string, query = 'project=abc'): string => `/api/endpoints/query/${name}?${query}`;
const cacheOf = ({ headers }: Got): unknown[] => [headers['cache-status'], headers['cache-control'], headers.age];
const bytesOf = ({ headers }: Got): unknown[] => [headers['x-query-bytes-processed'], headers['x-query-bytes-billed']];

const START = Date.now();
/** Sets the clock by which answers age, to so many seconds after the start. */
function later(seconds: number): void {
  jest.spyOn(Date, 'now').mockImplementation(() => START + seconds * 1000);
}

/** Empties the caches. */
function fresh(): void {
  const memory = new MemoryStore({ bytes: 8_000_000, maxEntry: 1_000_000 });
  const results = new Results({ memory, shared: null, staleIfError: 60_000, leaseTime: 5000 });
  served.lifecycle.open({ ...served.lifecycle.services(), results, plans: new PlanCache() });
  engine.queries.length = 0;
  engine.onRun = () => Promise.resolve();
}

/** Runs of the engine wait until the gate is opened. */
function closeGate(): () => void {
  let openIt!: () => void;
  const gate = new Promise<void>((resolve) => (openIt = resolve));
  engine.onRun = () => gate;
  return openIt;
}

/** Resolves when so many wait for an answer. */
function counted(): (number: number) => Promise<void> {
  const answers = jest.spyOn(served.lifecycle.services().results, 'get');
  return (number) => until(() => answers.mock.calls.length === number);
}

describe('the headers of', () => {
  it('a miss that is cached, a hit, a refresh', async () => {
    later(0.5);
    const miss = await ask(run('cached.rows'));
    expect(cacheOf(miss)).toEqual(['logquay; fwd=miss; stored', `private, max-age=${TTL}`, '0']);
    expect(cacheOf(await ask(run('cached.rows')))).toEqual([
      `logquay; hit; ttl=${TTL}`,
      `private, max-age=${TTL}`,
      '0',
    ]);
    later(4);
    const hit = await ask(run('cached.rows'));
    expect(cacheOf(hit)).toEqual([`logquay; hit; ttl=${TTL - 3}`, `private, max-age=${TTL}`, '3']);
    expect([hit.text, hit.headers.etag, hit.headers.vary]).toEqual([miss.text, miss.headers.etag, miss.headers.vary]);
    expect(hit.headers['server-timing']).toMatch(/^total;dur=[\d.]+$/);
    later(TTL + 2);
    expect(cacheOf(await ask(run('cached.rows')))).toEqual([
      'logquay; fwd=miss; stored',
      `private, max-age=${TTL}`,
      '0',
    ]);
    expect(engine.queries).toHaveLength(2);
  });

  it.each([
    ['cached.rows', `private, max-age=${TTL}`, '0'],
    ['passing.rows', 'private, no-cache', undefined],
  ])('answers of one run of %s', async (name, control, age) => {
    const openGate = closeGate();
    const waiting = counted();
    const requests = Array.from({ length: 20 }, () => ask(run(name)));
    await waiting(20);
    openGate();
    const all = await Promise.all(requests);
    expect(engine.queries).toHaveLength(1);
    const stored = name === 'cached.rows' ? '; stored' : '';
    expect(all.map(cacheOf).sort()).toEqual(
      [
        [`logquay; fwd=miss${stored}`, control, age],
        ...Array.from({ length: 19 }, () => ['logquay; fwd=miss; collapsed', control, age]),
      ].sort(),
    );
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
  });

  it('what is never cached', async () => {
    for (const runs of [1, 2]) {
      expect(cacheOf(await ask(run('passing.rows')))).toEqual(['logquay; fwd=miss', 'private, no-cache', undefined]);
      expect(engine.queries).toHaveLength(runs);
    }
  });

  it('what is too large to be cached', async () => {
    const text = 'x'.repeat(9 * 1024 * 1024);
    jest.spyOn(engine, 'run').mockImplementation(() =>
      Promise.resolve({
        columns: [{ name: 'message', type: { kind: 'STRING' } }],
        rows: [JSON.stringify({ message: text })],
        truncated: false,
        bytesProcessed: null,
        bytesBilled: null,
      }),
    );
    for (const runs of [1, 2]) {
      expect(engine.run).toHaveBeenCalledTimes(runs - 1);
      expect(cacheOf(await ask(run('cached.rows')))).toEqual(['logquay; fwd=miss', 'private, no-cache', undefined]);
    }
  });

  it('what serves on because it cannot be refreshed', async () => {
    const { headers, text } = await ask(run('cached.rows'));
    later(TTL + 6.5);
    engine.onRun = () => Promise.reject(new ServiceError('backendUnavailable', 'It is gone.'));
    // The second is not tried again.
    for (let i = 0; i < 2; i++) {
      const stale = await ask(run('cached.rows'));
      expect([stale.status, stale.text]).toEqual([200, text]);
      expect(cacheOf(stale)).toEqual([
        'logquay; hit; ttl=-6; detail=stale-if-error',
        `private, max-age=${TTL}`,
        String(TTL + 6),
      ]);
    }
    expect(engine.queries).toHaveLength(2);
    const again = await ask(run('cached.rows'), { headers: { 'If-None-Match': String(headers.etag) } });
    expect([again.status, again.text, ...cacheOf(again)]).toEqual([
      304,
      '',
      'logquay; hit; ttl=-6; detail=stale-if-error',
      `private, max-age=${TTL}`,
      String(TTL + 6),
    ]);
    engine.onRun = () => Promise.resolve();
    later(TTL + 12);
    expect(cacheOf(await ask(run('cached.rows')))[0]).toBe('logquay; fwd=miss; stored');
  });

  it.each<[Reason, number]>([
    ['invalidQuery', 400],
    ['budgetExceeded', 429],
  ])('%s, which is the answer though there is a stale one', async (reason, status) => {
    await ask(run('cached.rows'));
    later(TTL + 1);
    engine.onRun = () => Promise.reject(new ServiceError(reason, 'No.'));
    const answer = await ask(run('cached.rows'));
    expect([
      answer.status,
      answer.headers['cache-control'],
      answer.headers['cache-status'],
      answer.headers.age,
    ]).toEqual([status, 'no-store', undefined, undefined]);
  });

  it('304, HEAD and POST, as they are of a GET', async () => {
    const miss = await ask(run('cached.rows'));
    const etag = String(miss.headers.etag);
    later(2.5);
    const expected = [`logquay; hit; ttl=${TTL - 2}`, `private, max-age=${TTL}`, '2'];
    const unchanged = await ask(run('cached.rows'), { headers: { 'If-None-Match': etag } });
    expect([unchanged.status, unchanged.text, unchanged.headers.etag, ...cacheOf(unchanged)]).toEqual([
      304,
      '',
      etag,
      ...expected,
    ]);
    const head = await ask(run('cached.rows'), { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length'], ...cacheOf(head)]).toEqual([
      200,
      '',
      String(miss.text.length),
      ...expected,
    ]);
    const type = { 'Content-Type': 'application/json' };
    const post = await ask('/api/endpoints/query/cached.rows', {
      method: 'POST',
      headers: { ...type, 'If-None-Match': etag },
      body: '{"project":"abc","n":1}',
    });
    expect([post.status, post.text, ...cacheOf(post)]).toEqual([200, miss.text, ...expected]);
    expect(engine.queries).toHaveLength(1);
  });

  it('a HEAD that is a run, cached for the GET', async () => {
    const head = await ask(run('cached.rows'), { method: 'HEAD' });
    expect([head.text, ...cacheOf(head)]).toEqual(['', 'logquay; fwd=miss; stored', `private, max-age=${TTL}`, '0']);
    expect(cacheOf(await ask(run('cached.rows')))[0]).toMatch(/^logquay; hit/);
    expect(engine.queries).toHaveLength(1);
  });

  it('what BigQuery billed: to who began the run, and nothing to keys with pins', async () => {
    await served.close();
    await open('bigquery');
    engine.bytes = { processed: 12n, billed: 10n };
    const openGate = closeGate();
    const waiting = counted();
    const first = ask(run('cached.rows'));
    await until(() => engine.queries.length === 1);
    const second = ask(run('cached.rows'), { headers: { 'X-API-KEY': 'other' } });
    const pinned = ask(run('cached.rows'), { headers: { 'X-API-KEY': 'pinned' } });
    await waiting(3);
    openGate();
    expect(bytesOf(await first)).toEqual(['12', '10']);
    expect(bytesOf(await second)).toEqual(['0', '0']);
    expect(bytesOf(await pinned)).toEqual([undefined, undefined]);
    expect(bytesOf(await ask(run('cached.rows')))).toEqual(['0', '0']);
    expect(bytesOf(await ask(run('cached.rows'), { headers: { 'X-API-KEY': 'pinned' } }))).toEqual([
      undefined,
      undefined,
    ]);
    later(TTL + 1);
    expect(bytesOf(await ask(run('cached.rows'), { headers: { 'X-API-KEY': 'pinned' } }))).toEqual([
      undefined,
      undefined,
    ]);
    engine.bytes = { processed: 0n, billed: 0n };
    expect(bytesOf(await ask(run('passing.rows')))).toEqual(['0', '0']);
    engine.onRun = () => Promise.reject(new ServiceError('backendError', 'No.'));
    later(2 * TTL + 3);
    expect(bytesOf(await ask(run('cached.rows')))).toEqual(['0', '0']);
  });
});

/** A request, and what it comes to. */
interface Case {
  readonly endpoint: Endpoint;
  readonly named: 'name' | 'id' | 'ID' | 'escaped';
  readonly key: 'all' | 'other' | 'pinned' | 'masked' | 'masked-sql';
  readonly project: 'abc' | 'xyz' | '';
  readonly since: string;
  readonly n: string;
  readonly query: readonly ['sql' | 'lql', string] | null;
  readonly redact: string | null;
  readonly accept: string;
  readonly method: 'GET' | 'POST' | 'HEAD';
  readonly undeclared: string;
  readonly shuffled: boolean;
}

const SINCE: Readonly<Record<string, string>> = {
  '': '',
  '2026-09-30': '2026-09-30T00:00:00.000000Z',
  '2026-09-30T02:00:00+02:00': '2026-09-30T00:00:00.000000Z',
  '2026-09-30 00:00:00.0Z': '2026-09-30T00:00:00.000000Z',
  '2026-09-30T00:00:00.000001Z': '2026-09-30T00:00:00.000001Z',
};
const N: Readonly<Record<string, string>> = { '': '1', '1': '1', '2': '2' };
const QUERIES: readonly Case['query'][] = [
  null,
  null,
  ['sql', 'select project, n from t'],
  ['sql', 'select project,  n from t'],
];

const cases: fc.Arbitrary<Case> = fc.record({
  endpoint: fc.constantFrom(CACHED, CACHED, TWIN),
  named: fc.constantFrom('name', 'id', 'ID', 'escaped'),
  key: fc.constantFrom('all', 'other', 'pinned', 'masked', 'masked-sql'),
  project: fc.constantFrom('abc', 'xyz', ''),
  since: fc.constantFrom(...Object.keys(SINCE)),
  n: fc.constantFrom(...Object.keys(N)),
  query: fc.constantFrom(...QUERIES),
  redact: fc.constantFrom('true', 'false', null),
  accept: fc.constantFrom('application/json', '*/*', 'text/csv', 'application/x-ndjson'),
  method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD'),
  undeclared: fc.constantFrom('', 'ref=1', 'project_tier=free&key=xyz'),
  shuffled: fc.boolean(),
});

function send(one: Case): Promise<Got> {
  const { endpoint, named, key, project, since, n, query, redact, accept, method, undeclared, shuffled } = one;
  const names = {
    name: endpoint.name,
    id: endpoint.id,
    ID: endpoint.id.toUpperCase(),
    escaped: endpoint.name.replace('.', '%2E'),
  };
  const given: [string, string][] = [
    ['project', project],
    ['since', since],
    ['n', n],
  ];
  if (query !== null) given.push([...query]);
  const text = [new URLSearchParams(shuffled ? given.reverse() : given).toString(), undeclared]
    .filter(Boolean)
    .join('&');
  const headers = {
    'X-API-KEY': key,
    Accept: accept,
    ...(redact === null ? {} : { 'LF-ENDPOINT-REDACT-PII': redact }),
    ...(method === 'POST' ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
  };
  const path = `/api/endpoints/query/${names[named]}`;
  return method === 'POST' ? ask(path, { method, headers, body: text }) : ask(`${path}?${text}`, { method, headers });
}

/** By the rules (docs/cache.md, docs/keys.md): its status, and what it shares an answer by. */
function expectedOf(one: Case): {
  readonly status: number;
  readonly question: string;
  readonly tells: string;
  readonly redacted: boolean;
} {
  const { endpoint, key, query, redact, accept } = one;
  const pinned = key === 'pinned';
  const project = pinned ? 'abc' : one.project;
  const refused = (key === 'masked' && query !== null) || (pinned && one.project === 'xyz');
  const status = refused ? 403 : project === '' ? 400 : 200;
  const redacted = redact === 'true' || key === 'masked' || key === 'masked-sql';
  const form = accept === '*/*' ? 'application/json' : accept;
  const [since, n] = [SINCE[one.since] ?? '', N[one.n] ?? ''];
  const question = JSON.stringify([endpoint.id, project, since, n, query, redacted, key === 'pinned', form]);
  // What a query of the consumer's names is bound alone.
  const tells = query === null ? `project=${project} since=${since} n=${n} from` : `project=${project} `;
  return { status, question, tells, redacted };
}

describe('requests share an answer exactly when they agree in everything that it depends on', () => {
  /** Every answer is that of its own question, and no question was run twice. */
  function check(sent: readonly Case[], got: readonly Got[]): void {
    const questionOf = new Map<string, string>();
    const seen = sent.map((one, i) => {
      const { status, text, headers } = got[i] as Got;
      if (status !== 200) return [status];
      const { question, tells } = expectedOf(one);
      const etag = String(headers.etag);
      const first = questionOf.get(etag) ?? question;
      questionOf.set(etag, first);
      if (one.method === 'HEAD') return [status, first];
      return [status, first, text.includes(tells), text.includes('REDACTED'), text.includes('10.1.2.3')];
    });
    const questions = new Set<string>();
    const expected = sent.map((one) => {
      const { status, question, redacted } = expectedOf(one);
      if (status !== 200) return [status];
      questions.add(question);
      return one.method === 'HEAD' ? [status, question] : [status, question, true, redacted, !redacted];
    });
    expect(seen).toEqual(expected);
    expect(engine.queries).toHaveLength(questions.size);
  }

  /** What two answers to the same have in common. */
  const lasting = ({ status, text }: Got): unknown[] => (status === 200 ? [status, text] : [status]);

  it('one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 2, maxLength: 10 }), async (sent) => {
        fresh();
        const got: Got[] = [];
        for (const one of sent) got.push(await send(one));
        check(sent, got);
        // What was judged before is judged the same.
        const again: Got[] = [];
        for (const one of sent) again.push(await send(one));
        expect(again.map(lasting)).toEqual(got.map(lasting));
        check(sent, got);
      }),
      { ...runs(120) },
    );
  }, 120_000);

  it('a request and another that differs from it in one thing', async () => {
    const pairs = cases.chain((one) =>
      fc
        .tuple(fc.constant(one), cases, fc.constantFrom(...(Object.keys(one) as (keyof Case)[])))
        .map(([a, b, what]): readonly [Case, Case] => [a, { ...a, [what]: b[what] }]),
    );
    await fc.assert(
      fc.asyncProperty(pairs, fc.boolean(), async (sent, together) => {
        fresh();
        const [a, b] = sent;
        check(sent, together ? await Promise.all([send(a), send(b)]) : [await send(a), await send(b)]);
      }),
      { ...runs(250) },
    );
  }, 120_000);

  it('all at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 2, maxLength: 12 }), async (sent) => {
        fresh();
        const openGate = closeGate();
        const requests = sent.map(send);
        await ask('/health');
        openGate();
        check(sent, await Promise.all(requests));
      }),
      { ...runs(120) },
    );
  }, 120_000);

  it('and no error of one reaches another request', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cases, { minLength: 2, maxLength: 12 }), fc.boolean(), async (sent, together) => {
        fresh();
        const failing = ({ parameters }: EngineQuery): boolean => parameters.some(({ value }) => value === 'xyz');
        engine.onRun = (query) =>
          failing(query) ? Promise.reject(new ServiceError('invalidQuery', 'Rows of xyz are bad.')) : Promise.resolve();
        const got: Got[] = [];
        if (together) got.push(...(await Promise.all(sent.map(send))));
        else for (const one of sent) got.push(await send(one));
        const seen = sent.map(({ method }, i) => {
          const { status, text } = got[i] as Got;
          return method === 'HEAD' ? [status] : [status, text.includes('Rows of xyz are bad.')];
        });
        const expected = sent.map((one) => {
          const { status } = expectedOf(one);
          const fails = status === 200 && one.project === 'xyz';
          return one.method === 'HEAD' ? [fails ? 400 : status] : [fails ? 400 : status, fails];
        });
        expect(seen).toEqual(expected);
        // Nor is it cached.
        for (const one of sent)
          if (expectedOf(one).status === 200 && one.project === 'xyz') expect((await send(one)).status).toBe(400);
      }),
      { ...runs(60) },
    );
  }, 120_000);

  it('LQL by its own text, and never with SQL of the same text', async () => {
    const lql = (text: string): string => run('cached.rows', `project=abc&lql=${encodeURIComponent(text)}`);
    const answers = [];
    for (const text of ['project:abc', 'project:abc', 'project:~abc', 'project:abc '])
      answers.push(await ask(lql(text)));
    expect(answers.map(({ status, headers }) => [status, String(headers['cache-status']).split(';')[1]])).toEqual([
      [200, ' fwd=miss'],
      [200, ' hit'],
      [200, ' fwd=miss'],
      [200, ' fwd=miss'],
    ]);
  });
});

describe('a run is the same whether Express finds its route or not', () => {
  const json = { 'Content-Type': 'application/json' };
  const TABLE: readonly (readonly [string, string, Sent])[] = [
    ['a result', 'project=abc', {}],
    ['HEAD', 'project=abc', { method: 'HEAD' }],
    ['a POST of JSON', '', { method: 'POST', headers: json, body: '{"project":"abc"}' }],
    [
      'a POST of a form',
      '',
      { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'project=abc' },
    ],
    ['an empty POST', 'project=abc', { method: 'POST' }],
    ['CSV', 'project=abc', { headers: { Accept: 'text/csv' } }],
    ['redaction', 'project=abc', { headers: { 'LF-ENDPOINT-REDACT-PII': 'true' } }],
    ['what the client has', 'project=abc', { headers: { 'If-None-Match': '*' } }],
    ['a query that is refused', 'project=abc&sql=select+1+from+nowhere', {}],
    ['a parameter that is missing', '', {}],
    ['a parameter given twice', 'project=abc&project=abc', {}],
    ['a malformed escape', 'project=%zz', {}],
    ['no key', 'project=abc', { headers: { 'X-API-KEY': '' } }],
    ['a pin', '', { headers: { 'X-API-KEY': 'pinned' } }],
    ['a body that is no JSON', '', { method: 'POST', headers: json, body: '{"project":' }],
    ['a body that is too long', '', { method: 'POST', headers: json, body: `{"project":"${'x'.repeat(262_144)}"}` }],
    ['a URL that is too long', `project=${'x'.repeat(98_400)}`, {}],
    ['an engine that fails', 'project=broken', {}],
    ['another method', 'project=abc', { method: 'DELETE' }],
    ['OPTIONS', 'project=abc', { method: 'OPTIONS' }],
  ];

  /** Without what no two answers share. */
  function compared({ status, headers, text }: Got): unknown {
    const { date, 'x-request-id': id, 'server-timing': timing, ...rest } = headers;
    expect([typeof date, typeof id]).toEqual(['string', 'string']);
    return {
      status,
      rest,
      phases: String(timing).replace(/dur=[\d.]+/g, ''),
      text: text.replace(/"requestId":"[^"]*"/, ''),
      length: text.replace(String(id), '').length,
    };
  }

  /** Lets every query be judged anew. */
  function unjudged(): void {
    const services = served.lifecycle.services();
    const gate = new Gate(services.engine);
    served.lifecycle.open({ ...services, gate, analyses: new StoredAnalyses(services.engine, gate) });
  }

  it.each(TABLE)('%s', async (_, query, sent) => {
    const all: unknown[] = [];
    for (const name of ['cached.rows', '%63ached.rows', 'cached%2Erows']) {
      fresh();
      unjudged();
      engine.onRun = ({ parameters }) =>
        parameters[0]?.value === 'broken'
          ? Promise.reject(new ServiceError('backendError', 'It is broken.'))
          : Promise.resolve();
      // The second is a hit, and was judged before.
      const got = [await ask(run(name, query), sent), await ask(run(name, query), sent)];
      all.push(got.map(compared));
    }
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
  });

  it('an endpoint that there is not', async () => {
    const [direct, routed] = [await ask(run('nowhere')), await ask(run('%6eowhere'))];
    expect(direct.status).toBe(404);
    expect(compared(routed)).toEqual(compared(direct));
  });
});
