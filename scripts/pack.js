/**
 * Makes `logquay-VERSION.tgz` of a build, for `npm install --global ./logquay-VERSION.tgz`: dist/ with the packages of the
 * repository bundled, and the dependencies of all of them. The version that stands in package.json.
 */
const { execFileSync } = require('node:child_process');
const { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const OWN = ['googlesql', 'duckdb-engine', 'collector'];

/** @param {string} folder @returns {{ dependencies: Record<string, string> } & Record<string, unknown>} */
const manifestIn = (folder) => JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));

/** The manifest of the service without what only a checkout needs. */
function manifest() {
  const { name, version, description, license, engines, dependencies } = manifestIn('.');
  const all = { ...dependencies };
  for (const one of OWN) Object.assign(all, manifestIn(`packages/${one}`).dependencies);
  return {
    ...{ name, version, description, license, engines },
    bin: { logquay: 'dist/cli.js' },
    dependencies: Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))),
    bundleDependencies: OWN.map((one) => `@logquay/${one}`),
  };
}

const folder = mkdtempSync(path.join(tmpdir(), 'logquay-pack-'));
try {
  const isMap = (/** @type {string} */ file) => file.endsWith('.map');
  const own = path.join(ROOT, 'dist/node_modules');
  cpSync(path.join(ROOT, 'dist'), path.join(folder, 'dist'), {
    recursive: true,
    filter: (source) => source !== own && !isMap(source),
  });
  cpSync(own, path.join(folder, 'node_modules'), { recursive: true, filter: (source) => !isMap(source) });
  for (const file of ['queries', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', '.env.example'])
    cpSync(path.join(ROOT, file), path.join(folder, file), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest(), null, 2));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', process.cwd(), folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
} finally {
  rmSync(folder, { recursive: true });
}
