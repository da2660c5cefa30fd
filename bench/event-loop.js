// @ts-check
/**
 * Required into a service under measurement: on SIGUSR2 it writes the longest stall of the event loop since the last
 * SIGUSR2, in milliseconds, to the file that STALL_FILE names: on the clock, and of the time that the thread had a
 * processor (Linux; elsewhere NaN), which others' work on the machine does not lengthen.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { isMainThread } = require('node:worker_threads');

const RESOLUTION = 1;
const file = process.env['STALL_FILE'];

/** Milliseconds that this thread has had a processor. */
function ownTime() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return NaN;
  }
}

if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  let longest = 0;
  let last = ownTime();
  setInterval(() => {
    const now = ownTime();
    longest = Math.max(longest, now - last);
    last = now;
  }, RESOLUTION).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(file, JSON.stringify({ clock: delay.max / 1e6 - RESOLUTION, own: longest }));
    delay.reset();
    longest = 0;
  });
}
