/** Which files a table's rows come from, where a look at the folder finds what is hard to bring about with real files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import {
  ChangedContent,
  ContentDigest,
  DIGEST_BLOCK,
  resumeDigest,
  type Progress,
  START,
} from '../../src/follow/content';
import { type FoundFile, readSourceName } from '../../src/follow/folder-scan';
import { SourcesOfTable } from '../../src/follow/sources-of-table';
import { cpuTimeOf } from '../../../../test/cpu-time';
import { LONG } from '../../../../test/scale';

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'logquay-sources-'))));
afterEach(() => rm(folder, { recursive: true }));

/** Writes a file. @param identity as a look at the folder finds it */
async function found(path: string, identity: string, content: string | Buffer): Promise<FoundFile> {
  await writeFile(join(folder, path), content);
  const name = readSourceName(path, () => false);
  if (typeof name === 'string') throw new Error(name);
  return {
    ...name,
    path,
    identity,
    size: Buffer.byteLength(content),
    modified: BigInt(++time),
    lookedAt: performance.now(),
  };
}
let time = 0;

/** What has been read when all of a content has. */
function read(content: string): Progress {
  const digest = new ContentDigest();
  digest.update(Buffer.from(content));
  return { position: { ...START, offset: Buffer.byteLength(content) }, digest: digest.state() };
}

const sources = (): SourcesOfTable => new SourcesOfTable('x', folder, { sources: new Map(), next: 1 });
const reconcile = (of: SourcesOfTable, ...files: readonly FoundFile[]) => of.reconcile(files, () => true);
const paths = (of: SourcesOfTable): Record<number, string> =>
  Object.fromEntries(of.all.map(({ id, file }) => [id, file.path]));

it.each([
  'x-2026-09-17T08-48-00.932.log',
  'x-2026-09-17T08-48-00.932.log.gz',
  'x-2026-09-17T08-48-00.932-size.log.zst',
  'x__2026-09-29_00-00-00.log',
  'x-2026092910.log',
  'x_20260929.log',
  'x-1790766000.log',
  'x-1790766000123.log',
  'x-20260929-3.log',
  'x-2026-09-29.log',
])('%s is a rotated file of table x', (name) => {
  expect(readSourceName(name, () => false)).toMatchObject({ table: 'x', family: 'x.log', rotated: true });
});

it.each(['x_2.log', 'x-7.log', 'x_12345678.log', 'x__y.log', 'x-v20260929.log'])('%s is no rotated file', (name) => {
  expect(readSourceName(name, () => false)).toMatchObject({ table: name.slice(0, -4), rotated: false });
});

it.each(['', 'what comes next\n', 'what comes next, which is longer than that\n'])(
  'A copy is read where its original was truncated before anything was read of it, and has %j since',
  async (next) => {
    const of = sources();
    const content = 'before the truncation\n';
    const copy = await found('x.ndjson.1', 'inode 2', content);
    await reconcile(of, await found('x.ndjson', 'inode 1', content), copy);
    expect(paths(of)).toEqual({ 1: 'x.ndjson' });
    const now = await found('x.ndjson', 'inode 1', next);
    // How long a comparison counts goes by how long it took.
    while (of.all.length < 2) await reconcile(of, now, copy);
    expect(paths(of)).toEqual({ 1: 'x.ndjson', 2: 'x.ndjson.1' });
  },
);

it('An inode that another family has had hides no rotation', async () => {
  const of = sources();
  const before = 'before rotation\n';
  const other = await found('y.ndjson.3', 'inode 2', 'of another family\n');
  await reconcile(of, await found('x.ndjson', 'inode 1', before), other);
  for (const source of of.all) source.read = read(source.file.path === 'x.ndjson' ? before : 'of another family\n');
  // x.ndjson was compressed into what has been y.ndjson.3, removed, and written anew as the same inode, longer than before.
  const { gone } = await reconcile(
    of,
    await found('x.ndjson', 'inode 1', 'after rotation there is more\n'),
    await found('x.ndjson.1.gz', 'inode 2', gzipSync(before)),
  );
  expect(paths(of)).toEqual({ 1: 'x.ndjson.1.gz', 3: 'x.ndjson' });
  expect(gone.map(({ id }) => id)).toEqual([2]);
});

it('An archive that could not be read at first may turn out to be a copy', async () => {
  const of = sources();
  const content = 'one row\n';
  const archive = await found('x.ndjson.1.gz', 'inode 1', gzipSync(content));
  await reconcile(of, archive);
  // As whoever compresses a file gives it to others when it is whole.
  of.find(1)!.fault = 'cannot be read (EACCES)';
  const { gone } = await reconcile(of, await found('x.ndjson.1', 'inode 2', content), archive);
  expect(paths(of)).toEqual({ 2: 'x.ndjson.1' });
  expect(gone).toEqual([]);
});

it('A file of which nothing can be read remains the same source', async () => {
  const of = sources();
  await reconcile(of, await found('x.ndjson.1.gz', 'inode 1', 'a'));
  const { gone, moved } = await reconcile(of, await found('x.ndjson.1.gz', 'inode 1', 'ab'));
  expect([paths(of), gone, moved]).toEqual([{ 1: 'x.ndjson.1.gz' }, [], false]);
});

it('A file is recognised by its last block, also where that is whole', async () => {
  const content = 'x'.repeat(2 * DIGEST_BLOCK);
  await found('x.ndjson', 'inode 1', content);
  const at = { path: join(folder, 'x.ndjson'), compression: 'none', from: read(content) } as const;
  const digest = await resumeDigest(at);
  digest.update(Buffer.from('more'));
  const all = new ContentDigest();
  all.update(Buffer.from(`${content}more`));
  expect(digest.state()).toEqual(all.state());
  await found('x.ndjson', 'inode 1', 'y'.repeat(content.length));
  await expect(resumeDigest(at)).rejects.toThrow(ChangedContent);
});

it('Many archives beside many files are distinguished without comparing each with each', async () => {
  const of = sources();
  const content = (n: number): string => `{"id":"row-${String(n)}"}\n`.repeat(40_000);
  const MANY = LONG ? 150 : 20;
  const plain: FoundFile[] = [];
  const archives: FoundFile[] = [];
  for (let n = 0; n < MANY; n++) {
    plain.push(await found(`x.ndjson.${String(n)}`, `plain ${String(n)}`, content(n)));
    archives.push(await found(`x.ndjson.${String(MANY + n)}.gz`, `old ${String(n)}`, gzipSync(content(MANY + n))));
  }
  // At 150, 22,500 pairs with 800 kB each.
  expect(await cpuTimeOf(() => reconcile(of, ...plain, ...archives))).toBeLessThan(5_000);
  expect(of.all).toHaveLength(2 * MANY);
  for (const { file, id } of of.all) {
    const [, n = ''] = /(\d+)(?:\.gz)?$/.exec(file.path) ?? [];
    of.find(id)!.read = read(content(Number(n)));
  }
  const before = paths(of);
  // All are compressed at once, as a nightly job does.
  const compressed: FoundFile[] = [];
  for (let n = 0; n < MANY; n++) {
    await rm(join(folder, `x.ndjson.${String(n)}`));
    compressed.push(await found(`x.ndjson.${String(n)}.gz`, `packed ${String(n)}`, gzipSync(content(n))));
  }
  expect(
    await cpuTimeOf(async () => {
      expect((await reconcile(of, ...archives, ...compressed)).gone).toEqual([]);
    }),
  ).toBeLessThan(15_000);
  expect(paths(of)).toEqual(
    Object.fromEntries(Object.entries(before).map(([id, path]) => [id, path.endsWith('.gz') ? path : `${path}.gz`])),
  );
}, 120_000);
