/** Builds dist/ where it is older than its sources, so that a command after the first starts at once. */
const { readdirSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** Written after a build that succeeded. */
const STAMP = 'dist/.built';
/** What a build reads. */
const SOURCES = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Sources that run in browsers: the documentation page's script, and the explorer, which is bundled. */
const PAGE_SCRIPT = 'http/routes/docs/browser/page.js';
const EXPLORER = 'explorer';
/** What other builds write into dist/. */
const FOREIGN = new Set([EXPLORER, 'bench']);

/**
 * esbuild exports by two getters in a row, which whatever calls another module pays for (docs/decisions/build.md).
 * Nothing here exports what changes later, so plain properties take their place once the module has been run.
 */
const PLAIN_EXPORTS =
  "if (module.exports.__esModule) module.exports = Object.defineProperty({ ...module.exports }, '__esModule', { value: true });";

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

/**
 * Translates every source by itself and bundles the explorer. Types are not checked here (`npm run typecheck`): that takes
 * most of the time of a compiler, and whoever starts the service has changed none.
 *
 * @param {string} root @returns {Promise<void>}
 */
async function build(root) {
  const started = new Date();
  const { build: translate } = require('esbuild');
  const source = path.join(root, 'src');
  const target = path.join(root, 'dist');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).map((file) =>
    file.split(path.sep).join('/'),
  );
  const own = files.filter((file) => isOwn(file));
  /** @type {import('esbuild').BuildOptions} */
  const common = { absWorkingDir: root, outbase: source, outdir: target, target: 'node20', logLevel: 'warning' };
  await Promise.all([
    translate({
      ...common,
      entryPoints: own.map((file) => path.join(source, file)),
      format: 'cjs',
      platform: 'node',
      sourcemap: true,
      sourcesContent: false,
      footer: { js: PLAIN_EXPORTS },
    }),
    translate({ ...common, entryPoints: [path.join(source, PAGE_SCRIPT)], target: 'es2023' }),
    import(pathToFileURL(path.join(source, EXPLORER, 'build.mjs')).href),
  ]);
  removeOthers(target, new Set([...own, PAGE_SCRIPT].map((file) => file.replace(/\.ts$/, '.js'))));
  // What changes while it builds is built the next time.
  const stamp = path.join(root, STAMP);
  writeFileSync(stamp, '');
  utimesSync(stamp, started, started);
}

/** @param {string} file below src/ */
function isOwn(file) {
  return /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts') && !file.startsWith(`${EXPLORER}/`) && file !== PAGE_SCRIPT;
}

/** Removes what sources that are gone have left. @param {string} target @param {ReadonlySet<string>} written below it */
function removeOthers(target, written) {
  for (const entry of readdirSync(target, { recursive: true, withFileTypes: true })) {
    const file = path.relative(target, path.join(entry.parentPath, entry.name)).split(path.sep).join('/');
    if (!entry.isFile() || FOREIGN.has(file.split('/')[0] ?? '') || !/\.js(\.map)?$/.test(file)) continue;
    if (!written.has(file.replace(/\.map$/, ''))) rmSync(path.join(target, file));
  }
}

module.exports = { build, isStale };

if (require.main === module) {
  const root = path.join(__dirname, '..');
  const always = process.argv.includes('--always');
  if (always || isStale(root)) {
    if (!always) process.stderr.write('Building dist/ from the sources: only after a change, a few seconds ...\n');
    build(root).catch((error) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    });
  }
}
