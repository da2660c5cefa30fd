/** What is loaded at the start does not make the young generation large. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const FILE = join(__dirname, '../../dist/young-generation.js');

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
  const starting = await youngAfter(`require(${JSON.stringify(FILE)});`);
  expect(starting).toBeLessThan(usual / 4);
  const running = await youngAfter(`
    require(${JSON.stringify(FILE)});
    globalThis.setTimeout = (work) => { work(); return { unref() {} }; };
    require(${JSON.stringify(FILE)}).growWithRequests();`);
  expect(running).toBe(usual);
});
