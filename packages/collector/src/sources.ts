import { MOST_OF_LIST, readBoundedSync, systemCode } from '@logquay/duckdb-engine/files';

/** Which table each source of logs feeds, by its name or UUID in lower case. */
export type Sources = ReadonlyMap<string, string>;

/** The sources of a Supabase stack, as its Vector names them. */
const STOCK: readonly (readonly [source: string, table: string])[] = [
  ['cloudflare.logs.prod', 'raw_edge_logs'],
  ['postgres.logs', 'raw_postgres_logs'],
  ['deno-relay-logs', 'raw_function_edge_logs'],
  ['deno-subhosting-events', 'raw_function_logs'],
  ['gotrue.logs.prod', 'raw_auth_logs'],
  ['realtime.logs.prod', 'raw_realtime_logs'],
  ['storage.logs.prod.2', 'raw_storage_logs'],
  ['postgREST.logs.prod', 'raw_postgrest_logs'],
  ['pgbouncer.logs.prod', 'raw_pgbouncer_logs'],
];

/** A file of sources that cannot be used; its message is for operators. */
export class SourcesError extends Error {
  override readonly name = 'SourcesError';
}

const MOST_SOURCES = 1000;
/** A folder of DATA_DIR that is read as a table, whatever the file system thinks of letter case. */
const TABLE = /^[a-z][a-z0-9_]{0,127}$/;

/**
 * The stock sources, and those of a settings file: an object from a source's name or UUID to the table that it feeds.
 *
 * @param file null: there is none
 * @param setting what names the file
 * @throws SourcesError for a file that is not such an object
 */
export function readSources(file: string | null, setting = 'COLLECT_SOURCES'): Sources {
  const sources = new Map(STOCK.map(([source, table]) => [source.toLowerCase(), table]));
  if (file === null) return sources;
  for (const [source, table] of Object.entries(readObject(file, setting))) {
    if (typeof table !== 'string' || !TABLE.test(table)) {
      throw new SourcesError(
        `${setting}: the table of "${source}" must be a name of lower-case letters, digits and "_".`,
      );
    }
    sources.set(source.toLowerCase(), table);
  }
  if (sources.size > MOST_SOURCES) {
    throw new SourcesError(`${setting}: allowed are ${String(MOST_SOURCES)} sources.`);
  }
  return sources;
}

function readObject(file: string, setting: string): object {
  let value: unknown;
  try {
    value = JSON.parse(readBoundedSync(file, MOST_OF_LIST).toString());
  } catch (error) {
    throw new SourcesError(`${setting}: ${file} cannot be read: ${systemCode(error) ?? 'it is no JSON'}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new SourcesError(`${setting}: ${file} must be an object from names of sources to tables.`);
}
