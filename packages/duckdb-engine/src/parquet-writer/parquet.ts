import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { BLOB, blobValue, DuckDBInstance, DuckDBTableFunction } from '@duckdb/node-api';

import { quoteName, quoteText } from '../sql';
import { type Column, type ColumnType, DECIMAL, type Opening, type Outgoing } from './opening';
import type { Incoming } from './incoming';

/** Bytes that are copied at once. */
const BLOCK = 256 * 1024;

/** The file has more bytes than it may have. */
export class FileTooLarge extends Error {}

/**
 * A file that somebody else writes, from its beginning to its end, and that is sent meanwhile. It loses its name as soon as it is
 * there, where the system allows that: nothing is left of it, however the processes end that have it open.
 */
export class GrowingFile {
  readonly #buffer = Buffer.allocUnsafeSlow(BLOCK);
  #fd: number | null = null;
  #sent = 0;

  constructor(
    private readonly path: string,
    private readonly maxBytes: number,
  ) {
    // What is in it is nobody else's.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }

  /** Sends what has been written since, where that is `least` bytes. @throws FileTooLarge */
  forward(outgoing: Outgoing, least: number): void {
    this.#fd ??= this.#open();
    const { size } = fstatSync(this.#fd);
    if (size > this.maxBytes) throw new FileTooLarge(`The file has more than ${String(this.maxBytes)} bytes.`);
    if (size - this.#sent < least) return;
    while (this.#sent < size) {
      const length = Math.min(BLOCK, size - this.#sent);
      const count = readSync(this.#fd, this.#buffer, 0, length, this.#sent);
      outgoing.write(this.#buffer.subarray(0, count));
      this.#sent += count;
    }
  }

  remove(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#unlink();
  }

  #open(): number {
    const fd = openSync(this.path, 'r');
    this.#unlink();
    return fd;
  }

  #unlink(): void {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // Windows keeps a file that is open: it goes at the end, or at the service's next start.
    }
  }
}

/** SQL that reads rows as JSON text into the columns of a Parquet file. */

/**
 * A SELECT of the columns over a relation.
 *
 * @param from has one column, `line`: the text of one row
 */
function selectColumns(columns: readonly Column[], from: string): string {
  const structure = quoteText(JSON.stringify(structureOf(columns)));
  const row = 'r';
  const values = columns.map(({ name, type }) => {
    const quoted = quoteName(name);
    return `${valueOf(`${row}.${quoted}`, type, 0)} AS ${quoted}`;
  });
  return `SELECT ${values.join(', ')} FROM (SELECT from_json_strict(line, ${structure}) AS ${row} FROM ${from})`;
}

type Structure = string | readonly [Structure] | { readonly [name: string]: Structure };

function structureOf(columns: readonly Column[]): Structure {
  return Object.fromEntries(columns.map(({ name, type }) => [name, writtenAs(type)]));
}

/** The type that a value's JSON is read as. */
function writtenAs(type: ColumnType): Structure {
  switch (type.kind) {
    case 'list':
      return [writtenAs(type.element)];
    case 'record':
      return structureOf(type.fields);
    case 'int64':
    case 'timestamp':
      return 'BIGINT';
    case 'float64':
      return 'DOUBLE';
    case 'bool':
      return 'BOOLEAN';
    case 'json':
      return 'JSON';
    case 'decimal':
    case 'text':
    case 'bytes':
    case 'date':
    case 'time':
    case 'datetime':
      return 'VARCHAR';
  }
}

/** @param depth of the lists around it: each has a name of its own for its element */
function valueOf(value: string, type: ColumnType, depth: number): string {
  switch (type.kind) {
    case 'list': {
      const element = `e${String(depth)}`;
      const inner = valueOf(element, type.element, depth + 1);
      return inner === element ? value : `list_transform(${value}, lambda ${element}: ${inner})`;
    }
    case 'record': {
      const fields = type.fields.map(({ name, type: field }) => {
        const written = `struct_extract(${value}, ${quoteText(name)})`;
        return { name, written, read: valueOf(written, field, depth) };
      });
      if (fields.every(({ written, read }) => written === read)) return value;
      const packed = fields.map(({ name, read }) => `${quoteName(name)} := ${read}`).join(', ');
      return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${packed}) END`;
    }
    case 'timestamp':
      return `make_timestamp(${value})::TIMESTAMPTZ`;
    case 'decimal':
      return `${value}::DECIMAL(${String(DECIMAL.precision)}, ${String(DECIMAL.scale)})`;
    case 'bytes':
      return `from_base64(${value})`;
    case 'date':
      return `${value}::DATE`;
    case 'time':
      return `${value}::TIME`;
    case 'datetime':
      return `${value}::TIMESTAMP`;
    case 'int64':
    case 'float64':
    case 'bool':
    case 'text':
    case 'json':
      return value;
  }
}

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
