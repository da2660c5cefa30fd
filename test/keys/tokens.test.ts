/** Tokens that others sign: what is taken, what never is, and what a token may do at most. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import type * as Jose from 'jose' with { 'resolution-mode': 'import' };

import type { ParameterDeclaration } from '../../src/endpoints/endpoint';
import { readParameter } from '../../src/endpoints/parameters';
import { ServiceError } from '../../src/errors';
import { TokenRefused } from '../../src/keys/claims';
import { ClaimedValue, type HeaderValues, hashOf, type Key } from '../../src/keys/key';
import { type KeyRing, openKeyRing } from '../../src/keys/key-ring';
import { openLog } from '../../src/log';
import { until } from '../until';

const ISSUER = 'https://auth.example.com';
const AUDIENCE = 'logquay';
const NOW = Date.parse('2026-11-29T12:00:00Z');

interface Signer {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: Jose.CryptoKey;
  readonly publicKey: Jose.CryptoKey;
  readonly jwk: Jose.JWK;
}

async function signer(alg: string, kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicKey, jwk: { ...(await jose.exportJWK(publicKey)), kid, alg } };
}

let jose: typeof Jose;
let folder: string;
let server: Server;
/** What the server of public keys answers, and how often it was asked. */
let published: { keys: readonly unknown[] } | 'away' | ((response: ServerResponse) => void) = { keys: [] };
let asked = 0;
let clock = NOW;
const LOG = openLog('silent', process.stderr);
const rings: KeyRing[] = [];
/** Of keys, one for each ring. */
const files: string[] = [];
const signers: Record<string, Signer> = {};

beforeAll(async () => {
  jose = await import('jose');
  folder = await mkdtemp(path.join(os.tmpdir(), 'logquay-tokens-'));
  server = createServer((_, response) => {
    asked++;
    if (typeof published === 'function') published(response);
    else if (published === 'away') response.writeHead(500).end();
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(published));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  for (const alg of ['ES256', 'RS256', 'EdDSA', 'PS256']) signers[alg] = await signer(alg, `key-${alg}`);
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  clock = NOW;
  asked = 0;
  published = { keys: Object.values(signers).map(({ jwk }) => jwk) };
});
afterEach(() => {
  for (const ring of rings.splice(0)) ring.close();
});

const jwksUrl = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/jwks`;

interface Given {
  readonly tokens?: object;
  readonly [member: string]: unknown;
}

const entryOf = ({ tokens = {}, ...more }: Given = {}) => ({
  name: 'app',
  tokens: { issuer: ISSUER, audience: AUDIENCE, jwks: jwksUrl(), ...tokens },
  endpoints: ['logs.all', 'usage'],
  pins: { project: { claim: 'app_metadata.org' } },
  ...more,
});

async function ringOf(...entries: readonly object[]): Promise<KeyRing> {
  const keysFile = path.join(folder, `keys-${String(Math.random())}.json`);
  files.push(keysFile);
  await writeFile(keysFile, JSON.stringify({ keys: entries }));
  const options = { apiKey: null, keysFile, keysFileGiven: true, startKeyFile: null };
  const ring = await openKeyRing({ ...options, log: LOG, now: () => clock, pollEvery: 50 });
  rings.push(ring);
  return ring;
}

interface Signed {
  readonly by?: Signer;
  readonly head?: object;
  readonly claims?: object;
  readonly without?: readonly string[];
}

const SECONDS = NOW / 1000;
const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'u1',
  iat: SECONDS,
  exp: SECONDS + 600,
  app_metadata: { org: 'abc' },
};

async function signed({ by = signers['ES256']!, head = {}, claims = {}, without = [] }: Signed = {}): Promise<string> {
  const all = Object.fromEntries(Object.entries({ ...CLAIMS, ...claims }).filter(([name]) => !without.includes(name)));
  return new jose.SignJWT(all).setProtectedHeader({ alg: by.alg, kid: by.kid, ...head }).sign(by.privateKey);
}

const bearer =
  (token: string): HeaderValues =>
  (name) =>
    name === 'authorization' ? [`Bearer ${token}`] : [];

async function ask(ring: KeyRing, token: string, header = bearer(token)): Promise<Key> {
  await ring.admit(header);
  return ring.authenticate(header);
}

/** How a token is refused: the reason, and whether it counts as a guess of a key. */
async function refusal(ring: KeyRing, token: string): Promise<{ reason: string; message: string; signed: boolean }> {
  try {
    await ask(ring, token);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const account: unknown = Reflect.get(error, 'account');
    return { reason: error.reason, message: error.message, signed: account !== null && account !== undefined };
  }
  throw new Error('the token was taken');
}

const b64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

it.each(['ES256', 'RS256', 'EdDSA', 'PS256'])(
  'takes a token that is signed with %s, and does what its entry says',
  async (alg) => {
    const ring = await ringOf(entryOf({ rateLimit: 20, dailyBytes: '2000' }));
    const key = await ask(ring, await signed({ by: signers[alg]! }));
    expect(key).toMatchObject({
      name: expect.stringMatching(/^app\/[0-9a-f]{64}$/),
      endpoints: ['logs.all', 'usage'],
      redact: false,
      allowSql: false,
      export: false,
      rateLimit: 20,
      dailyBytes: 100n,
      issuer: { name: 'app', dailyBytes: 2000n, rateLimit: 20 },
    });
    expect(key.pins.get('project')).toMatchObject({ kind: 'string', texts: ['abc'] });
    expect(Object.isFrozen(key)).toBe(true);
  },
);

it('gives the same token the same key, and another token of the same user the same account', async () => {
  const ring = await ringOf(entryOf());
  const token = await signed();
  const first = await ask(ring, token);
  expect(await ask(ring, token)).toBe(first);
  const renewed = await ask(ring, await signed({ claims: { jti: 'b' } }));
  expect(renewed).not.toBe(first);
  expect(renewed.name).toBe(first.name);
  expect((await ask(ring, await signed({ claims: { sub: 'u2' } }))).name).not.toBe(first.name);
});

it('knows a token that it has verified, whatever comes that nobody has signed', async () => {
  const ring = await ringOf(entryOf());
  const token = await signed();
  const first = await ask(ring, token);
  for (let i = 0; i < 10_000; i++) await ring.admit(bearer(`a.${String(i)}.b`));
  expect(await ask(ring, token)).toBe(first);
});

it('looks a credential up as a key first', async () => {
  const token = await signed();
  const hash = hashOf(token).toString('hex');
  const ring = await ringOf({ name: 'studio', hash }, entryOf());
  expect((await ask(ring, token)).name).toBe('studio');
});

describe('never takes', () => {
  const unsigned: Record<string, () => Promise<string>> = {
    'alg none': async () => `${b64({ alg: 'none' })}.${b64(CLAIMS)}.AA`,
    'alg none without a signature': async () => `${b64({ alg: 'none' })}.${b64(CLAIMS)}.`,
    'a public key as the secret of HS256': async () =>
      new jose.SignJWT(CLAIMS)
        .setProtectedHeader({ alg: 'HS256', kid: signers['RS256']!.kid })
        .sign(Buffer.from(await jose.exportSPKI(signers['RS256']!.publicKey))),
    'a key of its own in the head': async () => {
      const own = await signer('ES256', 'key-ES256');
      return signed({
        by: own,
        head: { jwk: own.jwk, jku: 'https://evil.example.com', x5u: 'https://evil.example.com' },
      });
    },
    'a kid that is a path': async () => signed({ head: { kid: '../../etc/passwd' } }),
    'a kid that is SQL': async () => signed({ head: { kid: "' OR 1=1 --" } }),
    'a changed claim': async () => {
      const [head, , signature] = (await signed()).split('.');
      return `${head}.${b64({ ...CLAIMS, app_metadata: { org: 'other' } })}.${signature}`;
    },
    'an unknown issuer': async () => signed({ claims: { iss: 'https://evil.example.com' } }),
    'another audience': async () => signed({ claims: { aud: 'other' } }),
    'an issuer with a slash more': async () => signed({ claims: { iss: `${ISSUER}/` } }),
    'an issuer in other letters': async () => signed({ claims: { iss: ISSUER.toUpperCase() } }),
    'an issuer that is a list': async () => signed({ claims: { iss: [ISSUER] } }),
    'no audience': async () => signed({ claims: { aud: [] } }),
    'an audience within a list': async () => signed({ claims: { aud: [[AUDIENCE]] } }),
    'an audience that is an object': async () => signed({ claims: { aud: { 0: AUDIENCE } } }),
    'a kid that is a list, beside several keys': async () => signed({ head: { kid: ['key-ES256'] } }),
    'the kid of a key of another algorithm': async () => signed({ head: { kid: 'key-RS256' } }),
    'a signature of other bytes, as b64 says': async () => {
      const [, claims, signature] = (await signed()).split('.');
      return `${b64({ alg: 'ES256', kid: 'key-ES256', b64: false, crit: ['b64'] })}.${claims}.${signature}`;
    },
    'an ES256 signature of zeros': async () => {
      const [head, claims] = (await signed()).split('.');
      return `${head}.${claims}.${Buffer.alloc(64).toString('base64url')}`;
    },
    'claims that are a list': async () => `${b64({ alg: 'ES256', kid: 'key-ES256' })}.${b64([CLAIMS])}.AA`,
    'claims that are no UTF-8, which would make two tenants one': async () => {
      const { alg, kid, privateKey } = signers['ES256']!;
      const bytes = Buffer.from(JSON.stringify({ ...CLAIMS, app_metadata: { org: 'a\xff' } }), 'latin1');
      return new jose.CompactSign(bytes).setProtectedHeader({ alg, kid }).sign(privateKey);
    },
    'a token within a token': async () => {
      const { alg, kid, privateKey } = signers['ES256']!;
      const bytes = Buffer.from(await signed());
      return new jose.CompactSign(bytes).setProtectedHeader({ alg, kid, cty: 'JWT' }).sign(privateKey);
    },
    'an encrypted token': async () => `${b64({ alg: 'dir', enc: 'A256GCM' })}..AA.AA.AA`,
    'a long text': async () => `${b64({ alg: 'ES256' })}.${'A'.repeat(1_000_000)}.AA`,
    'crit that is not known': async () => {
      const { alg, kid, privateKey } = signers['ES256']!;
      const head = { alg, kid, crit: ['strict'], strict: true };
      return new jose.SignJWT(CLAIMS).setProtectedHeader(head).sign(privateKey, { crit: { strict: true } });
    },
  };
  it.each(Object.keys(unsigned))('%s, and counts it as a guess', async (name) => {
    const ring = await ringOf(entryOf());
    expect(await refusal(ring, await unsigned[name]!())).toMatchObject({ reason: 'unauthenticated', signed: false });
  });

  const unfitting: Record<string, Signed> = {
    'one that has expired': { claims: { iat: SECONDS - 700, exp: SECONDS - 60 } },
    'one without exp': { without: ['exp'] },
    'one without iat': { without: ['iat'] },
    'one without sub': { without: ['sub'] },
    'a long sub': { claims: { sub: 'x'.repeat(256) } },
    'one that is older than maxAge': { claims: { iat: SECONDS - 3700, exp: SECONDS + 86_400 } },
    'one of tomorrow': { claims: { nbf: SECONDS + 3600 } },
    'one that was issued in the future': { claims: { iat: SECONDS + 3600, exp: SECONDS + 7200 } },
    'a claim that is missing': { without: ['app_metadata'] },
    'an empty claim': { claims: { app_metadata: { org: '' } } },
    'a claim that is an object': { claims: { app_metadata: { org: { a: 1 } } } },
    'a claim that is an empty list': { claims: { app_metadata: { org: [] } } },
    'a list of several kinds': { claims: { app_metadata: { org: ['a', 1] } } },
    'a claim that is null': { claims: { app_metadata: { org: null } } },
    'a list in a list': { claims: { app_metadata: { org: [['abc']] } } },
    'a claim of 4,097 characters': { claims: { app_metadata: { org: 'x'.repeat(4_097) } } },
    'an iss, aud and sub that are right, and a claim that is NaN as JSON has it': {
      claims: { app_metadata: { org: NaN } },
    },
    'exp of a fraction that is over': { claims: { exp: SECONDS - 30.5 } },
    'an iat that is negative': { claims: { iat: -1 } },
    'nbf as a text': { claims: { nbf: String(SECONDS) } },
    'an issue of 2^53 seconds': { claims: { iat: 2 ** 53 } },
    'a claim behind a text': { claims: { app_metadata: 'abc' } },
    'a member with a dot in the place of two': { claims: { app_metadata: undefined, 'app_metadata.org': 'abc' } },
    'a sub that is no text': { claims: { sub: 'a\ud800' } },
    'exp of ten years, as iat has it too': { claims: { iat: SECONDS + 60, exp: SECONDS + 315_360_000 } },
    'a pin that is narrowed to a list': { claims: { logquay: { pins: { project: ['abc'] } } } },
    'a pin of its own that is an object': { claims: { logquay: { pins: { region: { claim: 'sub' } } } } },
    'a reserved parameter as its pin': { claims: { logquay: { pins: { sql: 'SELECT 1' } } } },
    'endpoints that are a text': { claims: { logquay: { endpoints: '*' } } },
    'endpoints that are none': { claims: { logquay: { endpoints: [] } } },
    'a narrowing that is a list': { claims: { logquay: [{ endpoints: ['usage'] }] } },
    'a claim behind a list': { claims: { app_metadata: ['abc'] } },
    'a pin that is widened': { claims: { logquay: { pins: { project: 'other' } } } },
    'an endpoint that its entry has not': { claims: { logquay: { endpoints: ['admin'] } } },
    'a narrowing with a member that is not known': { claims: { logquay: { pinz: {} } } },
    'a narrowing that is a text': { claims: { logquay: 'all' } },
    'a rate that is none': { claims: { logquay: { rate_limit: -1 } } },
  };
  it.each(Object.keys(unfitting))('%s, and counts it for its account', async (name) => {
    const ring = await ringOf(entryOf());
    const refused = await refusal(ring, await signed(unfitting[name]));
    expect(refused).toEqual({ reason: 'unauthenticated', message: 'The token is not valid.', signed: true });
  });

  it('an expired one at the cost of another user', async () => {
    const ring = await ringOf(entryOf({ rateLimit: 5 }));
    const { name } = await ask(ring, await signed());
    for (const [sub, account] of [
      ['u1', name],
      ['u2', expect.stringMatching(/^app\/[0-9a-f]{64}$/)],
      ['x'.repeat(256), 'app'],
    ]) {
      const expired = await signed({ claims: { sub, iat: SECONDS - 700, exp: SECONDS - 60 } });
      await expect(ask(ring, expired)).rejects.toMatchObject({ account: { name: account, rateLimit: 5 } });
    }
  });

  it('exp as a text', async () => {
    const ring = await ringOf(entryOf());
    expect(await refusal(ring, await signed({ claims: { exp: String(SECONDS + 600) } }))).toMatchObject({
      reason: 'unauthenticated',
    });
  });

  it('a claim that every object has, but for its own', async () => {
    const ring = await ringOf(entryOf({ pins: { project: { claim: ['__proto__', 'org'] } } }));
    expect(await refusal(ring, await signed({ without: ['app_metadata'] }))).toMatchObject({ signed: true });
    const toString = await ringOf(entryOf({ pins: { project: { claim: 'toString.name' } } }));
    expect(await refusal(toString, await signed())).toMatchObject({ signed: true });
  });

  it('what an entry fixes, for what a token would have', async () => {
    const ring = await ringOf(entryOf({ pins: { project: { claim: 'app_metadata.org' }, region: 'eu' } }));
    const narrowed = (pins: object): Promise<string> => signed({ claims: { logquay: { pins } } });
    expect(await refusal(ring, await narrowed({ region: 'us' }))).toMatchObject({ signed: true });
    expect(await refusal(ring, await narrowed({ project: 'abd' }))).toMatchObject({ signed: true });
    expect((await ask(ring, await narrowed({ region: 'eu' }))).pins.get('region')).toBe('eu');
  });

  it('what was verified under an entry that is another now', async () => {
    const ring = await ringOf(entryOf());
    const token = await signed();
    const before = await ask(ring, token);
    await writeFile(files.at(-1) ?? '', JSON.stringify({ keys: [entryOf({ endpoints: ['usage'] })] }));
    await until(async () => (await ask(ring, token)).endpoints.length === 1);
    expect(() => ring.authenticate(bearer(token), { key: before, inTime: false })).toThrow(ServiceError);
    // The set of keys is the same: it is not fetched again.
    expect(asked).toBe(1);
  });

  it('a token of one issuer as that of another with the same keys', async () => {
    const other = entryOf({ name: 'b', tokens: { issuer: 'https://b.example.com' }, endpoints: ['b'] });
    const ring = await ringOf(entryOf(), other);
    expect((await ask(ring, await signed())).endpoints).toEqual(['logs.all', 'usage']);
    expect((await ask(ring, await signed({ claims: { iss: 'https://b.example.com' } }))).endpoints).toEqual(['b']);
    const mixed = await signed({ claims: { iss: 'https://b.example.com', aud: 'of neither' } });
    expect(await refusal(ring, mixed)).toMatchObject({ signed: false });
  });

  it('a claim that its parameter does not take as it is', () => {
    const base = { description: '', required: true, default: null, defaultLookback: null, values: null };
    const more = { minimum: null, maximum: null };
    const read = (type: string, claim: unknown, list = false): unknown => {
      const pin = ClaimedValue.of(claim);
      const declaration = { ...base, ...more, name: 'p', type, list } as unknown as ParameterDeclaration;
      return pin === null ? 'no pin' : readParameter(declaration, [], new Map([['p', pin]]), 0n).value;
    };
    expect([read('string', 'abc'), read('integer', 5), read('boolean', true), read('number', 0.5)]).toEqual([
      ...['abc', '5', 'true', '0.5'],
    ]);
    expect(read('string', ['a', 'b'], true)).toEqual(['a', 'b']);
    const wrong: readonly (readonly [string, ...unknown[]])[] = [
      ['string', 5, true, ['a'], 'a\0b', 'a\ud800'],
      ['integer', '5', 5.5, 2 ** 53, 1e300],
      ['number', '1'],
      ['boolean', 'true', 1],
      ['timestamp', 5],
      ['date', 'yesterday'],
      ['regex', 'abc'],
    ];
    for (const [type, ...claims] of wrong)
      for (const claim of claims) expect(() => read(type, claim)).toThrow(TokenRefused);
    expect(() => read('string', 'a', true)).toThrow(TokenRefused);
    expect(() => read('string', ['a', 'b\0'], true)).toThrow(TokenRefused);
    // Letters that look alike are other letters.
    expect(read('string', 'аbс')).not.toBe(read('string', 'abc'));
    expect(read('string', 'é')).not.toBe(read('string', 'e\u0301'));
  });

  it('a token whose audiences fit two entries', async () => {
    const ring = await ringOf(entryOf(), entryOf({ name: 'other', tokens: { audience: 'second' } }));
    expect((await ask(ring, await signed({ claims: { aud: [AUDIENCE, 'x'] } }))).name).toMatch(/^app\//);
    expect(await refusal(ring, await signed({ claims: { aud: [AUDIENCE, 'second'] } }))).toMatchObject({
      signed: false,
    });
  });
});

it('narrows itself by its own claim, and never widens', async () => {
  const ring = await ringOf(entryOf({ rateLimit: 10 }));
  const logquay = { endpoints: ['usage'], pins: { region: 'eu', project: 'abc' }, rate_limit: 50 };
  const key = await ask(ring, await signed({ claims: { logquay } }));
  expect(key).toMatchObject({ endpoints: ['usage'], rateLimit: 10 });
  expect([...key.pins.keys()]).toEqual(['project', 'region']);
});

it('spends by the budget of its entry, whichever token of its user came last', async () => {
  const ring = await ringOf(entryOf({ dailyBytes: '2000' }));
  const long = await signed();
  const { name } = await ask(ring, long);
  await ask(ring, await signed({ claims: { exp: SECONDS + 1 } }));
  clock = NOW + 60_000;
  expect((await ask(ring, long)).name).toBe(name);
  const issuer = { name: 'app', dailyBytes: 2000n, rateLimit: null };
  expect(ring.budgetOf(name)).toEqual({ name, dailyBytes: 100n, issuer });
  expect(ring.find(name)).toBeNull();
  expect(ring.budgetOf('other/1')).toBeNull();
});

it('lives as long as exp and maxAge allow, by the real clock', async () => {
  const ring = await ringOf(entryOf({ tokens: { maxAge: '5m' } }));
  const token = await signed();
  await ask(ring, token);
  clock = NOW + 5 * 60_000 + 29_000;
  await expect(ask(ring, token)).resolves.toBeDefined();
  clock = NOW + 5 * 60_000 + 31_000;
  expect(await refusal(ring, token)).toMatchObject({ reason: 'unauthenticated', signed: true });
});

it('is not valid any more where notBefore says so', async () => {
  const ring = await ringOf(entryOf({ tokens: { notBefore: new Date(NOW + 1000).toISOString() } }));
  expect(await refusal(ring, await signed())).toMatchObject({ signed: true });
  await expect(ask(ring, await signed({ claims: { iat: SECONDS + 2 } }))).resolves.toBeDefined();
});

it('comes in the header that its entry names, and there alone', async () => {
  const ring = await ringOf(entryOf({ tokens: { header: 'X-Goog-IAP-JWT-Assertion' } }));
  const token = await signed();
  expect(await refusal(ring, token)).toMatchObject({ reason: 'unauthenticated' });
  const iap: HeaderValues = (name) => (name === 'x-goog-iap-jwt-assertion' ? [token] : []);
  await expect(ask(ring, token, iap)).resolves.toMatchObject({ name: expect.stringMatching(/^app\//) });
  const other = await ringOf(
    entryOf({ tokens: { header: 'X-Goog-IAP-JWT-Assertion' } }),
    entryOf({ name: 'b', tokens: { audience: 'b' } }),
  );
  await ask(other, token, iap);
  expect(await refusal(other, token)).toMatchObject({ reason: 'unauthenticated' });
});

it('in such a header is not taken for what a page of another origin asks for, but for links', async () => {
  const ring = await ringOf(entryOf({ tokens: { header: 'X-Goog-IAP-JWT-Assertion' } }));
  const token = await signed();
  const from =
    (site: string, mode = 'no-cors', dest = 'image'): HeaderValues =>
    (name) => {
      const sent = { 'x-goog-iap-jwt-assertion': token, 'sec-fetch-site': site, 'sec-fetch-mode': mode };
      return Object.entries({ ...sent, 'sec-fetch-dest': dest }).flatMap(([one, value]) => (one === name ? value : []));
    };
  for (const header of [from('same-origin', 'cors', 'empty'), from('none'), from('cross-site', 'navigate', 'document')])
    await expect(ask(ring, token, header)).resolves.toBeDefined();
  for (const header of [from('cross-site'), from('same-site'), from('cross-site', 'navigate', 'iframe')])
    await expect(ask(ring, token, header)).rejects.toMatchObject({ reason: 'unauthenticated' });
});

describe('the keys of an issuer', () => {
  it('are fetched once for 200 requests with ids that are not known', async () => {
    const ring = await ringOf(entryOf());
    await ask(ring, await signed());
    expect(asked).toBe(1);
    const unknown = await Promise.all(
      Array.from({ length: 200 }, (_, i) => signed({ head: { kid: `unknown-${String(i)}` } })),
    );
    await Promise.all(unknown.map((token) => refusal(ring, token)));
    expect(asked).toBe(1);
    clock += 31_000;
    const later = await Promise.all(unknown.map((_, i) => signed({ head: { kid: `later-${String(i)}` } })));
    await Promise.all(later.map((token) => refusal(ring, token)));
    expect(asked).toBe(2);
  });

  it('may be others: a new one is found, and one that is gone is not valid any more', async () => {
    const ring = await ringOf(entryOf());
    const old = await signed();
    await ask(ring, old);
    const next = await signer('ES256', 'next');
    published = { keys: [next.jwk] };
    clock += 31_000;
    await expect(ask(ring, await signed({ by: next }))).resolves.toBeDefined();
    expect(await refusal(ring, old)).toMatchObject({ reason: 'unauthenticated' });
  });

  it('are the same ones in a set with more of them: what they have signed goes on', async () => {
    const ring = await ringOf(entryOf());
    const token = await signed();
    const key = await ask(ring, token);
    const next = await signer('ES256', 'next');
    published = { keys: [...Object.values(signers).map(({ jwk }) => jwk), next.jwk] };
    clock += 31_000;
    await ask(ring, await signed({ by: next }));
    expect(asked).toBe(2);
    expect(await ask(ring, token)).toBe(key);
  });

  it('that were never had are 503, and the last good ones serve for a day', async () => {
    published = 'away';
    const ring = await ringOf(entryOf());
    expect(await refusal(ring, await signed())).toMatchObject({ reason: 'backendUnavailable' });
    published = { keys: [signers['ES256']!.jwk] };
    clock += 3_000;
    await expect(ask(ring, await signed({ claims: { jti: 'a' } }))).resolves.toBeDefined();
    published = 'away';
    clock += 23 * 3_600_000;
    const later = { iat: clock / 1000, exp: clock / 1000 + 60 };
    await expect(ask(ring, await signed({ claims: later }))).resolves.toBeDefined();
    clock += 2 * 3_600_000;
    const tooLate = { iat: clock / 1000, exp: clock / 1000 + 60 };
    expect(await refusal(ring, await signed({ claims: tooLate }))).toMatchObject({ reason: 'backendUnavailable' });
  });

  const answers: Record<string, (response: ServerResponse) => void> = {
    'from elsewhere, by a redirect': (response) => {
      response.writeHead(302, { Location: '/other' }).end();
      published = { keys: [signers['ES256']!.jwk] };
    },
    'of more than 64 KiB': (response) =>
      response.end(JSON.stringify({ keys: [signers['ES256']!.jwk], more: 'x'.repeat(65_536) })),
    'that are packed, and huge': (response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000, 32))),
    'that come slowly': (response) => void response.write('{"keys":['),
    'that are no JSON': (response) => response.end('<html>'),
    'that are null': (response) => response.end('null'),
  };
  it.each(Object.keys(answers))('are not taken %s: 503 within its time', async (name) => {
    published = answers[name]!;
    const ring = await ringOf(entryOf());
    const began = performance.now();
    expect(await refusal(ring, await signed())).toMatchObject({ reason: 'backendUnavailable' });
    expect(performance.now() - began).toBeLessThan(4_000);
    expect(asked).toBe(1);
    server.closeAllConnections();
  });

  it('count if they can verify alone, each id once', async () => {
    const { jwk } = signers['ES256']!;
    const small = { kty: 'RSA', n: Buffer.alloc(128, 255).toString('base64url'), e: 'AQAB', kid: 'small' };
    published = {
      keys: [{ ...jwk, use: 'enc', kid: 'enc' }, { kty: 'oct', k: 'AAAA', kid: 'oct' }, small, null, 5, jwk],
    };
    const ring = await ringOf(entryOf());
    await expect(ask(ring, await signed())).resolves.toBeDefined();
    published = { keys: [jwk, { ...(await signer('ES256', jwk.kid ?? '')).jwk }] };
    const twice = await ringOf(entryOf());
    expect(await refusal(twice, await signed())).toMatchObject({ reason: 'backendUnavailable' });
  });

  it('are found without an id where there is one alone', async () => {
    const { jwk } = signers['ES256']!;
    published = { keys: [jwk] };
    const ring = await ringOf(entryOf());
    await expect(ask(ring, await signed({ head: { kid: undefined } }))).resolves.toBeDefined();
    published = { keys: [jwk, (await signer('ES256', 'b')).jwk] };
    const several = await ringOf(entryOf());
    expect(await refusal(several, await signed({ head: { kid: undefined } }))).toMatchObject({ signed: false });
  });

  it('may be a secret in a file, without its line break, and two while they are changed', async () => {
    const [a, b] = ['a'.repeat(32), 'b'.repeat(32)];
    await writeFile(path.join(folder, 'a'), `${a}\n`);
    await writeFile(path.join(folder, 'b'), b);
    const sign = (secret: string): Promise<string> =>
      new jose.SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
    const tokens = { jwks: undefined, secretFile: ['a', 'b'] };
    const ring = await ringOf(entryOf({ tokens }));
    await expect(ask(ring, await sign(a))).resolves.toBeDefined();
    await expect(ask(ring, await sign(b))).resolves.toBeDefined();
    expect(await refusal(ring, await sign('c'.repeat(32)))).toMatchObject({ signed: false });
    expect(await refusal(ring, await signed())).toMatchObject({ signed: false });
  });
});

describe('an entry is faulty', () => {
  const hash = '0'.repeat(64);
  it.each([
    ['with all endpoints', { endpoints: '*' }],
    ['without endpoints', { endpoints: undefined }],
    ['without a pin by claim', { pins: { project: 'abc' } }],
    ['without any pin', { pins: {} }],
    ['with admin', { admin: true }],
    ['with ingest', { ingest: true }],
    ['with a reserved parameter as its pin', { pins: { sql: { claim: 'q' } } }],
    ['with a file as a URL', { tokens: { jwks: 'file:///etc/passwd' } }],
    ['with a hash', { hash }],
    ['with keys and a secret', { tokens: { secretFile: 'a' } }],
    ['with neither', { tokens: { jwks: undefined } }],
    ['with http elsewhere', { tokens: { jwks: 'http://auth.example.com/jwks' } }],
    ['with a user in the URL', { tokens: { jwks: 'https://user:secret@auth.example.com/jwks' } }],
    ['with a member that is not known', { tokens: { algorithms: ['none'] } }],
    [
      'with a pin named __proto__',
      { pins: JSON.parse('{"__proto__":{"claim":"a"},"project":{"claim":"b"}}') as unknown },
    ],
  ])('%s, and left out', async (_, given) => {
    const ring = await ringOf({ name: 'other', hash }, entryOf(given));
    expect(await refusal(ring, await signed())).toMatchObject({ reason: 'unauthenticated', signed: false });
  });

  it('but for holders who may see all rows, where it says so', async () => {
    const ring = await ringOf(entryOf({ pins: {}, unpinned: true }));
    expect((await ask(ring, await signed())).pins.size).toBe(0);
  });
});
