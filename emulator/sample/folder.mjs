// @ts-check
/** Reading a folder of tables. Plain JavaScript: the loader runs where nothing of this folder is installed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/**
 * A column as BigQuery's API writes it.
 * @typedef {{ name: string, type: string, mode?: string, fields?: TableField[] }} TableField
 *
 * A table: its columns, and its rows as the text of one JSON object each.
 * @typedef {{ id: string, fields: TableField[], lines: string[] }} SourceTable
 */

/**
 * Reads `schema.json` (`{"raw_edge_logs": {"fields": [...]}}`, BigQuery's REST form) and beside it `<table>.ndjson` or
 * `<table>.ndjson.gz`. A table without a file is empty. Throws for rows that have no schema.
 * @param {string} folder
 * @returns {SourceTable[]}
 */
export function readFolder(folder) {
  /** @type {Record<string, { fields: TableField[] }>} */
  const schema = JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8'));
  /** @type {Map<string, string[]>} */
  const lines = new Map();
  for (const file of readdirSync(folder).sort()) {
    const match = /^(.+)\.ndjson(\.gz)?$/.exec(file);
    if (match === null) continue;
    const [, id = '', zipped] = match;
    if (!Object.hasOwn(schema, id)) throw new Error(`${join(folder, file)}: schema.json has no table ${id}`);
    const bytes = readFileSync(join(folder, file));
    const text = (zipped === undefined ? bytes : gunzipSync(bytes)).toString('utf8');
    lines.set(id, [...(lines.get(id) ?? []), ...text.split('\n').filter((line) => line.trim() !== '')]);
  }
  return Object.entries(schema).map(([id, { fields }]) => ({ id, fields, lines: lines.get(id) ?? [] }));
}
