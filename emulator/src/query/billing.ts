import { type TableRead } from '../googlesql/tree';
import { fullName, type Table } from '../warehouse/warehouse';

const MIB = 1024 * 1024;

/** Bytes of the columns that a query reads, each once. A column of records counts whole, however little of it is read. */
export function readBytes(tables: readonly Table[], reads: readonly TableRead[]): number {
  const columns = new Map<string, Set<number>>();
  for (const read of reads) {
    const known = columns.get(read.table) ?? new Set();
    for (const index of read.columns) known.add(index);
    columns.set(read.table, known);
  }
  let bytes = 0;
  for (const table of tables) for (const index of columns.get(fullName(table)) ?? []) bytes += table.bytes[index] ?? 0;
  return bytes;
}

/** On demand BigQuery rounds up to the MiB and takes 10 MiB for each table at least; what reads nothing is free. */
export function billedBytes(processed: number, tables: number): number {
  if (processed === 0) return 0;
  return Math.max(Math.ceil(processed / MIB), 10 * tables) * MIB;
}
