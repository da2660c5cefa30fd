/** The embedded engine's reading of queries, without its rows. */
import { Threads } from '../concurrency/threads/threads';
import { columnsOf } from '@logquay/googlesql/types';
import type { Engine } from '../contract/contract';
import { nameIn } from '../contract/table-names';
import { wholeTable } from '../data/part';
import { NamedTables } from '../data/named-tables';
import { folderSchemas } from '../follow/folder-schemas';
import { quoteName } from '../sql';
import type { DuckDbOptions } from './options';
import { Translations } from './translation-cache';

export type SchemaEngine = Pick<Engine, 'kind' | 'target' | 'tables' | 'describe'>;

/**
 * Resolves and translates queries over the tables that the embedded engine would have, none of whose rows it reads.
 *
 * @throws DataFault for data that the service could not start with
 */
export async function openSchemaEngine({
  dataDir,
  declared,
}: Pick<DuckDbOptions, 'dataDir' | 'declared'>): Promise<SchemaEngine> {
  const { schemas, shards } =
    dataDir === null ? { schemas: declared, shards: null } : await folderSchemas(dataDir, declared);
  const tables = new Map(
    Array.from(schemas, ([name, fields]) => {
      const table = wholeTable({ name, columns: columnsOf(fields) }, quoteName(name));
      return [name, { ...table, shards: shards?.get(name) }] as const;
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
