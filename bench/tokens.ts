/** What it costs to know who calls: a token that was seen before, beside a key. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hashOf, type HeaderValues } from '../src/keys/key';
import { openKeyRing } from '../src/keys/key-ring';
import { compare, report, verdict } from './measure';

const CALLS = 2_000;
const ROUNDS = 20;
const SECRET = 'a secret of at least thirty-two bytes';
const KEY = 'a-key-that-guards-nothing';
/** Milliseconds for one request. */
const GOAL = 0.2;
/** Times a key. */
const RATIO = 10;

export async function tokens(print: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const issuer = {
    name: 'app',
    tokens: { issuer: 'app', audience: 'logquay', secretFile: 'secret' },
    endpoints: ['logs.all'],
    pins: { project: { claim: 'org' } },
  };
  const keysFile = join(folder, 'keys.json');
  writeFileSync(join(folder, 'secret'), SECRET);
  const key = { name: 'key', hash: hashOf(KEY).toString('hex') };
  writeFileSync(keysFile, JSON.stringify({ keys: [key, issuer] }));
  const { SignJWT } = await import('jose');
  const token = await new SignJWT({ org: 'abc' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('app')
    .setAudience('logquay')
    .setSubject('u1')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(Buffer.from(SECRET));
  const log = { info: () => undefined, warn: () => undefined };
  const ring = await openKeyRing({ apiKey: null, keysFile, keysFileGiven: true, startKeyFile: null, log });
  const presented =
    (credential: string): HeaderValues =>
    (name) =>
      name === 'x-api-key' ? [credential] : [];
  const calls = (header: HeaderValues) => async (): Promise<void> => {
    for (let i = 0; i < CALLS; i++) {
      const admitted = ring.admit(header);
      if (admitted !== null) await admitted;
      ring.authenticate(header);
    }
  };
  try {
    const name = `${String(CALLS)} requests of a token, beside those of a key`;
    const compared = await compare(name, calls(presented(token)), calls(presented(KEY)), ROUNDS);
    const each = compared.ours / CALLS;
    print(`  ${report(compared, RATIO)}`);
    print(
      `  a token that was seen before: ${(each * 1000).toFixed(1)} µs ${verdict(each <= GOAL, `${String(GOAL)} ms`)}`,
    );
  } finally {
    ring.close();
    rmSync(folder, { recursive: true });
  }
}
