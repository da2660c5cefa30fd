/**
 * `npm run test:fast`: every test file that starts no other process and no engine and generates no cases, by what it
 * imports: neither it nor anything that it imports, other than by `import()`, imports one of these.
 */
const fs = require('node:fs');
const path = require('node:path');

const SLOW = new Set(['node:child_process', '@duckdb/node-api', 'fast-check', 'newman', 'playwright-core']);

const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?\bfrom '([^']+)'|^import '([^']+)'|\brequire\('([^']+)'\)/gm;

const ROOT = path.join(__dirname, '..');

/** @returns {string[]} absolute paths */
function fastTests() {
  return fs
    .readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(__dirname, name))
    .filter((file) => !importsSlow(file));
}

/** @param {string} file */
function importsSlow(file) {
  const seen = new Set([file]);
  // A set's iteration goes on with what is added to it.
  for (const each of seen) {
    for (const name of importsOf(each)) {
      if (SLOW.has(name)) return true;
      if (path.isAbsolute(name)) seen.add(name);
    }
  }
  return false;
}

/** What a file imports, by its path: most are imported by many. @type {Map<string, readonly string[]>} */
const IMPORTS = new Map();

/**
 * @param {string} file
 * @returns {readonly string[]} names of packages and of Node's modules, and paths
 */
function importsOf(file) {
  const imports = IMPORTS.get(file) ?? readImports(file);
  IMPORTS.set(file, imports);
  return imports;
}

/**
 * @param {string} file
 * @returns {string[]}
 */
function readImports(file) {
  const names = [...fs.readFileSync(file, 'utf8').matchAll(IMPORT)].map(
    ([, from, bare, required]) => from ?? bare ?? required ?? '',
  );
  return names.flatMap((name) => (name.startsWith('.') ? (resolve(path.dirname(file), name) ?? []) : name));
}

/**
 * @param {string} folder
 * @param {string} name
 */
function resolve(folder, name) {
  const stem = path.resolve(folder, name.replace(/\.js$/, ''));
  return [`${stem}.ts`, path.join(stem, 'index.ts'), `${stem}.js`].find((file) => fs.existsSync(file));
}

/** @type {import('jest').Config} */
module.exports = { ...require('../jest.config.js'), rootDir: ROOT, testMatch: fastTests() };
