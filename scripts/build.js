/** Builds what is older than its sources, so that a command after the first starts at once. */
const { spawnSync } = require('node:child_process');
const { readdirSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');

/** Written after a build that succeeded. */
const STAMP = 'dist/.built';
/** What a build reads. */
const SOURCES = ['src', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/**
 * Whether something was changed, added or removed since the last build.
 *
 * @param {string} root the folder of package.json
 */
function isStale(root) {
  const built = statSync(path.join(root, STAMP), { throwIfNoEntry: false })?.mtimeMs;
  return built === undefined || SOURCES.some((source) => newest(path.join(root, source)) > built);
}

/** The latest change below a path; a folder's own time shows what was added or removed. @param {string} place @returns {number} */
function newest(place) {
  const entry = statSync(place, { throwIfNoEntry: false });
  if (entry === undefined) return 0;
  if (!entry.isDirectory()) return entry.mtimeMs;
  return readdirSync(place).reduce((latest, name) => Math.max(latest, newest(path.join(place, name))), entry.mtimeMs);
}

/** @param {string} root @returns {number} the exit code */
function build(root) {
  if (!isStale(root)) return 0;
  process.stderr.write('Building: the sources are newer than dist/ ...\n');
  // What changes while it builds is built the next time.
  const started = new Date();
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) return status ?? 1;
  const stamp = path.join(root, STAMP);
  writeFileSync(stamp, '');
  utimesSync(stamp, started, started);
  return 0;
}

module.exports = { isStale };

if (require.main === module) process.exitCode = build(path.join(__dirname, '..'));
