/** Lets Node load the TypeScript sources as they stand, for the child processes of tests: compiled by what compiles them for Jest. */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

/** @type {Record<string, (module: { _compile(code: string, file: string): void }, file: string) => void>} */
const extensions = /** @type {any} */ (Module)._extensions;
extensions['.ts'] = (module, file) => {
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    filename: file,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
  });
  module._compile(code, file);
};
