/** The embedded engine's reading of queries, without its rows. */
import { Threads } from '../concurrency/threads/threads';
import { columnsOf } from '@logquay/googlesql/types';
import type { Engine } from '../contract/contract';
import { wholeTable } from '../data/part';
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
  const fields = dataDir === null ? declared : await folderSchemas(dataDir, declared);
  const tables = new Map(
    Array.from(fields, ([name, columns]) => [name, wholeTable({ name, columns: columnsOf(columns) }, quoteName(name))]),
  );
  const byName = { tables: [...tables.values()], find: (name: string) => tables.get(name) };
  const translations = new Translations(new Threads());
  const reading = { hideBytes: false, maxRows: 1, stored: true, fence: null };
  return {
    kind: 'duckdb',
    target: 'schemas',
    tables(paths) {
      const known = paths.flatMap(([name = '', ...rest]) => (rest.length > 0 ? [] : (tables.get(name)?.schema ?? [])));
      const schemas = new Map(known.map((schema) => [schema.name, schema]));
      return Promise.resolve({ schemas, names: [...tables.keys()] });
    },
    async describe(sql, parameters, limits) {
      return (await translations.translation(sql, parameters, reading, byName, limits)).columns;
    },
  };
}
