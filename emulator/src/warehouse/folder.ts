import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { join } from 'node:path';
import { parseExact } from '../exact-json';
import { type TableField } from './schema';

/** A table of a folder: its schema, and its rows as JSON objects. */
export interface FolderTable {
  readonly id: string;
  readonly fields: readonly TableField[];
  readonly rows: readonly unknown[];
}

/**
 * Reads a folder of log tables: `schema.json` (`{"raw_edge_logs": {"fields": [...]}}`, BigQuery's REST form) and beside it
 * `<table>.ndjson` or `<table>.ndjson.gz`. A table without rows is empty. Throws for rows without a schema and for a
 * line that is no JSON, naming file and line.
 */
export function readFolder(folder: string): FolderTable[] {
  const schema = JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8')) as Record<
    string,
    { fields: TableField[] }
  >;
  const rows = new Map<string, unknown[]>();
  for (const file of readdirSync(folder).sort()) {
    const m = /^(.+)\.ndjson(\.gz)?$/.exec(file);
    if (m === null) continue;
    const id = m[1] ?? '';
    if (!Object.hasOwn(schema, id)) throw new Error(`${join(folder, file)}: schema.json has no table ${id}`);
    const bytes = readFileSync(join(folder, file));
    rows.set(id, [...(rows.get(id) ?? []), ...lines(join(folder, file), m[2] ? gunzipSync(bytes) : bytes)]);
  }
  return Object.entries(schema).map(([id, { fields }]) => ({ id, fields, rows: rows.get(id) ?? [] }));
}

function lines(file: string, bytes: Buffer): unknown[] {
  const rows: unknown[] = [];
  bytes
    .toString('utf8')
    .split('\n')
    .forEach((line, index) => {
      if (line.trim() === '') return;
      try {
        rows.push(parseExact(line));
      } catch {
        throw new Error(`${file}:${index + 1}: not JSON`);
      }
    });
  return rows;
}
