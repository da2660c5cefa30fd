import { makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from 'apache-arrow';

import { appendRow, arrowColumn } from './arrow-columns';
import type { Incoming } from './incoming';
import type { Opening } from './opening';
import type { Outgoing } from './outgoing';

/** Bytes of rows as text that make a record batch. */
const BATCH = 8 * 1024 * 1024;

/** Arrow's own writer, which waits until what it has written is taken. */
class StreamWriter extends RecordBatchStreamWriter {
  constructor(private readonly outgoing: Outgoing) {
    super();
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (this._started) {
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.outgoing.write(bytes);
      this._position += bytes.length;
    }
    return this;
  }
}

/** Writes rows as an Arrow IPC stream. @throws Error for rows that are not of their columns, and what `incoming` throws */
export function writeArrow({ columns: given }: Opening, incoming: Incoming, outgoing: Outgoing): void {
  const columns = given.map(arrowColumn);
  const schema = new Schema(columns.map(({ field }) => field));
  const type = new Struct(schema.fields);
  const writer = new StreamWriter(outgoing);
  let size = 0;
  let rows = 0;
  const flush = (): void => {
    const children = columns.map((column) => column.take());
    writer.write(new RecordBatch(schema, makeData({ type, length: rows, nullCount: 0, children })));
    [size, rows] = [0, 0];
  };
  for (let part = incoming.next(); part !== null; part = incoming.next()) {
    const text = part.toString();
    for (let at = 0; at < text.length; rows++) {
      const end = text.indexOf('\n', at);
      appendRow(columns, text.slice(at, end));
      at = end + 1;
    }
    size += part.length;
    if (size >= BATCH) flush();
  }
  // Without rows, a batch of none: the columns are known by it.
  flush();
  writer.finish();
}
