/**
 * For `node --require`: records calls of functions, in their order, in this process and in those that it starts. Each function
 * has a breakpoint whose condition writes a line, and is false.
 */
const childProcess = require('node:child_process');
const fs = require('node:fs');
const { Session } = require('node:inspector');
const { SourceMap } = require('node:module');
const path = require('node:path');

const SOURCES = path.join(__dirname, '../../src');
const DIST = path.join(__dirname, '../../dist');

/** The files of the build, with what each was made of. */
const BUILT = fs
  .readdirSync(DIST, { recursive: true, encoding: 'utf8' })
  .map((name) => path.join(DIST, name))
  .filter((script) => !script.startsWith(path.join(DIST, 'bench')) && fs.existsSync(`${script}.map`))
  .map((script) => ({ script, payload: JSON.parse(fs.readFileSync(`${script}.map`, 'utf8')) }));

/**
 * Where the body of a function begins in each file of the build that has it: chunks of the build before stay for a service
 * that runs from them. Others may have its name, and the bundler gives it a number then.
 *
 * @param {string} name
 * @param {string} file below src/
 */
function bodiesOf(name, file) {
  const source = path.join(SOURCES, file);
  const before = name.startsWith('#') ? '(?<!\\.)' : '(?<![\\w$.#])';
  const head = new RegExp(`${before}${name}\\d*\\((?:[^()]|\\([^()]*\\))*\\)\\{`, 'g');
  const bodies = BUILT.flatMap(({ script, payload }) => {
    const places = payload.sources.map((/** @type {string} */ one) => path.resolve(path.dirname(script), one));
    if (!places.includes(source)) return [];
    const map = new SourceMap(payload);
    const text = fs.readFileSync(script, 'utf8');
    for (const { 0: match, index } of text.matchAll(head)) {
      const lines = text.slice(0, index + match.length).split('\n');
      const place = { lineNumber: lines.length - 1, columnNumber: lines.at(-1)?.length ?? 0 };
      const { originalSource } = /** @type {{ originalSource: string }} */ (
        map.findEntry(place.lineNumber, place.columnNumber)
      );
      if (path.resolve(path.dirname(script), originalSource) === source) return [{ url: `file://${script}`, ...place }];
    }
    return [];
  });
  if (bodies.length === 0) throw new Error(`There is no ${name} in ${file}.`);
  return bodies;
}

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
    const condition = `__record(${JSON.stringify(`${name} in ${file}`)}), false`;
    for (const body of bodiesOf(name, file)) session.post('Debugger.setBreakpointByUrl', { ...body, condition });
  }
};
