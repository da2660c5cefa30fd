/** The explorer's page and files over HTTP, from a folder as the build leaves it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import request, { type Response, type Test } from 'supertest';

import { Explorer, readExplorerFiles } from '../../src/http/explorer';
import { serve, type Served } from './served';

const SCRIPT = `export const answer = 42;\n${'// a long comment\n'.repeat(30)}`;
const FILES = new Map([
  ['index.html', '<!doctype html><title>Explorer</title>'],
  ['explorer-ABC.js', SCRIPT],
  ['style-DEF.css', 'body { margin: 0; }'],
]);

let folder: string;
const served: Served[] = [];
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'logquay-explorer-'));
  for (const [name, text] of FILES) {
    writeFileSync(path.join(folder, name), text);
    writeFileSync(path.join(folder, `${name}.gz`), gzipSync(text));
    writeFileSync(path.join(folder, `${name}.br`), brotliCompressSync(text));
  }
  writeFileSync(path.join(folder, 'notes.txt'), 'no file of the page');
});
afterEach(async () => {
  for (const one of served.splice(0)) await one.close();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function start(access: 'open' | 'key', docs: 'open' | 'off' = 'open'): Promise<Served> {
  const files = readExplorerFiles(folder);
  if (files === null) throw new Error('There is no page.');
  const one = await serve({ explorer: new Explorer(access, files), docs });
  served.push(one);
  return one;
}

const HTML = { Accept: 'text/html,application/xhtml+xml;q=0.9' };

it('answers the page with its policy, and the files that it names for ever', async () => {
  const { server } = await start('open');
  const page = await request(server).get('/explore').set(HTML).expect(200);
  expect(page.text).toBe(FILES.get('index.html'));
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['cache-control']).toBe('private, no-cache');
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe/);
  const script = await request(server).get('/explore/explorer-ABC.js').expect(200);
  expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

it.each(['notes.txt', 'index.html', 'explorer-ABC.js.br', '..%2Findex.html', '__proto__', 'explorer-ABC'])(
  'has no file %s',
  async (name) => {
    const { server } = await start('open');
    const { body } = await request(server).get(`/explore/${name}`).expect(404);
    expect(body).toMatchObject({ error: { errors: [{ reason: 'notFound' }] } });
  },
);

describe.each(['/explore', '/explore/explorer-ABC.js'])('a 304 of %s', (at) => {
  it.each([{}, { 'Accept-Encoding': 'br' }])('has the headers of the 200, with %j', async (more) => {
    const { server } = await start('open');
    const ask = (): Test =>
      request(server)
        .get(at)
        .set({ ...HTML, ...more });
    const full = await ask().expect(200);
    const unchanged = await ask().set('If-None-Match', String(full.headers.etag)).expect(304);
    expect(lasting(unchanged)).toEqual(lasting(full));
  });
});

/** Headers but those of one answer alone, or of the body that a 304 does not have. */
function lasting({ headers }: Response): Record<string, unknown> {
  const own = /^(?:date|x-request-id|server-timing|content-(?:type|length|encoding)|transfer-encoding)$/;
  return Object.fromEntries(Object.entries(headers as object).filter(([name]) => !own.test(name)));
}

it('with EXPLORER=key answers browsers that open it and keys, and no other', async () => {
  const { server } = await start('key');
  await request(server).get('/explore').set(HTML).expect(200);
  await request(server).get('/explore').set('X-API-KEY', 'all').expect(200);
  await request(server).get('/explore').expect(401);
  await request(server)
    .get('/explore')
    .set({ ...HTML, 'X-API-KEY': 'unknown' })
    .expect(401);
});

describe('/', () => {
  it('leads to the explorer, also where there are no docs', async () => {
    for (const docs of ['open', 'off'] as const) {
      const { server } = await start('open', docs);
      const { headers } = await request(server).get('/').expect(307);
      expect(headers.location).toBe('explore');
    }
  });

  it('leads to the docs where there is no explorer, else nowhere', async () => {
    const documented = await serve({ docs: 'open' });
    served.push(documented);
    const { headers } = await request(documented.server).get('/').expect(307);
    expect(headers.location).toBe('docs');
    await request(documented.server).get('/explore').expect(404);
    const bare = await serve({ docs: 'off' });
    served.push(bare);
    await request(bare.server).get('/').expect(404);
  });
});

it('is nothing where it was not built', () => {
  expect(readExplorerFiles(path.join(folder, 'missing'))).toBeNull();
});
