/**
 * For `node --require`: records calls of functions, in their order, in this process and in those that it starts. Each function
 * has a breakpoint whose condition writes a line, and is false.
 */
const childProcess = require('node:child_process');
const fs = require('node:fs');
const { Session } = require('node:inspector');
const path = require('node:path');

const DIST = path.join(__dirname, '../../dist');

/**
 * @param {string} caller the file that `--require` names
 * @param {string} records the file that gets the lines, `function in file`
 * @param {readonly (readonly [string, string])[]} functions names, and files below `src/`
 */
module.exports = function recordCalls(caller, records, functions) {
  const { fork } = childProcess;
  // The engine's process gets neither environment nor options of this one.
  Object.assign(childProcess, {
    /** @type {(file: string, args: string[], options: import('node:child_process').ForkOptions) => unknown} */
    fork: (file, args, options) =>
      fork(file, args, { ...options, execArgv: [...(options.execArgv ?? []), '--require', caller] }),
  });
  Object.assign(globalThis, { __record: (/** @type {string} */ line) => fs.appendFileSync(records, `${line}\n`) });
  const session = new Session();
  session.connect();
  session.post('Debugger.enable');
  for (const [name, file] of functions) {
    const script = path.join(DIST, file.replace(/\.ts$/, '.js'));
    const head = new RegExp(`^ *(?:export )?(?:async )?(?:function )?${name}\\(.*\\{$`);
    const line = fs
      .readFileSync(script, 'utf8')
      .split('\n')
      .findIndex((text) => head.test(text) && !/^ *(?:if|for|while|switch)\b/.test(text));
    if (line === -1) throw new Error(`There is no ${name} in ${file}.`);
    session.post('Debugger.setBreakpointByUrl', {
      url: `file://${script}`,
      lineNumber: line + 1,
      condition: `__record(${JSON.stringify(`${name} in ${file}`)}), false`,
    });
  }
};
