// @ts-check
/** Tasks that threads can load: Node gives them no TypeScript. */
const { isMainThread, threadId } = require('node:worker_threads');

/** The allowance of the thread that serves everybody; a thread of Node's own has none, and no loader for TypeScript. */
const step = isMainThread ? require('../../../googlesql/src/steps').step : () => undefined;

/**
 * @template Input, Output
 * @param {string} name
 * @param {(input: Input) => Output} run
 */
const task = (name, run) => ({ file: __filename, name, run });

exports.where = task('where', (/** @type {number} */ n) => ({ n, threadId }));
exports.refuse = task('refuse', (/** @type {number} */ at) => {
  const refusal = { name: 'QueryError', fault: 'sandboxViolation', span: { start: at, end: at + 1 } };
  throw Object.assign(new Error('No.'), { ...refusal, details: { allowed: ['a'] } });
});
exports.fail = task('fail', () => {
  throw new TypeError('broken');
});
exports.spin = task('spin', (/** @type {number} */ milliseconds) => {
  const end = Date.now() + milliseconds;
  while (Date.now() < end);
  return threadId;
});
exports.long = task('long', () => {
  const end = Date.now() + 100;
  if (isMainThread) while (Date.now() < end) step();
  return threadId;
});
exports.exit = task('exit', () => process.exit(1));
exports.fill = task('fill', () => {
  const all = [];
  // Numbers: the collector of garbage has nothing to follow in them.
  for (;;) all.push(new Array(1_000_000).fill(0.5));
});
