import { BLOB, blobValue, DuckDBInstance, DuckDBTableFunction } from '@duckdb/node-api';

import { quoteText } from '../../engines/duckdb/sql';
import { GrowingFile } from './growing-file';
import type { Incoming } from './incoming';
import type { Opening } from './opening';
import type { Outgoing } from './outgoing';
import { selectColumns } from './parquet-select';

/** What DuckDB may take, row groups that are being written included. */
const MEMORY = '512MiB';
/** A row group is written when it has so many bytes of values, or DuckDB's own number of rows. */
const ROW_GROUP = '64MB';
/** Bytes of the file that are sent together, at least: a failure before them can be answered as any other. */
const LEAST_SENT = 64 * 1024;

/** Writes rows as Parquet, by a DuckDB of its own. @throws FileTooLarge, and what `incoming` and DuckDB throw */
export async function writeParquet(
  { columns, file: { path, maxBytes } }: Opening,
  incoming: Incoming,
  outgoing: Outgoing,
): Promise<void> {
  const file = new GrowingFile(path, maxBytes);
  const database = await DuckDBInstance.create(':memory:', {
    // One thread keeps the order of the rows, and leaves the other processors to the engine.
    threads: '1',
    max_memory: MEMORY,
    temp_directory: '',
    // Else row groups have no bound in bytes.
    preserve_insertion_order: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  try {
    const connection = await database.connect();
    await connection.run(`SET TimeZone = 'UTC'`);
    let failure: { readonly error: unknown } | null = null;
    const lines = DuckDBTableFunction.create({
      name: 'incoming',
      bindFunction: (bind) => bind.addResultColumn('part', BLOB),
      initFunction: (init) => init.setMaxThreads(1),
      mainFunction: (call, chunk) => {
        chunk.rowCount = 0;
        try {
          file.forward(outgoing, LEAST_SENT);
          const part = incoming.next();
          if (part === null) return;
          chunk.rowCount = 1;
          // Without the last line break, behind which there is no line.
          chunk.setColumnValues(0, [blobValue(part.subarray(0, -1))]);
        } catch (error) {
          failure = { error };
          call.setError('There are no more rows.');
        }
      },
    });
    connection.registerTableFunction(lines);
    const from = `(SELECT unnest(string_split(decode(part), chr(10))) AS line FROM incoming())`;
    const options = `FORMAT parquet, ROW_GROUP_SIZE_BYTES '${ROW_GROUP}', USE_TMP_FILE false`;
    await connection
      .run(`COPY (${selectColumns(columns, from)}) TO ${quoteText(path)} (${options})`)
      .catch((error: unknown) => {
        throw failure === null ? error : failure.error;
      });
    file.forward(outgoing, 0);
  } finally {
    file.remove();
  }
}
