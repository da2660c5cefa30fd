// @ts-check
/**
 * Required into a service under test (NODE_OPTIONS): measures the iterations of its event loop. Whoever connects to the socket that
 * WATCHDOG_SOCKET names is sent the longest iteration since the connection before, in milliseconds.
 */
const { rmSync } = require('node:fs');
const { createServer } = require('node:net');
const { isMainThread } = require('node:worker_threads');
const { watchEventLoop } = require('./event-loop-block.js');

const socket = process.env['WATCHDOG_SOCKET'];

if (isMainThread && socket !== undefined) {
  // Processes that this one starts have event loops of their own.
  delete process.env['WATCHDOG_SOCKET'];
  const longestBlock = watchEventLoop();
  const server = createServer((client) => client.end(String(longestBlock())));
  server.listen(socket).unref();
  process.on('exit', () => rmSync(socket, { force: true }));
}
