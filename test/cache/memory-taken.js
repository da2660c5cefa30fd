// @ts-check
/**
 * Fills a store with 10,000 results in a process that does nothing else, and prints what it counts and what it takes.
 * Arguments: bytes of a result's text, bound of the store.
 */
const { createHash } = require('node:crypto');
require('../typescript');
const { MemoryStore } = require('../../src/cache/memory');
const { EncodedResponse } = require('../../src/rendering/encoded-response');

const [bytes = 0, bound = 0] = process.argv.slice(2).map(Number);

/** The rows of every result, as JSON. */
const ROWS = JSON.stringify(
  Array.from({ length: Math.ceil(bytes / 100) }, (_, row) => ({
    id: createHash('md5').update(`${row}`).digest('hex'),
    timestamp: 1_790_000_000_000_000 + row,
    message: `GET | 200 | ${row}`,
  })),
);

/** Bytes that the process's objects and buffers take. */
async function memoryInUse() {
  for (let i = 0; i < 5; i++) {
    /** @type {{ gc?: () => void }} */ (globalThis).gc?.();
    // Memory of buffers is given back behind the collector's back.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * @param {{ set(identity: object, entry: object, keep: number): boolean }} store
 * @param {number} i another result for each
 */
async function fill(store, i) {
  // Each string is its own, as those of requests are.
  const text = `["usage.api-counts","${String(i).padStart(6)}","${'p'.repeat(100)}${i}"]`;
  const body = Buffer.from(`{"result":${ROWS},"i":${String(i)}}`);
  const response = new EncodedResponse(body, 'application/json', false);
  await response.complete();
  const entry = { question: text, response, createdAt: Date.now(), lifetime: 60_000, fence: 1 };
  store.set({ text, hash: createHash('sha256').update(text).digest('hex') }, entry, 60_000);
}

async function main() {
  // What the first entry brings with it, such as the compressors, does not count.
  await fill(new MemoryStore({ bytes: bound, maxEntry: bound }), -1);
  const before = await memoryInUse();
  const store = new MemoryStore({ bytes: bound, maxEntry: bound });
  for (let i = 0; i < 10_000; i++) await fill(store, i);
  const taken = (await memoryInUse()) - before;
  process.stdout.write(JSON.stringify({ entries: store.size.entries, counted: store.size.bytes, taken }));
}

void main();
