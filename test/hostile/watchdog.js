// @ts-check
/**
 * Required into a service under test (NODE_OPTIONS): measures the processor time of the main thread between two turns of its
 * event loop, which the work of others on the machine does not lengthen (Linux). Whoever connects to the socket that
 * WATCHDOG_SOCKET names is sent the longest turn since the connection before, in milliseconds.
 */
const { closeSync, openSync, readSync, rmSync } = require('node:fs');
const { createServer } = require('node:net');
const { isMainThread } = require('node:worker_threads');

const INTERVAL = 1;
const socket = process.env['WATCHDOG_SOCKET'];
const bytes = Buffer.alloc(128);

/** Milliseconds that this thread has had a processor. */
function processorTime() {
  const file = openSync('/proc/thread-self/schedstat', 'r');
  const length = readSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
  return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

if (isMainThread && socket !== undefined) {
  // Processes that this one starts have turns of their own.
  delete process.env['WATCHDOG_SOCKET'];
  let longest = 0;
  let last = processorTime();
  const measure = () => {
    const now = processorTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(measure, INTERVAL).unref();
  const server = createServer((client) => {
    measure();
    client.end(String(longest));
    longest = 0;
  });
  server.listen(socket).unref();
  process.on('exit', () => rmSync(socket, { force: true }));
}
