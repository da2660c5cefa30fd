// @ts-check
/** `npm run fuzz:hostile`: runs main.ts, compiled as it is loaded. */
const { transformFileSync } = require('@swc/core');

/** @type {import('@swc/core').Options} */
const options = {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

/** @param {{ _compile(code: string, filename: string): void }} module @param {string} filename */
function compile(module, filename) {
  module._compile(transformFileSync(filename, options).code, filename);
}

// @ts-expect-error Node's type of a module leaves `_compile` out.
require.extensions['.ts'] = compile;

module.require('./main');
