import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { Secret } from '../../src/config';
import { ServiceError } from '../../src/errors';
import { type KeyRing, type KeyRingOptions, NoKeyError, openKeyRing } from '../../src/keys/key-ring';
import { KeysFileError, ensureStartKey, revokeStartKey } from '../../src/keys/keys-file';

let folder = '';
let keysFile = '';
const rings: KeyRing[] = [];
const logged: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'));
  keysFile = path.join(folder, 'keys.json');
  logged.length = 0;
});
afterEach(async () => {
  for (const ring of rings.splice(0)) ring.close();
  await rm(folder, { recursive: true });
});

async function open(options: Partial<KeyRingOptions> = {}): Promise<KeyRing> {
  const write = (facts: object | string, message?: string) => {
    logged.push(`${message ?? ''} ${JSON.stringify(facts)}`);
  };
  const log = { info: write, warn: write };
  const given = { apiKey: null, keysFile, keysFileGiven: false, startKeyFile: null, pollEvery: 25, log, ...options };
  const ring = await openKeyRing(given);
  rings.push(ring);
  return ring;
}

const hash = (secret: string) => createHash('sha256').update(secret).digest('hex');
const writeKeys = (...keys: unknown[]) => writeFile(keysFile, JSON.stringify({ keys }));
const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(holds: () => boolean): Promise<void> {
  const giveUp = Date.now() + 5000;
  while (!holds()) {
    if (Date.now() > giveUp) throw new Error(`it never came; logged: ${logged.join('\n')}`);
    await later(10);
  }
}

const headers =
  (sent: Readonly<Record<string, readonly string[]>>) =>
  (name: string): readonly string[] =>
    sent[name] ?? [];
const present = (ring: KeyRing, secret: string) => ring.authenticate(headers({ 'x-api-key': [secret] }));

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof ServiceError && error.reason === 'unauthenticated') return error.message;
    throw error;
  }
  return 'accepted';
}
const accepts = (ring: KeyRing, secret: string) => refusal(() => present(ring, secret)) === 'accepted';

describe('headers', () => {
  it.each([
    [{ 'x-api-key': ['good'] }, true],
    [{ 'x-api-key': [' good '] }, true],
    [{ authorization: ['Bearer good'] }, true],
    [{ authorization: ['bearer  good'] }, true],
    [{ 'x-api-key': ['good'], authorization: ['Bearer bad'] }, true],
    [{ 'x-api-key': ['good'], authorization: ['Bearer good', 'Bearer good'] }, true],
    [{ 'x-api-key': ['good'], authorization: ['nonsense'] }, true],
    [{}, false],
    [{ 'x-api-key': ['bad'], authorization: ['Bearer good'] }, false],
    [{ 'x-api-key': [''], authorization: ['Bearer good'] }, false],
    [{ 'x-api-key': ['  '], authorization: ['Bearer good'] }, false],
    [{ 'x-api-key': ['good', 'good'], authorization: ['Bearer good'] }, false],
    [{ 'x-api-key': ['bad', 'good'] }, false],
    [{ 'x-api-key': ['good, good'] }, false],
    [{ 'x-api-key': ['Bearer good'] }, false],
    [{ 'x-api-key': ['GOOD'] }, false],
    [{ 'x-api-key': ['good\u0000'] }, false],
    [{ authorization: ['Bearer good', 'Bearer good'] }, false],
    [{ authorization: ['Bearer good', 'Basic x'] }, false],
    [{ authorization: ['Basic good'] }, false],
    [{ authorization: ['good'] }, false],
    [{ authorization: ['Bearer'] }, false],
    [{ authorization: ['Bearer '] }, false],
    [{ authorization: ['Bearer good good'] }, false],
    [{ authorization: ['Bearer good,'] }, false],
    [{ authorization: ['Bearergood'] }, false],
  ] as const)('%j', async (sent, accepted) => {
    const ring = await open({ apiKey: new Secret('good') });
    const message = refusal(() => ring.authenticate(headers(sent)));
    expect(message === 'accepted').toBe(accepted);
    expect(message).not.toContain('good');
  });
});

describe('keys', () => {
  it('have what the file says of them', async () => {
    await writeKeys(
      { name: 'plain', hash: hash('a') },
      {
        name: 'narrow',
        hash: hash('b').toUpperCase(),
        endpoints: ['logs.all'],
        pins: { project: 'abc' },
        redact: true,
        allowSql: true,
        rateLimit: 0.5,
        dailyBytes: '9007199254740993',
        expires: '2030-01-01T00:00:00+01:00',
        created: '2026-01-01T00:00:00Z',
      },
    );
    const ring = await open();
    const nothing = { redact: false, allowSql: false, export: false, rateLimit: null, dailyBytes: null, expires: null };
    expect(present(ring, 'a')).toEqual({ name: 'plain', endpoints: '*', pins: new Map(), ...nothing });
    expect(present(ring, 'b')).toEqual({
      name: 'narrow',
      endpoints: ['logs.all'],
      pins: new Map([['project', 'abc']]),
      redact: true,
      allowSql: true,
      export: false,
      rateLimit: 0.5,
      dailyBytes: 9007199254740993n,
      expires: Date.UTC(2029, 11, 31, 23),
    });
    expect(ring.find('narrow')?.endpoints).toEqual(['logs.all']);
    expect(ring.find('other')).toBeNull();
    expect(accepts(ring, hash('a'))).toBe(false);
    expect(ring.startKey).toBeNull();
  });

  it('of API_KEY may do everything, beside those of the file', async () => {
    await writeKeys({ name: 'a', hash: hash('a') });
    const ring = await open({ apiKey: new Secret('all') });
    expect(present(ring, 'all')).toMatchObject({
      name: 'API_KEY',
      endpoints: '*',
      allowSql: true,
      redact: false,
      expires: null,
    });
    expect(present(ring, 'a').name).toBe('a');
  });

  it('expire to the millisecond', async () => {
    await writeKeys({ name: 'a', hash: hash('a'), expires: '2026-01-02' });
    let now = Date.UTC(2026, 0, 2) - 1;
    const ring = await open({ now: () => now });
    expect(accepts(ring, 'a')).toBe(true);
    now++;
    expect(refusal(() => present(ring, 'a'))).toBe('The key has expired.');
    expect(ring.find('a')).toBeNull();
  });

  it.each([
    ['no name', { hash: hash('x') }],
    ['no hash', { name: 'x' }],
    ['a short hash', { name: 'x', hash: 'abc' }],
    ['the key itself', { name: 'x', hash: hash('x'), key: 'x' }],
    ['a misspelt restriction', { name: 'x', hash: hash('x'), pin: { project: 'abc' } }],
    ['an empty list', { name: 'x', hash: hash('x'), endpoints: [] }],
    ['endpoints as a text', { name: 'x', hash: hash('x'), endpoints: 'logs.all' }],
    ['a pin that is no text', { name: 'x', hash: hash('x'), pins: { n: 5 } }],
    ['a pin of nothing', { name: 'x', hash: hash('x'), pins: { project: '' } }],
    ['a pin of sql', { name: 'x', hash: hash('x'), pins: { sql: 'select 1' } }],
    ['redact in words', { name: 'x', hash: hash('x'), redact: 'yes' }],
    ['a rate of nothing', { name: 'x', hash: hash('x'), rateLimit: 0 }],
    ['bytes as a number', { name: 'x', hash: hash('x'), dailyBytes: 1e12 }],
    ['an expiry that does not exist', { name: 'x', hash: hash('x'), expires: '2027-02-29' }],
    ['an expiry in words', { name: 'x', hash: hash('x'), expires: 'never' }],
    ['a name of a key outside', { name: 'API_KEY', hash: hash('x') }],
    ['a name used before', { name: 'good', hash: hash('x') }],
    ['no object', 'x'],
    ['null', null],
  ])('with %s are left out and logged, and the others stay', async (_what, entry) => {
    await writeKeys({ name: 'good', hash: hash('good') }, entry, { name: 'better', hash: hash('better') });
    const ring = await open();
    expect([accepts(ring, 'good'), accepts(ring, 'x'), accepts(ring, 'better')]).toEqual([true, false, true]);
    expect(logged).toEqual([expect.stringMatching(/^a key is left out: entry 2 /)]);
    expect(logged.join()).not.toContain(hash('x'));
  });

  it('are compared in a time that does not tell them apart', async () => {
    await writeKeys(...Array.from({ length: 200 }, (_, n) => ({ name: `k${String(n)}`, hash: hash(`k${String(n)}`) })));
    const ring = await open();
    const median = (secret: string) => {
      const times = Array.from({ length: 400 }, () => {
        const start = performance.now();
        refusal(() => present(ring, secret));
        return performance.now() - start;
      });
      return times.sort((a, b) => a - b)[200] ?? 0;
    };
    median('k0');
    // A search that stops at the first match would be many times faster for the first of 200 keys than for the last.
    expect(median('k0') / median('k199')).toBeGreaterThan(0.4);
  });
});

describe('the start', () => {
  it.each([
    ['no JSON', '{"keys":['],
    ['another shape', '[]'],
    ['an unknown member', '{"keys":[],"version":9}'],
    ['nothing', ''],
  ])('stops for a file of %s', async (_what, text) => {
    await writeFile(keysFile, text);
    const error: unknown = await open({ apiKey: new Secret('x') }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KeysFileError);
    expect((error as Error).message).toContain(keysFile);
  });

  it('stops for a folder in the place of the file, and for a file asked for by name that is missing', async () => {
    await expect(open({ keysFile: folder })).rejects.toThrow(/EISDIR/);
    await expect(open({ keysFileGiven: true, apiKey: new Secret('x') })).rejects.toThrow(/ENOENT/);
  });

  it('stops without any key where none may be keys', async () => {
    await expect(open()).rejects.toThrow(NoKeyError);
  });

  it('says that nobody can be let in', async () => {
    await writeKeys();
    await open();
    expect(logged).toEqual([expect.stringMatching(/^the keys file holds no usable key/)]);
  });

  it('makes a key once on the embedded engine, of mode 0600', async () => {
    const startKeyFile = path.join(folder, 'data', 'key');
    const first = await open({ startKeyFile });
    expect(first.startKey).toMatchObject({ file: startKeyFile, created: true });
    const secret = first.startKey?.secret ?? '';
    expect(secret).toMatch(/^lq_[A-Za-z0-9_-]{43}$/);
    expect(present(first, secret)).toMatchObject({ name: 'start-key', endpoints: '*', allowSql: true });
    expect((await stat(startKeyFile)).mode & 0o777).toBe(0o600);
    expect(await readFile(startKeyFile, 'utf8')).toBe(`${secret}\n`);

    await chmod(startKeyFile, 0o644);
    const second = await open({ startKeyFile });
    expect(second.startKey).toEqual({ file: startKeyFile, created: false, secret });
    expect((await stat(startKeyFile)).mode & 0o777).toBe(0o600);
    expect(logged.join()).not.toContain(secret);
  });

  it('makes none beside API_KEY or a keys file', async () => {
    const startKeyFile = path.join(folder, 'key');
    expect((await open({ startKeyFile, apiKey: new Secret('x') })).startKey).toBeNull();
    await writeKeys({ name: 'a', hash: hash('a') });
    expect((await open({ startKeyFile })).startKey).toBeNull();
    await expect(stat(startKeyFile)).rejects.toThrow(/ENOENT/);
  });

  it('takes the default file without a key in it, as revoking leaves it, for none', async () => {
    const startKeyFile = path.join(folder, 'key');
    await writeKeys();
    const ring = await open({ startKeyFile });
    expect(present(ring, ring.startKey?.secret ?? '')).toMatchObject({ name: 'start-key' });
    expect(logged).toEqual([]);
    await rm(startKeyFile);
    expect((await open({ startKeyFile, keysFileGiven: true })).startKey).toBeNull();
    // A faulty entry is somebody's key, misspelt.
    await writeKeys({ name: 'a' });
    expect((await open({ startKeyFile })).startKey).toBeNull();
  });

  it('keeps the start key beside other keys until it is revoked, and says so', async () => {
    const startKeyFile = path.join(folder, 'key');
    const { secret } = await ensureStartKey(startKeyFile);
    await writeKeys({ name: 'a', hash: hash('a') });
    const ring = await open({ startKeyFile, apiKey: new Secret('all') });
    expect(ring.startKey).toEqual({ secret, created: false, file: startKeyFile });
    for (const key of [secret, 'a', 'all']) expect(accepts(ring, key)).toBe(true);
    expect(logged.join()).toContain('the start key is valid beside the others');
    expect(await revokeStartKey(startKeyFile)).toBe(true);
    await until(() => !accepts(ring, secret));
    for (const key of ['a', 'all']) expect(accepts(ring, key)).toBe(true);
    expect(logged.join()).toContain('the start key was revoked');
    expect(logged.join()).not.toContain(secret);
    expect(await revokeStartKey(startKeyFile)).toBe(false);
  });

  it('makes one key for all that start at once', async () => {
    const startKeyFile = path.join(folder, 'key');
    const keys = await Promise.all(Array.from({ length: 20 }, () => ensureStartKey(startKeyFile)));
    expect(new Set(keys.map(({ secret }) => secret)).size).toBe(1);
    expect(keys.filter(({ created }) => created)).toHaveLength(1);
  });

  it('does not take half a key for one', async () => {
    const startKeyFile = path.join(folder, 'key');
    await writeFile(startKeyFile, '');
    await expect(open({ startKeyFile })).rejects.toThrow(/holds no key: remove it/);
  });
});

describe('while running', () => {
  it('keys come and go with the file', async () => {
    const ring = await open({ apiKey: new Secret('all') });
    await writeKeys({ name: 'a', hash: hash('a') });
    await until(() => accepts(ring, 'a'));
    await writeKeys({ name: 'b', hash: hash('b') });
    await until(() => accepts(ring, 'b'));
    expect(accepts(ring, 'a')).toBe(false);
    await writeKeys();
    await until(() => !accepts(ring, 'b'));
    expect(accepts(ring, 'all')).toBe(true);
  });

  it('a file that cannot be read leaves the keys as they were, logged once', async () => {
    await writeKeys({ name: 'a', hash: hash('a') });
    const ring = await open();
    await writeFile(keysFile, '{"keys": [');
    await until(() => logged.length > 0);
    await later(150);
    expect(logged).toEqual([expect.stringContaining('the keys stay as they were')]);
    expect(accepts(ring, 'a')).toBe(true);
    await unlink(keysFile);
    await until(() => logged.length > 1);
    expect(accepts(ring, 'a')).toBe(true);
    await writeFile(`${keysFile}.new`, JSON.stringify({ keys: [{ name: 'c', hash: hash('c') }] }));
    await rename(`${keysFile}.new`, keysFile);
    await until(() => accepts(ring, 'c'));
    expect(accepts(ring, 'a')).toBe(false);
  });

  it('reports a file that cannot be read until it can be again, and entries that do not count', async () => {
    const reported: (string | null)[] = [];
    const report: KeyRingOptions['report'] = (component, fault) => {
      expect(component).toBe('keys_file');
      if (fault !== reported.at(-1)) reported.push(fault);
    };
    await writeKeys({ name: 'a', hash: hash('a') });
    const ring = await open({ report });
    expect(reported).toEqual([null]);
    await rename(keysFile, `${keysFile}.away`);
    await until(() => reported.length === 2);
    expect(reported[1]).toMatch(/ENOENT; the keys stay as they were: what was revoked since still works/);
    expect(accepts(ring, 'a')).toBe(true);
    // The same file again: nothing has to be taken up.
    await rename(`${keysFile}.away`, keysFile);
    await until(() => reported.length === 3);
    await writeKeys({ name: 'a', hash: hash('a') }, { name: 'b', hash: 'broken' });
    await until(() => reported.length === 4);
    expect(reported[3]).toMatch(/^Keys are left out: entry 2 \(b\)/);
    await writeFile(keysFile, '{');
    await until(() => reported.length === 5);
    await writeKeys({ name: 'a', hash: hash('a') });
    await until(() => reported.length === 6);
    expect([reported[2], reported[5]]).toEqual([null, null]);
    expect(reported.join()).not.toContain(hash('a'));
  });
});

it('keeps keys that send logs from reading, and keys that read from sending', async () => {
  await writeKeys({ name: 'shipper', hash: hash('s'), ingest: true }, { name: 'reader', hash: hash('r') });
  const ring = await open();
  const sent = (secret: string) => headers({ 'x-api-key': [secret] });
  expect(() => ring.authenticate(sent('s'))).toThrow('This key may send logs, and nothing else.');
  expect(() => ring.authenticateIngest(sent('r'))).toThrow('This key may not send logs.');
  expect([ring.authenticate(sent('r')).name, ring.authenticateIngest(sent('s')).name]).toEqual(['reader', 'shipper']);
  expect(ring.find('shipper')).toBeNull();
});
