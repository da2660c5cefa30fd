/** Bytes of one query are never those of another, however late they are read. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { readLines, type TakeLines } from '../src/engine/line-stream';

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create();
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function read(text: string, take: TakeLines): Promise<void> {
  const statement = await connection.prepare(`SELECT '${text}' || chr(10)`);
  await readLines(statement, [], { maxRows: 10, maxBytes: null, brackets: null }, take);
}

it.each([
  // What a cancelled stream was about to take ends without an error (`endingWithSink`).
  ['which resolves before they are read', () => Promise.resolve()],
  ['which fails', () => Promise.reject(new Error('gone'))],
])('They stay with who takes them by a promise %s', async (_, taking) => {
  const late: Uint8Array[] = [];
  await read('of the first key', (lines) => {
    late.push(lines);
    return taking();
  }).catch(() => undefined);
  for (let i = 0; i < 20; i++) await read('of another key!!', () => undefined);
  expect(late.map((lines) => Buffer.from(lines).toString())).toEqual(['of the first key\n']);
});
