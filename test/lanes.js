/**
 * Jest's configuration by lane. Test files are joined into a few, which require them one after the other: those that compute, and
 * those that wait for services and browsers that they have started. The fast lane has those that start no other process, no engine and no generator; `*.long.test.ts` are run by `npm run test:long` alone.
 */
const fs = require('node:fs');
const { availableParallelism } = require('node:os');
const path = require('node:path');
const base = require('../jest.config.js');

const ROOT = path.join(__dirname, '..');
/** Where the files are written that require others; git ignores it. */
const JOINED = path.join(__dirname, '.joined');
/** Folders of test files. */
const FOLDERS = [
  __dirname,
  ...fs.readdirSync(path.join(ROOT, 'packages')).map((name) => path.join(ROOT, 'packages', name, 'test')),
];

/** What a fast test imports at no depth. */
const SLOW = new Set(['node:child_process', '@duckdb/node-api', 'fast-check', 'newman', 'playwright-core']);
/** What starts a service. */
const STARTERS = new Set(['process/started.ts', 'hostile/target.ts', 'hostile/runner.ts']);
const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?\bfrom '([^']+)'|^import '([^']+)'|\brequire\('([^']+)'\)/gm;

/** What a file imports, by its path: most are imported by many. @type {Map<string, readonly string[]>} */
const imports = new Map();

/** @param {string} file @returns {readonly string[]} names of packages and of Node's modules, and paths */
function importsOf(file) {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const found = [...fs.readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, from, bare, required]) => {
    const name = from ?? bare ?? required ?? '';
    if (!name.startsWith('.')) return [name];
    const stem = path.resolve(path.dirname(file), name.replace(/\.js$/, ''));
    return [`${stem}.ts`, path.join(stem, 'index.ts'), `${stem}.js`].filter((one) => fs.existsSync(one)).slice(0, 1);
  });
  imports.set(file, found);
  return found;
}

/** @param {string} file */
function isFast(file) {
  const seen = new Set([file]);
  // A set's iteration goes on with what is added to it.
  for (const each of seen) {
    for (const name of importsOf(each)) {
      if (SLOW.has(name)) return false;
      if (path.isAbsolute(name)) seen.add(name);
    }
  }
  return true;
}

/** Modules that a file replaces are its own. @param {string} file */
const replacesModules = (file) => fs.readFileSync(file, 'utf8').includes('jest.mock(');

/** Whether a file starts services or browsers: it waits for them while other files are computed. @param {string} file */
function startsProcesses(file) {
  const seen = new Set([file]);
  for (const each of seen) {
    for (const name of importsOf(each)) {
      if (name === 'playwright-core' || STARTERS.has(path.relative(__dirname, name))) return true;
      // What the service itself starts is a part of what is tested.
      if (path.isAbsolute(name) && FOLDERS.some((folder) => name.startsWith(folder))) seen.add(name);
    }
  }
  return false;
}

const files = FOLDERS.filter((folder) => fs.existsSync(folder)).flatMap((folder) =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts') && !name.startsWith('.joined'))
    .map((name) => path.join(folder, name)),
);
const alone = files.filter(replacesModules);
const starting = files.filter((file) => !alone.includes(file) && startsProcesses(file));
const fast = files.filter((file) => isFast(file) && !alone.includes(file));
const slow = files.filter((file) => ![...alone, ...starting, ...fast].includes(file));

/**
 * Writes files that require others: their modules are loaded once, not once for each of them.
 *
 * @param {string} lane @param {readonly string[]} all @param {number} count @returns {string[]} their paths
 */
function join(lane, all, count) {
  fs.mkdirSync(JOINED, { recursive: true });
  const groups = Array.from({ length: count }, () => ({ size: 0, lines: /** @type {string[]} */ ([]) }));
  const bySize = all.map((file) => ({ file, size: fs.statSync(file).size })).sort((a, b) => b.size - a.size);
  for (const { file, size } of bySize) {
    const group = groups.reduce((least, one) => (one.size < least.size ? one : least));
    group.size += size;
    const name = path.relative(ROOT, file).split(path.sep).join('/');
    group.lines.push(`describe('${name}', () => { require('../../${name.replace(/\.ts$/, '')}'); });\n`);
  }
  return groups.map(({ lines }, i) => {
    const file = path.join(JOINED, `${lane}-${String(i)}.test.ts`);
    // The longest that any of them asks for.
    const text = [...lines, 'jest.setTimeout(300_000);\n'].join('');
    // Two runs at the same time write the same.
    if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
    return file;
  });
}

/** @param {'fast' | 'all'} lane @returns {import('jest').Config} */
exports.lane = (lane) => ({
  ...base,
  rootDir: ROOT,
  testSequencer: '<rootDir>/test/sequence.js',
  testPathIgnorePatterns: ['/node_modules/'],
  testMatch: [
    ...join('fast', fast, availableParallelism()),
    ...(lane === 'fast'
      ? []
      : [
          ...join('slow', slow, 4 * availableParallelism()),
          ...join('starting', starting, 4 * availableParallelism()),
          ...alone,
        ]),
  ],
});
