/**
 * What is loaded at the start does not make the young generation large, nor do requests make that of threads; responses do not have the
 * heap collected all the time. In processes of their own: flags of the tests' one bound its heap.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The source, as Node can load it. */
const FILE = join(__dirname, '../../src/heap-growth.ts');
const TYPESCRIPT = join(__dirname, '../typescript.js');
const LOADED = `require(${JSON.stringify(TYPESCRIPT)}); require(${JSON.stringify(FILE)})`;
/** As long after the start. */
const RUNNING = `
  ${LOADED};
  globalThis.setTimeout = (work) => { work(); return { unref() {} }; };
  ${LOADED}.growWithRequests();`;

/** What a program prints. */
async function numberFrom(program: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
  return Number(stdout.split(' ')[0]);
}

/** Bytes of the young generation after a program has made so many objects that survive. */
function youngAfter(before: string, survivors: number): Promise<number> {
  return numberFrom(`${before}
    const kept = [];
    for (let i = 0; i < ${String(survivors)}; i++) kept.push({ i });
    const { getHeapSpaceStatistics } = require('node:v8');
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size, kept.length);`);
}

/** How often the whole heap has been collected after 1,000 responses of 300 kB, of which the cache keeps a hundred. */
function collectionsAfter(before: string): Promise<number> {
  return numberFrom(`${before}
    const { constants, PerformanceObserver } = require('node:perf_hooks');
    let collections = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++;
    }).observe({ entryTypes: ['gc'] });
    const { setTimeout: later } = require('node:timers');
    globalThis.live = Array.from({ length: 200_000 }, (_, i) => ({ i, text: 'x' + i }));
    const kept = [];
    let left = 1_000;
    (function answer() {
      kept.push(Buffer.allocUnsafeSlow(300_000));
      if (kept.length > 100) kept.shift();
      if (left-- > 0) later(answer, 1);
      else later(() => { console.log(collections, ''); process.exit(); }, 1);
    })();`);
}

it('stays small while a process starts', async () => {
  const starting = await youngAfter(`${LOADED};`, 400_000);
  expect(starting).toBeLessThan((await youngAfter('', 400_000)) / 4);
});

it('grows sooner than by itself once requests come, of which little survives', async () => {
  const running = await youngAfter(RUNNING, 40_000);
  expect(running).toBeGreaterThanOrEqual(2 * (await youngAfter('', 40_000)));
});

it('does not grow in threads as it does for requests', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-heap-'));
  const file = join(folder, 'surviving.js');
  // Answers with the bytes of its young generation once so many objects have survived.
  writeFileSync(
    file,
    `const { parentPort } = require('node:worker_threads');
    const { getHeapSpaceStatistics } = require('node:v8');
    parentPort.on('message', (survivors) => {
      const kept = Array.from({ length: survivors }, (_, i) => ({ i }));
      const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      parentPort.postMessage({ answer: kept.length && space_size });
    });
    parentPort.postMessage({ ready: true, thread: null });`,
  );
  const sources = (name: string): string => JSON.stringify(join(__dirname, '../../src/concurrency', name));
  const young = await numberFrom(`${LOADED}.growWithRequests();
    const { WorkerPool } = require(${sources('worker-pool.ts')});
    const { unlimited } = require(${sources('deadline.ts')});
    const pool = new WorkerPool({ file: ${JSON.stringify(file)}, threads: 1, deadline: 60_000, heap: 128 });
    pool.run(400_000, unlimited()).then((bytes) => { console.log(bytes, ''); process.exit(); });`);
  rmSync(folder, { recursive: true });
  expect(young).toBeGreaterThan(0);
  expect(young).toBeLessThanOrEqual(6 * 1024 * 1024);
});

it('is not collected for every few responses', async () => {
  const usual = await collectionsAfter(`${LOADED};`);
  const running = await collectionsAfter(RUNNING);
  expect(running).toBeLessThan(usual / 1.5);
});
