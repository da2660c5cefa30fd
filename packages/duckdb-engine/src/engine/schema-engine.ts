/** The embedded engine's reading of queries, without its rows. */
import { columnsOf, type TableSchema } from '@logquay/googlesql/types';
import { Threads } from '../concurrency/threads/threads';
import type { Engine } from '../contract/contract';
import { wholeTable } from '../data/part';
import { folderSchemas } from '../follow/folder-schemas';
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
  const samples = (): TableSchema[] =>
    Array.from(options.declared, ([name, fields]) => ({ name, columns: columnsOf(fields) }));
  const schemas = dataDir === null ? samples() : await folderSchemas(dataDir, options);
  const tables = new Map(schemas.map((schema) => [schema.name, wholeTable(schema, quoteName(schema.name))]));
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
