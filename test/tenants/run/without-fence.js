/**
 * Loaded into a process of the service before its own code (`node --require`): no key needs the fence any more. Shows that
 * the test of non-interference fails where there is none.
 */
const { readFileSync } = require('node:fs');
const Module = require('node:module');

const NEEDS_FENCE = 'function needsFence(';

/** @type {Record<string, (module: { _compile(code: string, file: string): void }, file: string) => void>} */
const extensions = /** @type {any} */ (Module)._extensions;
const load = /** @type {(typeof extensions)[string]} */ (extensions['.js']);
let found = false;
extensions['.js'] = (module, file) => {
  const text = readFileSync(file, 'utf8');
  if (!/[/\\]dist[/\\]/.test(file) || !text.includes(NEEDS_FENCE)) {
    load(module, file);
    return;
  }
  found = true;
  module._compile(text.replace(NEEDS_FENCE, `function needsFence(){return false}function unused(`), file);
};
// Only the service has it: its other processes inherit the option.
process.on('exit', () => {
  if (!found && process.argv[2] === 'serve')
    process.stderr.write('needsFence was not found: the fence is still there.\n');
});
