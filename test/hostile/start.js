// @ts-check
/** `npm run fuzz:hostile`: runs main.ts, compiled as it is loaded. */
const { transformFileSync } = require('@swc/core');

const options = {
  swcrc: false,
  jsc: { parser: { syntax: /** @type {const} */ ('typescript') }, target: /** @type {const} */ ('es2022') },
  module: { type: /** @type {const} */ ('commonjs') },
  sourceMaps: /** @type {const} */ ('inline'),
};

// eslint-disable-next-line @typescript-eslint/no-deprecated
require.extensions['.ts'] = (module, filename) => {
  // @ts-expect-error Node's own modules have it; its types leave it out.
  module._compile(transformFileSync(filename, options).code, filename);
};

require('./main.ts');
