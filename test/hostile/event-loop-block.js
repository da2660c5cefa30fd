// @ts-check
/** Iterations of the main thread's event loop, by their processor time, which the work of others on the machine does not lengthen (Linux). */
const { closeSync, openSync, readSync } = require('node:fs');

/** Milliseconds. */
const INTERVAL = 1;
const bytes = Buffer.alloc(128);

/** Milliseconds that this thread has had a processor. */
function processorTime() {
  const file = openSync('/proc/thread-self/schedstat', 'r');
  const length = readSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
  return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

/**
 * Measures iterations from now on. It keeps no process alive.
 *
 * @returns takes the longest iteration since it was last asked for, in milliseconds
 */
module.exports.watchEventLoop = function watchEventLoop() {
  let longest = 0;
  let last = processorTime();
  const measure = () => {
    const now = processorTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(measure, INTERVAL).unref();
  return () => {
    measure();
    const longestBlock = longest;
    longest = 0;
    return longestBlock;
  };
};
