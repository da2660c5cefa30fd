/** The package as `npm pack` makes it, installed in an empty folder: what somebody has who installs it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PACKAGE = path.join(__dirname, '..');
const MODULES = path.join(PACKAGE, '../../node_modules');

/** The example of the page, and what it says that it prints. */
export const { example, printed } = readExample();

function readExample(): { readonly example: string; readonly printed: string } {
  const page = readFileSync(path.join(PACKAGE, 'README.md'), 'utf8');
  const [, code, output] = /```js\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```/s.exec(page) ?? [];
  if (code === undefined || output === undefined) throw new Error('README.md has no example with its output.');
  return { example: code, printed: output };
}

/** Installs it with what it needs; no registry is asked. @returns the folder, with the example in `example.mjs` */
export function installPacked(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'logquay-packed-'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: PACKAGE });
  const { name, version, dependencies } = JSON.parse(readFileSync(path.join(PACKAGE, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const target = path.join(folder, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  const archive = path.join(folder, `${name.slice(1).replace('/', '-')}-${version}.tgz`);
  execFileSync('tar', ['-xzf', archive, '--strip-components=1', '-C', target]);
  for (const one of Object.keys(dependencies))
    cpSync(path.join(MODULES, one), path.join(folder, 'node_modules', one), { recursive: true });
  writeFileSync(path.join(folder, 'example.mjs'), example);
  return folder;
}

export function removePacked(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
