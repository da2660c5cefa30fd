// @ts-check
/**
 * Required into a service under measurement: on SIGUSR2 it writes the longest stall of the event loop since the last
 * SIGUSR2, in milliseconds, to the file that STALL_FILE names.
 */
const { writeFileSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { isMainThread } = require('node:worker_threads');

const RESOLUTION = 1;
const file = process.env['STALL_FILE'];
if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(file, String(delay.max / 1e6 - RESOLUTION));
    delay.reset();
  });
}
