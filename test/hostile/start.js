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

require.extensions['.ts'] = (
  /** @type {NodeModule & { _compile(code: string, filename: string): void }} */ module,
  /** @type {string} */ filename,
) => {
  module._compile(transformFileSync(filename, options).code, filename);
};

module.require('./main');
