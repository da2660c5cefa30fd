/** Builds dist/ where it is older than its sources, so that a command after the first starts at once. */
const { execFileSync } = require('node:child_process');
const { cpSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
/** Written after a build that succeeded. */
const STAMP = path.join(ROOT, 'dist/.built');
/** What a build reads. */
const SOURCES = [
  ...['src', 'packages', 'scripts'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
];

/** Packages that run with the service: each is built to where Node finds it by its name, so that dist/ needs no links. */
const PACKAGES = ['googlesql', 'duckdb-engine', 'collector'];

/** Data that `logquay init` reads. */
const PRESETS = 'src/cli/init/presets';

/** What a package's own build has written. */
const BUILT = /packages[/\\][^/\\]+[/\\](?:dist|node_modules)$/;

/** Whether something was changed, added or removed since the last build. */
function isStale() {
  const built = statSync(STAMP, { throwIfNoEntry: false })?.mtimeMs;
  return built === undefined || SOURCES.some((source) => newest(path.join(ROOT, source)) > built);
}

/** The latest change below a path; a folder's own time shows what was added or removed. @param {string} place @returns {number} */
function newest(place) {
  const entry = statSync(place, { throwIfNoEntry: false });
  if (entry === undefined || BUILT.test(place)) return 0;
  if (!entry.isDirectory()) return entry.mtimeMs;
  return readdirSync(place).reduce((latest, name) => Math.max(latest, newest(path.join(place, name))), entry.mtimeMs);
}

/** The manifest of a package in dist/: its faces as they are built there. @param {string} name */
function manifestOf(name) {
  const file = path.join(ROOT, 'packages', name, 'package.json');
  /** @type {{ version: string, exports: Record<string, unknown> }} */
  const { version, exports } = JSON.parse(readFileSync(file, 'utf8'));
  const faces = Object.keys(exports).map((face) => [face, `./src/face/${face === '.' ? 'index' : face.slice(2)}.js`]);
  return JSON.stringify({ name: `@logquay/${name}`, version, exports: Object.fromEntries(faces) });
}

/** Each source becomes a file of dist/, the explorer a bundle. Types are checked by `npm run typecheck`. */
function build() {
  const started = new Date();
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  rmSync(STAMP, { force: true });
  run('node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.build.json');
  for (const name of PACKAGES) {
    run('node_modules/typescript-native/bin/tsc', '-p', `packages/${name}/tsconfig.build.json`);
    writeFileSync(path.join(ROOT, 'dist/node_modules/@logquay', name, 'package.json'), manifestOf(name));
  }
  cpSync(path.join(ROOT, PRESETS), path.join(ROOT, 'dist', PRESETS.replace(/^src\//, '')), { recursive: true });
  run('packages/explorer/build.mjs');
  // What changes while it builds is built the next time.
  writeFileSync(STAMP, '');
  utimesSync(STAMP, started, started);
}

const always = process.argv.includes('--always');
if (always || isStale()) {
  if (!always) process.stderr.write('Building dist/ from the sources: only after a change, a few seconds ...\n');
  try {
    build();
  } catch {
    // The compiler has said why.
    process.exitCode = 1;
  }
}
