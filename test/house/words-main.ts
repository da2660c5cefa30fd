/** `node -r @swc-node/register`-free: see words-start.js. Prints what is found below the paths given, or a count for each folder. */
import { execFileSync } from 'node:child_process';
import { findingsIn } from './words';

const paths = process.argv.slice(2);
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...paths], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|js|mjs|md)$/.test(file) && !/^test\/(cases|fixture)\/|CHANGELOG|house\/words/.test(file));
const all = files.flatMap((file) => {
  try {
    return findingsIn(file);
  } catch {
    return [];
  }
});
if (paths.length > 0) for (const f of all) process.stdout.write(`${f.file}:${f.line} ${f.kind}: ${f.found}\n`);
const by = new Map<string, number>();
for (const { file, kind } of all) {
  const k = `${file
    .split('/')
    .slice(0, 3)
    .join('/')
    .replace(/\/[^/]*\.\w+$/, '')} ${kind}`;
  by.set(k, (by.get(k) ?? 0) + 1);
}
for (const [k, n] of [...by].sort()) process.stdout.write(`${String(n)} ${k}\n`);
process.stdout.write(`${String(all.length)}\n`);
