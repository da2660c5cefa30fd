/** What is loaded at the start does not make the young generation large. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The source, as Node can load it. */
const FILE = join(__dirname, '../../src/young-generation.ts');
const TYPESCRIPT = join(__dirname, '../typescript.js');
const LOADED = `require(${JSON.stringify(TYPESCRIPT)}); require(${JSON.stringify(FILE)})`;

/** Bytes of the young generation after a program has made what survives. */
async function youngAfter(before: string): Promise<number> {
  const program = `${before}
    const kept = [];
    for (let i = 0; i < 400_000; i++) kept.push({ i });
    const { getHeapSpaceStatistics } = require('node:v8');
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size, kept.length);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
  return Number(stdout.split(' ')[0]);
}

it('stays small while a process starts, and may grow afterwards', async () => {
  const usual = await youngAfter('');
  const starting = await youngAfter(`${LOADED};`);
  expect(starting).toBeLessThan(usual / 4);
  const running = await youngAfter(`
    ${LOADED};
    globalThis.setTimeout = (work) => { work(); return { unref() {} }; };
    ${LOADED}.growWithRequests();`);
  expect(running).toBe(usual);
});
