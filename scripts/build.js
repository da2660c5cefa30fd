/** Builds dist/ where it is older than its sources, so that a command after the first starts at once. */
const { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** Written after a build that succeeded. */
const STAMP = 'dist/.built';
/** What a build reads. */
const SOURCES = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Sources that run in browsers, and are bundled by themselves. */
const EXPLORER = 'explorer';
/** Sources that Node starts by their names: commands, processes and threads. */
const ENTRY = /(?:[/\\]src[/\\]cli|[/\\]child|[/\\]thread|-worker)\.[jt]s$/;
/** Where parts are that several entries import, or one when it is needed, with a hash of what they contain in their names. */
const CHUNKS = 'chunks/';
/** What other builds write into dist/. */
const FOREIGN = new Set([EXPLORER, 'bench']);

/**
 * esbuild exports by two getters in a row, which whatever calls another file pays for (docs/decisions/build.md).
 * Nothing here exports what changes later, so plain properties take their place once the file has been run.
 */
const PLAIN_EXPORTS =
  "if (module.exports.__esModule) module.exports = Object.defineProperty({ ...module.exports }, '__esModule', { value: true });";

/** Packages that stay where npm has put them: native code, and what a process loads only for BigQuery or in a worker of its own. */
const UNBUNDLED = ['@duckdb/node-bindings', 'node-sql-parser', '@google-cloud/bigquery', 'google-auth-library'];

/** Characters: what Node prints of a line with an error. */
const LINE = 200;

/** Stands for the way from a file of dist/ to dist/ itself, until it is known which file a module has come to. */
const TO_DIST = '__TO_DIST__';

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
 * Bundles the service and the explorer: few files start in two thirds of the time of many, and take less memory (docs/decisions/build.md).
 * Types are not checked here (`npm run typecheck`): that takes most of the time of a compiler, and whoever starts the service has
 * changed none.
 *
 * @param {string} root @returns {Promise<void>}
 */
async function build(root) {
  const started = new Date();
  const esbuild = require('esbuild');
  const source = path.join(root, 'src');
  const target = path.join(root, 'dist');
  /** @type {import('esbuild').BuildOptions} */
  const common = { absWorkingDir: root, outbase: source, outdir: target, logLevel: 'warning' };
  const [{ outputFiles }] = await Promise.all([
    // Only modules of ECMAScript are split by what is imported when it is needed.
    esbuild.build({
      ...common,
      entryPoints: entryPoints(source),
      chunkNames: `${CHUNKS}[name]-[hash]`,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: UNBUNDLED,
      // Not `module`: what packages of CommonJS load too would be run late, after its exports have become plain properties.
      conditions: [],
      plugins: [ownPlaces(source), namedLater(source), oneLanguage],
      sourcemap: 'inline',
      sourcesContent: false,
      write: false,
    }),
    import(pathToFileURL(path.join(source, EXPLORER, 'build.mjs')).href),
  ]);
  const written = await Promise.all(
    outputFiles.map(async (output) => {
      if (output.text.includes('__esm('))
        throw new Error(`${output.path} has a module that is run late: its exports would be empty.`);
      const { code, map } = await esbuild.transform(output.text, {
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        define: { [TO_DIST]: JSON.stringify(path.relative(path.dirname(output.path), target) || '.') },
        sourcemap: 'external',
        sourcefile: output.path,
        sourcesContent: false,
        minifyWhitespace: true,
        lineLimit: LINE,
        footer: PLAIN_EXPORTS,
      });
      mkdirSync(path.dirname(output.path), { recursive: true });
      writeFileSync(output.path, `${code}//# sourceMappingURL=${path.basename(output.path)}.map\n`);
      writeFileSync(`${output.path}.map`, map);
      return path.relative(target, output.path).split(path.sep).join('/');
    }),
  );
  const stamp = path.join(root, STAMP);
  const lastBuild = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
  removeOthers(target, new Set(written), lastBuild);
  // What changes while it builds is built the next time.
  writeFileSync(stamp, '');
  utimesSync(stamp, started, started);
}

/**
 * What Node is given by the name of a file: the command, processes and threads, and modules with tasks for threads, which name themselves.
 *
 * @param {string} source @returns {string[]}
 */
function entryPoints(source) {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts') && !file.startsWith(`${EXPLORER}${path.sep}`))
    .map((file) => path.join(source, file))
    .filter((file) => ENTRY.test(file) || readFileSync(file, 'utf8').includes('file: __filename'));
}

/**
 * A module has the `__dirname` and `__filename` that it had if each source became a file of its own.
 *
 * @param {string} source @returns {import('esbuild').Plugin}
 */
function ownPlaces(source) {
  return {
    name: 'own places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        if (!file.startsWith(source + path.sep)) return undefined;
        const text = readFileSync(file, 'utf8');
        const name = path.relative(source, file).replace(/\.ts$/, '.js');
        const places = { __dirname: path.dirname(name), __filename: name };
        const contents = text.replace(
          /\b__(?:dirname|filename)\b/g,
          (word) =>
            `require('node:path').join(__dirname, ${TO_DIST}, ${JSON.stringify(places[/** @type {keyof typeof places} */ (word)])})`,
        );
        return { contents, loader: 'ts' };
      });
    },
  };
}

/**
 * Of a package of CommonJS that is imported when it is needed, a bundle in parts has `default` alone: it is imported by a source
 * which is imported when it is needed.
 *
 * @param {string} source @returns {import('esbuild').Plugin}
 */
function namedLater(source) {
  return {
    name: 'named later',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path: name, kind, importer }) =>
        kind === 'dynamic-import' && importer.startsWith(source + path.sep) && !name.startsWith('node:')
          ? {
              errors: [
                {
                  text: `import('${name}') has no names here: import it in a module of its own, and that when it is needed.`,
                },
              ],
            }
          : undefined,
      );
    },
  };
}

/** zod loads its messages in fifty languages, 0.5 MB of sources; it has English without them. @type {import('esbuild').Plugin} */
const oneLanguage = {
  name: 'one language',
  setup({ onLoad }) {
    onLoad({ filter: /zod[/\\]v4[/\\]locales[/\\]index\.c?js$/ }, () => ({ contents: 'export {};' }));
  },
};

/**
 * Removes what sources that are gone have left. Chunks of the last build stay: a service that runs from it imports some of them later.
 *
 * @param {string} target
 * @param {ReadonlySet<string>} written below it
 * @param {number} lastBuild when it began, in ms
 */
function removeOthers(target, written, lastBuild) {
  for (const entry of readdirSync(target, { recursive: true, withFileTypes: true })) {
    const place = path.join(entry.parentPath, entry.name);
    const file = path.relative(target, place).split(path.sep).join('/');
    if (!entry.isFile() || FOREIGN.has(file.split('/')[0] ?? '') || !/\.js(\.map)?$/.test(file)) continue;
    if (written.has(file.replace(/\.map$/, ''))) continue;
    if (!file.startsWith(CHUNKS) || statSync(place).mtimeMs < lastBuild) rmSync(place);
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
