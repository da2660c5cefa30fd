import { createHash } from 'node:crypto';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { readKeysFile } from '../../src/keys/keys-file';
import { type Ended, leaveFolder, logquay, ownFolder } from '../cli/command-line';

let folder = '';
let file = '';
const NOW = Date.UTC(2026, 8, 30, 12);

beforeEach(async () => {
  folder = await ownFolder();
  file = path.join(folder, 'data', 'keys.json');
});
afterEach(() => leaveFolder(folder));

function attempt(...args: string[]): Promise<Ended> {
  return logquay(['keys', ...args], { KEYS_FILE: file }, NOW);
}

async function run(...args: string[]): Promise<Ended> {
  const ended = await attempt(...args);
  expect([ended.code, ended.notes.filter((note) => note.startsWith('error:'))]).toEqual([0, []]);
  return ended;
}

const hash = (secret: string) => createHash('sha256').update(secret).digest('hex');

describe('create', () => {
  it('prints the key once and keeps its hash', async () => {
    const { out, notes } = await run('create', '--name', 'grafana');
    expect(out).toEqual([expect.stringMatching(/^lq_[A-Za-z0-9_-]{43}$/)]);
    const text = await readFile(file, 'utf8');
    expect(text).toContain(hash(out[0] ?? ''));
    expect(text + notes.join()).not.toContain(out[0]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(path.dirname(file))).toEqual(['keys.json']);
    const { entries, faults } = await readKeysFile(file);
    expect(faults).toEqual([]);
    expect(entries.map(({ key }) => key)).toEqual([
      {
        name: 'grafana',
        endpoints: '*',
        pins: new Map(),
        redact: false,
        allowSql: false,
        export: false,
        rateLimit: null,
        dailyBytes: null,
        expires: null,
      },
    ]);
  });

  it('takes a key that clients have by its hash, and one that only sends logs', async () => {
    const token = 'token-that-clients-have-already';
    const { out } = await run('create', '--name', 'studio', '--sha256', hash(token).toUpperCase());
    expect(out).toEqual([]);
    await run('create', '--name', 'vector', '--ingest', '--sha256', hash('another'));
    const { entries } = await readKeysFile(file);
    expect(entries.map(({ key, hash: stored, ingest }) => [key.name, stored.toString('hex'), ingest])).toEqual([
      ['studio', hash(token), false],
      ['vector', hash('another'), true],
    ]);
    for (const options of [
      ['--sha256', token],
      ['--ingest', '--pin', 'project=abc'],
      ['--ingest', '--redact'],
      ['--project', 'abc'],
      ['--ingest', '--project', ''],
      ['--ingest', '--project', 'abc', '--issuer', 'https://auth.example.com'],
    ]) {
      const { code } = await attempt('create', '--name', 'none', ...options);
      expect([options, code]).toEqual([options, 2]);
    }
    expect((await attempt('create', '--name', 'twice', '--sha256', hash(token))).code).toBe(1);
    await run('create', '--name', 'shipper', '--ingest', '--project', 'abc');
    expect((await readKeysFile(file)).entries[2]?.key.project).toBe('abc');
    expect((await run('list')).out.join('\n')).toMatch(/^vector +- +ingest$\n^shipper +- +ingest, project abc$/m);
  });

  it('takes every option', async () => {
    const { notes } = await run(
      'create',
      '--name',
      'tenant-1',
      '--endpoints',
      'logs.all, usage.api-counts',
      '--pin',
      'project=a=b',
      '--pin',
      'interval=1hr',
      '--pin',
      'interval=1day',
      '--redact',
      '--allow-sql',
      '--rate-limit',
      '2.5',
      '--daily-bytes',
      '9223372036854775807',
      '--expires',
      '90d',
    );
    const [entry] = (await readKeysFile(file)).entries;
    expect(entry?.key).toEqual({
      name: 'tenant-1',
      endpoints: ['logs.all', 'usage.api-counts'],
      pins: new Map<string, string | string[]>([
        ['project', 'a=b'],
        // A list.
        ['interval', ['1hr', '1day']],
      ]),
      redact: true,
      allowSql: true,
      export: false,
      rateLimit: 2.5,
      dailyBytes: 9223372036854775807n,
      expires: NOW + 90 * 86_400_000,
    });
    expect(notes.join('\n')).toContain('fences by a text match only');
    expect((await run('list')).out.join()).toContain('pin interval=["1hr","1day"]');
    expect((await run('create', '--name', 'free')).notes.join('\n')).not.toContain('text match');
  });

  it('says what redaction promises', async () => {
    const notes = async (...more: string[]) =>
      (await run('create', '--name', `k${more.length}`, ...more)).notes.join('\n');
    expect(await notes()).not.toContain('hides');
    expect(await notes('--redact')).toMatch(/does not keep anybody from searching[^]*may not send sql, lql or a regex/);
    expect(await notes('--redact', '--allow-sql')).toContain(
      'with --allow-sql this key can test in sql, lql and regex',
    );
  });

  it.each([
    ['2027-01-01', Date.UTC(2027, 0, 1)],
    ['2027-01-01T10:00:00+02:00', Date.UTC(2027, 0, 1, 8)],
    ['12h', NOW + 43_200_000],
    ['30m', NOW + 1_800_000],
    ['4w', NOW + 2_419_200_000],
  ])('expires %s', async (when, expected) => {
    await run('create', '--name', 'a', '--expires', when);
    expect((await readKeysFile(file)).entries[0]?.key.expires).toBe(expected);
  });

  it.each([
    [['create'], /--name <name>/],
    [['create', '--name', ''], /name/],
    [['create', '--name', 'a b'], /name must be/],
    [['create', '--name', 'API_KEY'], /names of keys outside/],
    [['create', 'a'], /--name <name>/],
    [['create', '--name', 'a', 'b'], /too many arguments/],
    [['create', '--name', 'a', '--nonsense'], /--nonsense/],
    [['create', '--name', 'a', '--endpoints', ''], /endpoints/],
    [['create', '--name', 'a', '--endpoints', 'a,,b'], /endpoints/],
    [['create', '--name', 'a', '--pin', 'project'], /PARAMETER=VALUE/],
    [['create', '--name', 'a', '--pin', '=x'], /PARAMETER=VALUE/],
    [['create', '--name', 'a', '--pin', 'project='], /must not be empty/],
    [['create', '--name', 'a', '--pin', 'p=1', '--pin', 'p='], /must not be empty/],
    [['create', '--name', 'a', '--pin', 'sql=select 1'], /reserved/],
    [['create', '--name', 'a', '--pin', '__proto__=x'], /__proto__ cannot be pinned/],
    [['create', '--name', 'a', '--pin', 'Dry_Run=x'], /reserved parameter cannot be pinned/],
    [
      ['create', '--name', 'a', '--endpoints', 'nope.nope'],
      /--endpoints: there is no endpoint nope\.nope in queries\. There are /,
    ],
    [['create', '--name', 'a', '--endpoints', 'logs.all,usage.api-count'], /Did you mean usage\.api-counts\?/],
    [
      ['create', '--name', 'a', '--pin', 'prject=x'],
      /--pin: no endpoint .* a parameter prject, .* Did you mean project\?/,
    ],
    [
      ['create', '--name', 'a', '--pin', 'interval=1hr', '--endpoints', 'logs.all'],
      /a parameter interval, .* There are iso_/,
    ],
    [['create', '--name', 'a', '--rate-limit', '0x10'], /--rate-limit takes/],
    [['create', '--name', 'a', '--rate-limit', '0'], /--rate-limit takes a number of requests per second/],
    [['create', '--name', 'a', '--rate-limit', 'fast'], /--rate-limit takes a number of requests per second/],
    [['create', '--name', 'a', '--rate-limit', ''], /--rate-limit takes a number of requests per second/],
    [['create', '--name', 'a', '--daily-bytes', '1e9'], /--daily-bytes takes a whole number of bytes/],
    [['create', '--name', 'a', '--daily-bytes', '9223372036854775808'], /--daily-bytes takes a whole number of bytes/],
    [['create', '--name', 'a', '--expires', 'soon'], /--expires takes/],
    [['create', '--name', 'a', '--expires', '2026-02-29'], /--expires takes/],
    [['create', '--name', 'a', '--expires', '2026-09-30T12:00:00Z'], /in the past/],
    [['list', 'x'], /too many arguments/],
    [['revoke'], /missing required argument 'name'/],
    [['revoke', 'a', 'b'], /too many arguments/],
    [['remove', 'a'], /unknown command 'remove'/],
    [[], /Usage/],
  ])('%j is refused as a usage and writes nothing', async (args, message) => {
    const { code, out, notes } = await attempt(...args);
    expect([code, out]).toEqual([2, []]);
    expect(notes.join('\n')).toMatch(message);
    await expect(stat(file)).rejects.toThrow(/ENOENT/);
  });

  it('fails to revoke what is not there, and writes nothing', async () => {
    const { code, notes } = await attempt('revoke', 'a');
    expect([code, notes]).toEqual([1, [`There is no key named a in ${file}.`]]);
    await expect(stat(file)).rejects.toThrow(/ENOENT/);
  });

  it('refuses a name that is taken', async () => {
    await run('create', '--name', 'a');
    const before = await readFile(file, 'utf8');
    const { code, notes } = await attempt('create', '--name', 'a');
    expect([code, notes]).toEqual([1, [expect.stringMatching(/^There is a key named a already/)]]);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('loses no key when many are made at once', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, n) => run('create', '--name', `k${String(n)}`)));
    expect((await readKeysFile(file)).entries).toHaveLength(12);
  });

  it('does not wait for a command that has ended', async () => {
    await run('create', '--name', 'a');
    await writeFile(`${file}.lock`, '999999999\n');
    await run('create', '--name', 'b');
    expect((await readKeysFile(file)).entries).toHaveLength(2);
  });

  it('leaves a file alone that it cannot read', async () => {
    await run('create', '--name', 'a');
    await writeFile(file, '{"keys":');
    const { code, notes } = await attempt('create', '--name', 'b');
    expect([code, notes]).toEqual([1, [expect.stringMatching(/cannot be read: it is no JSON$/)]]);
    expect(await readFile(file, 'utf8')).toBe('{"keys":');
    expect(await readdir(path.dirname(file))).toEqual(['keys.json']);
  });

  it('writes behind a link', async () => {
    await run('create', '--name', 'a');
    const real = file;
    file = path.join(folder, 'link.json');
    await symlink(real, file);
    await run('create', '--name', 'b');
    expect((await readKeysFile(real)).entries).toHaveLength(2);
  });
});

describe('list and revoke', () => {
  it('shows what a key may do and takes it away', async () => {
    expect(await run('list')).toEqual({ code: 0, out: [], notes: [`There are no keys in ${file}.`] });
    const {
      out: [secret = ''],
    } = await run(
      'create',
      '--name',
      'a',
      '--endpoints',
      'logs.all',
      '--pin',
      'project=abc',
      '--redact',
      '--expires',
      '1h',
    );
    await run('create', '--name', 'longer', '--rate-limit', '5', '--daily-bytes', '1000');
    const { out } = await run('list');
    expect(out).toEqual([
      'a       logs.all  pin project=abc, redact, expires 2026-09-30T13:00:00.000Z',
      'longer  *         5 requests/s, 1000 bytes/day',
    ]);
    expect(out.join()).not.toContain(hash(secret));

    await run('revoke', 'a');
    expect((await readKeysFile(file)).entries.map(({ key }) => key.name)).toEqual(['longer']);
  });

  it('shows faulty and expired keys, and keeps what it does not understand', async () => {
    await run('create', '--name', 'a');
    const written = JSON.parse(await readFile(file, 'utf8')) as { keys: object[] };
    const odd = [{ name: 'odd', pin: 1 }, { name: 'old', hash: hash('x'), expires: '2020-01-01' }, 7];
    await writeFile(file, JSON.stringify({ keys: [...written.keys, ...odd] }));
    const { out } = await run('list');
    expect(out[1]).toMatch(/^odd +FAULTY, left out: /);
    expect(out[2]).toMatch(/^old +\* +EXPIRED 2020-01-01T00:00:00.000Z$/);
    expect(out[3]).toMatch(/^\(no name\) +FAULTY/);
    await run('revoke', 'a');
    expect((JSON.parse(await readFile(file, 'utf8')) as { keys: unknown }).keys).toEqual(odd);
    await run('revoke', 'odd');
    expect((JSON.parse(await readFile(file, 'utf8')) as { keys: unknown }).keys).toEqual(odd.slice(1));
  });
});
