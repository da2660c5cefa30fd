/** The embedded engine's reading of queries, without its rows. */
import { Threads } from '../../../concurrency/threads';
import { columnsOf, type RestField } from '../../../googlesql/rest-schema';
import type { Engine } from '../../contract';
import { LOG_SCHEMA } from '../../log-schema';
import { wholeTable } from '../data/part';
import { describedTables } from '../data/schemas';
import { findSources } from '../data/sources';
import { quoteName } from '../sql';
import type { Log } from './log';
import { Translations } from './translation-cache';

export type SchemaEngine = Pick<Engine, 'kind' | 'target' | 'tables' | 'describe'>;

/**
 * Resolves and translates queries over the tables that the embedded engine would have, none of whose rows it reads.
 *
 * @param dataDir null: the tables of the sample logs
 * @throws DataFault for data that the service could not start with
 */
export async function openSchemaEngine(dataDir: string | null, log: Log): Promise<SchemaEngine> {
  const fields = dataDir === null ? LOG_SCHEMA : await fieldsOf(dataDir, log);
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

/** Where nothing describes a table, its files do. */
async function fieldsOf(dataDir: string, log: Log): Promise<ReadonlyMap<string, readonly RestField[]>> {
  const described = await describedTables(dataDir);
  for (const source of await findSources(dataDir)) {
    if (described.has(source.table)) continue;
    const { inferred } = await import('../data/tables.js');
    described.set(source.table, await inferred(source, log));
  }
  return described;
}
