/**
 * Test files of one worker have modules of their own each, so that the same few hundred are compiled some seventy times over. What
 * V8 has parsed once is kept, and what is used a little is left to its interpreter: 6 % of the processor time.
 */
const { setFlagsFromString } = require('node:v8');
const vm = require('node:vm');

// Later versions of V8 count otherwise, and have another compiler for what is used a little.
if (Number(process.versions.v8.split('.')[0]) < 12) setFlagsFromString('--ticks-before-optimization=8');

const { compileFunction } = vm;
/** @type {Map<string, Buffer | undefined>} */
const parsed = new Map();

/**
 * @param {string} code
 * @param {readonly string[]} [parameters]
 * @param {import('node:vm').CompileFunctionOptions} [options]
 */
function compiledOnce(code, parameters, options) {
  const cachedData = parsed.get(code);
  const compiled = compileFunction(code, parameters, { ...options, cachedData, produceCachedData: !cachedData });
  if (cachedData === undefined) parsed.set(code, compiled.cachedData);
  return compiled;
}

vm.compileFunction = compiledOnce;
