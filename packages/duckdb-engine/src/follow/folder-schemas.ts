/** The schemas of a data folder without its rows, for who checks queries and serves none. */
import type { TableSchema } from '@logquay/googlesql/types';
import type { Shard } from '../data/part';
import { describedTables } from '../data/schemas';
import { schemaOf } from '../data/time-column';
import type { DuckDbOptions } from '../engine/options';
import { addFields, firstFields, oldestFirst } from './first-fields';
import { filesByTable, scanFolder, shardsOf } from './folder-scan';
import { NO_FIELDS, TableFields } from './inferred-schema';
import { readCatalogue } from './store';

export interface FolderSchemas {
  readonly schemas: readonly TableSchema[];
  /** Of tables that have some. */
  readonly shards: ReadonlyMap<string, readonly Shard[]>;
}

/**
 * The described tables, those that a service has read, and those that only their files describe. A file that cannot be read tells
 * nothing.
 *
 * @throws DataFault for an invalid `schema.json`
 */
export async function folderSchemas(
  dataDir: string,
  options: Pick<DuckDbOptions, 'declared' | 'schemaFile'> & { readonly cacheDir?: string | null },
): Promise<FolderSchemas> {
  const described = await describedTables(dataDir, options);
  const { cacheDir = null } = options;
  const known = cacheDir === null ? new Map<string, never>() : await readCatalogue(cacheDir, dataDir);
  const scan = await scanFolder(dataDir, (table) => described.has(table));
  const found = filesByTable(scan);
  const schemas: TableSchema[] = [];
  for (const name of new Set([...described.keys(), ...found.keys()])) {
    const declared = described.get(name) ?? null;
    const fields = new TableFields(declared, known.get(name) ?? NO_FIELDS);
    const files = oldestFirst(found.get(name) ?? []);
    const isNew = fields.isUnknown;
    if (isNew) fields.begin(await firstFields(dataDir, files));
    for (const file of files) {
      if (!isNew && fields.times.undecided(fields.all).length === 0) break;
      await addFields(dataDir, file, fields);
    }
    if (fields.all.length > 0) schemas.push(schemaOf(name, fields.all, fields.times.units));
  }
  const shards = new Map<string, readonly Shard[]>();
  for (const [table, files] of found) {
    const own = shardsOf(table, files.entries());
    if (own !== undefined) shards.set(table, own);
  }
  return { schemas, shards };
}
