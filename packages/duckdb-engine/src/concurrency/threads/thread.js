// @ts-check
/** A thread behind threads.ts: does one task after the other. Plain JavaScript, because Node starts it as a file of its own. */
const { readlinkSync } = require('node:fs');
const { setPriority } = require('node:os');
const { parentPort } = require('node:worker_threads');

/** Others' short requests come before long texts where processors are few. */
const NICENESS = 5;

/**
 * This thread's number to Linux, after it has taken a lower priority; null elsewhere, where the priority would be that of the
 * process.
 */
function giveWay() {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1) ?? '';
    setPriority(Number(thread), NICENESS);
    return thread;
  } catch {
    return null;
  }
}

/**
 * @param {{ file: string, name: string, input: unknown }} order
 * @returns {unknown}
 */
function done({ file, name, input }) {
  try {
    return { output: require(file)[name].run(input) };
  } catch (thrown) {
    const error = /** @type {Error & Record<string, unknown>} */ (thrown);
    const { message, fault, span, details } = error;
    if (error.name !== 'QueryError') return { failure: String(error.stack) };
    return { refusal: { fault, message, details, span: span && { ...span } } };
  }
}

/**
 * Memory that the other side gets without a copy: that of bytes alone in it.
 *
 * @param {unknown} answer
 * @returns {ArrayBuffer[]}
 */
function handedOver(answer) {
  const { output } = /** @type {{ output?: unknown }} */ (answer);
  if (!(output instanceof Uint8Array) || !(output.buffer instanceof ArrayBuffer)) return [];
  return output.byteLength === output.buffer.byteLength ? [output.buffer] : [];
}

if (parentPort === null) throw new Error('This file runs as a worker.');
const port = parentPort;
port.on('message', (order) => {
  const answer = done(order);
  port.postMessage({ answer }, handedOver(answer));
});
port.postMessage({ ready: true, thread: giveWay() });
