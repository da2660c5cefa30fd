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

/**
 * @typedef {{ script: string, text: string, sources: string[], map: SourceMap }} BuiltFile
 * @typedef {{ line: string, places: { url: string, lineNumber: number, columnNumber: number }[] }} Breakpoint what to record, and where
 */

/** @returns {BuiltFile[]} the files of the build, with what each was made of */
function builtFiles() {
  return fs
    .readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(DIST, name))
    .filter((script) => !script.startsWith(path.join(DIST, 'bench')) && fs.existsSync(`${script}.map`))
    .map((script) => {
      const payload = JSON.parse(fs.readFileSync(`${script}.map`, 'utf8'));
      const sources = payload.sources.map((/** @type {string} */ one) => path.resolve(path.dirname(script), one));
      return { script, text: fs.readFileSync(script, 'utf8'), sources, map: new SourceMap(payload) };
    });
}

/**
 * Where the body of a function begins in each file of the build that has it: chunks of the build before stay for a service
 * that runs from them. Others may have its name, and the bundler gives it a number then.
 *
 * @param {readonly BuiltFile[]} built
 * @param {string} name
 * @param {string} file below src/
 */
function bodiesOf(built, name, file) {
  const source = path.join(SOURCES, file);
  const before = name.startsWith('#') ? '(?<!\\.)' : '(?<![\\w$.#])';
  const head = new RegExp(`${before}${name}\\d*\\((?:[^()]|\\([^()]*\\))*\\)\\{`, 'g');
  const bodies = built.flatMap(({ script, text, sources, map }) => {
    if (!sources.includes(source)) return [];
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
 * What `recordCalls` takes, worked out once for all processes.
 *
 * @param {readonly (readonly [string, string])[]} functions names, and files below `src/`
 * @returns {Breakpoint[]}
 */
function breakpointsOf(functions) {
  const built = builtFiles();
  return functions.map(([name, file]) => ({ line: `${name} in ${file}`, places: bodiesOf(built, name, file) }));
}

/**
 * @param {string} caller the file that `--require` names
 * @param {string} records the file that gets the lines, `function in file`
 * @param {readonly Breakpoint[]} breakpoints
 */
function recordCalls(caller, records, breakpoints) {
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
  for (const { line, places } of breakpoints) {
    const condition = `__record(${JSON.stringify(line)}), false`;
    for (const place of places) session.post('Debugger.setBreakpointByUrl', { ...place, condition });
  }
}

module.exports = { breakpointsOf, recordCalls };
