/**
 * Lets Node load the TypeScript sources as they stand, for the child processes of tests: compiled by what compiles them for
 * Jest, once for all processes.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { transformSync, version } = require('@swc/core');

const COMPILED = join(__dirname, '../node_modules/.cache/typescript');
mkdirSync(COMPILED, { recursive: true });

/** @type {import('@swc/core').Options} */
const OPTIONS = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

/** @param {string} file */
function compiled(file) {
  const source = readFileSync(file, 'utf8');
  const key = createHash('sha256')
    .update(JSON.stringify([version, OPTIONS, file, source]))
    .digest('hex');
  const place = join(COMPILED, key);
  try {
    return readFileSync(place, 'utf8');
  } catch {
    const { code } = transformSync(source, { ...OPTIONS, filename: file });
    // Another process reads all of it or nothing.
    const part = `${place}.${String(process.pid)}`;
    writeFileSync(part, code);
    renameSync(part, place);
    return code;
  }
}

/** Packages by their sources, as Jest finds them. */
const { _resolveFilename } = /** @type {any} */ (Module);
/** @type {any} */ (Module)._resolveFilename = (/** @type {string} */ request, /** @type {unknown[]} */ ...rest) => {
  const [, name, face = 'index'] = /^@logquay\/([^/]+)(?:\/([^/]+))?$/.exec(request) ?? [];
  if (name !== undefined) return join(__dirname, `../packages/${name}/src/face/${face}.ts`);
  return _resolveFilename.call(Module, request, ...rest);
};

/** @type {Record<string, (module: { _compile(code: string, file: string): void }, file: string) => void>} */
const extensions = /** @type {any} */ (Module)._extensions;
extensions['.ts'] = (module, file) => module._compile(compiled(file), file);
