/** The embedded engine's reading of queries, without its rows. */
import { columnsOf } from '@logquay/googlesql/types';
import { Threads } from '../concurrency/threads/threads';
import type { Engine } from '../contract/contract';
import { nameIn } from '../contract/table-names';
import { wholeTable } from '../data/part';
import { NamedTables } from '../data/named-tables';
import { type FolderSchemas, folderSchemas } from '../follow/folder-schemas';
import { quoteName } from '../sql';
import type { DuckDbOptions } from './options';
import { Translations } from './translation-cache';

interface SchemaOptions extends Pick<DuckDbOptions, 'dataDir' | 'declared' | 'schemaFile'> {
  /** Of the service, which knows types that its tables have; missing or null: not known. */
  readonly cacheDir?: string | null;
}

export type SchemaEngine = Pick<Engine, 'kind' | 'target' | 'tables' | 'describe'>;

/**
 * Resolves and translates queries over the tables that the embedded engine would have, none of whose rows it reads.
 *
 * @throws DataFault for data that the service could not start with
 */
export async function openSchemaEngine({ dataDir, ...options }: SchemaOptions): Promise<SchemaEngine> {
  const samples = (): FolderSchemas => ({
    schemas: Array.from(options.declared, ([name, fields]) => ({ name, columns: columnsOf(fields) })),
    shards: new Map(),
  });
  const { schemas, shards } = dataDir === null ? samples() : await folderSchemas(dataDir, options);
  const tables = new Map(
    schemas.map((schema) => {
      const table = wholeTable(schema, quoteName(schema.name));
      return [schema.name, { ...table, shards: shards.get(schema.name) }] as const;
    }),
  );
  const stored = new NamedTables(tables);
  const byName = { tables: [...tables.values()], find: (name: string) => stored.find(name) };
  const translations = new Translations(new Threads());
  const reading = { hideBytes: false, maxRows: 1, stored: true, fence: null };
  return {
    kind: 'duckdb',
    target: 'schemas',
    tables(paths) {
      const known = paths.flatMap((path) => {
        const schema = stored.find(nameIn(path))?.schema;
        return schema === undefined ? [] : [[path.join('.'), schema] as const];
      });
      return Promise.resolve({ schemas: new Map(known), names: [...tables.keys()] });
    },
    async describe(sql, parameters, limits) {
      return (await translations.translation(sql, parameters, reading, byName, limits)).columns;
    },
  };
}
