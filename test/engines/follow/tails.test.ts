/** Rows in memory, where queries that were begun before read them. */
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../src/googlesql/rest-schema';
import { Source } from '../../../src/engines/duckdb/follow/source';
import { TableFields } from '../../../src/engines/duckdb/follow/table-fields';
import { TableParts } from '../../../src/engines/duckdb/follow/table-parts';
import { TailReader } from '../../../src/engines/duckdb/follow/tail-reader';
import { Tails } from '../../../src/engines/duckdb/follow/tails';

const FIELDS: readonly RestField[] = [{ name: 'id', type: 'STRING', mode: 'NULLABLE', fields: [] }];

let instance: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  instance = await DuckDBInstance.create();
  connection = await instance.connect();
});
afterAll(() => instance.closeSync());

it('What comes after rows have gone is in a tail of its own until nobody reads those', async () => {
  const tails = new Tails(connection, 1);
  const before = await tails.open(FIELDS, new Set([1]));
  const release = tails.hold();
  const after = await tails.open(FIELDS, new Set([2]));
  expect(after).not.toBe(before);
  expect(await tails.open(FIELDS, new Set([3]))).toBe(after);
  release();
  expect(await tails.open(FIELDS, new Set([3]))).toBe(after);
  tails.hold()();
  expect(await tails.open(FIELDS, new Set([4]))).toBe(after);
});

it('A file that is another one by now is not read for the one that was found', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logquay-tails-'));
  try {
    await writeFile(join(dataDir, 'x.ndjson'), '{"id":"of another file"}\n');
    const tails = new Tails(connection, 2);
    const faults: string[] = [];
    const reader = new TailReader({
      dataDir,
      connection,
      fields: new TableFields(FIELDS, null),
      tails,
      parts: new TableParts({ name: 'x', connection, folder: dataDir, index: 2, declared: null }),
      isEmpty: () => true,
      onLeftOut: () => undefined,
      onFault: (_, fault) => faults.push(fault),
    });
    const file = {
      table: 'x',
      path: 'x.ndjson',
      identity: 'another',
      format: 'lines',
      compression: 'none',
      family: 'x.ndjson',
      rotated: false,
      size: 25,
      modified: 1n,
    } as const;
    const source = new Source(1, file);
    await reader.read(source);
    await reader.read(new Source(2, { ...file, path: 'gone.ndjson' }));
    expect([tails.rows, source.read.position.offset, source.replaced, source.isChanged, faults]).toEqual([
      0,
      0,
      false,
      true,
      [],
    ]);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});
