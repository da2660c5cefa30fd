/** `node full-disk.ts FILE BYTES`: writes a segment where no file may hold more, then without a bound, and prints what came of it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

import { Tail } from '../../../src/engines/duckdb/follow/tail';
import { TailWriter } from '../../../src/engines/duckdb/follow/tail-writer';
import type { RestField } from '../../../src/googlesql/rest-schema';

const FIELDS: readonly RestField[] = [{ name: 'id', type: 'STRING', mode: 'NULLABLE', fields: [] }];
const ROWS = 5_000;

/** How much any file may hold that this process writes: the kernel refuses more, as it does on a full disk. */
function limitFiles(bytes: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

async function main(file: string, bytes: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const tail = await Tail.create(connection, 'kept', FIELDS);
  const text = (i: number): string => JSON.stringify({ id: `${'x'.repeat(20)}${Math.imul(i, 2_654_435_761)}` });
  await tail.insert(Array.from({ length: ROWS }, (_, i) => ({ text: text(i), source: 1 })));
  const writer = new TailWriter(await instance.connect());
  const write = () => writer.write([{ relation: tail.relation, dropped: [] }], FIELDS, file);
  limitFiles(bytes);
  const failure = await write().then(
    () => null,
    (error: unknown) => String(error),
  );
  limitFiles('unlimited');
  const left = existsSync(file);
  const [[there]] = (await connection.runAndReadAll(`SELECT count(*) FROM ${tail.relation}`)).getRows() as [[bigint]];
  const stored = (await write())?.rows;
  process.stdout.write(JSON.stringify({ failure, left, there: Number(there), stored }));
}

const [, , file = '', bytes = ''] = process.argv;
void main(file, bytes);
