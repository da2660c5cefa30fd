/** Bundles the explorer into dist/explorer: hashed names, and each file also as brotli and gzip. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

import { build } from 'esbuild';

const SOURCES = path.join(path.dirname(fileURLToPath(import.meta.url)), 'src');
const TARGET = path.join(SOURCES, '../../../dist/explorer');

const { outputFiles } = await build({
  absWorkingDir: SOURCES,
  entryPoints: { explorer: 'main.tsx', style: 'style.css', worker: 'analyser/worker.ts' },
  outdir: TARGET,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  // Packages by their sources.
  conditions: ['logquay'],
  splitting: true,
  minify: process.env.MINIFY !== '0',
  format: 'esm',
  target: ['chrome123', 'firefox128', 'safari17.5'],
  legalComments: 'none',
  write: false,
});

const files = new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)]));
const nameOf = (start, end) => [...files.keys()].find((name) => name.startsWith(start) && name.endsWith(end));
const page = readFileSync(path.join(SOURCES, 'index.html'), 'utf8')
  .replace('%STYLE%', nameOf('style-', '.css'))
  .replace('%SCRIPT%', nameOf('explorer-', '.js'))
  .replace('%WORKER%', nameOf('worker-', '.js'));
files.set('index.html', Buffer.from(page));

mkdirSync(TARGET, { recursive: true });
const written = new Set();
for (const [name, bytes] of files) {
  for (const suffix of ['', '.gz', '.br']) written.add(name + suffix);
  await write(name, bytes);
}
for (const name of readdirSync(TARGET)) {
  if (!written.has(name)) rmSync(path.join(TARGET, name), { recursive: true });
}

/** What is there already with the same bytes was compressed by an earlier build. */
async function write(name, bytes) {
  const file = path.join(TARGET, name);
  const same = existsSync(file) && hashOf(readFileSync(file)) === hashOf(bytes);
  if (same && existsSync(`${file}.gz`) && existsSync(`${file}.br`)) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, { params }));
  writeFileSync(file, bytes);
}

function hashOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
