import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');

it.each(['duckdb-engine', 'collector'])('the example of packages/%s prints what its page says', (name) => {
  const page = readFileSync(path.join(ROOT, 'packages', name, 'README.md'), 'utf8');
  const [, code = '', output] = /```js\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```/s.exec(page) ?? [];
  const folder = mkdtempSync(path.join(tmpdir(), 'logquay-example-'));
  try {
    symlinkSync(path.join(ROOT, 'dist/node_modules'), path.join(folder, 'node_modules'));
    writeFileSync(path.join(folder, 'example.mjs'), code);
    expect(execFileSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' })).toBe(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
