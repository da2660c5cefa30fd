import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DuckDBInstance } from '@duckdb/node-api';

import { faultKind } from '../../src/follow/folder-faults';

/** What a file is set aside for is in the log: of DuckDB's messages, which may hold rows, only the kind. */
describe('The kind of a fault', () => {
  let folder: string;
  let instance: DuckDBInstance;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'logquay-fault-'));
    instance = await DuckDBInstance.create(':memory:', { memory_limit: '10MB', max_temp_directory_size: '0B' });
  });

  afterAll(() => {
    instance.closeSync();
    rmSync(folder, { recursive: true });
  });

  const failureOf = async (sql: string): Promise<unknown> => {
    const connection = await instance.connect();
    try {
      await connection.run(sql);
      throw new TypeError('it did not fail');
    } catch (error) {
      return error;
    } finally {
      connection.closeSync();
    }
  };

  it.each([
    [
      'memory that ran out',
      "SELECT list(repeat('secret', 100000) || i) FROM range(1000) AS t(i)",
      'Out of Memory Error',
    ],
    ['a value', "SELECT CAST('secret' AS INT)", 'Conversion Error'],
    ['no table', 'SELECT * FROM secret', 'Catalog Error'],
  ])('names %s by no value', async (_, sql, kind) => {
    expect(faultKind(await failureOf(sql))).toBe(kind);
  });

  it("names what the system says by the system's code", async () => {
    const error = await readFile(join(folder, 'secret')).catch((reason: unknown) => reason);
    expect(faultKind(error)).toBe('ENOENT');
    expect(faultKind(new Error('IO Error: Could not write file "secret": No space left on device'))).toBe(
      'no space left',
    );
    expect(faultKind(new Error('IO Error: Cannot open file "secret": Permission denied'))).toBe('EACCES');
    expect(faultKind(new Error('TransactionContext Error: Failed to commit: could not allocate block of size 1'))).toBe(
      'Out of Memory Error',
    );
    expect(faultKind(new Error('secret'))).toBe('unknown');
  });
});
