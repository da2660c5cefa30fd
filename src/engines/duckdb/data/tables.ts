import { DuckDBInstance } from '@duckdb/node-api';
import type { RestField } from '../../../googlesql/rest-schema';
import type { Log } from '../engine/log';
import type { Resources } from './convert-table';
import { inferSchema } from './infer-schema';
import { describedTables } from './schemas';
import { findSources, type Source } from './sources';
import { fingerprintOf, TableCache } from './table-cache';
import { Watch } from './conversion-progress';

/** A table that queries may read. */
export interface DataTable {
  readonly name: string;
  readonly fields: readonly RestField[];
  /** A DuckDB file with the rows in table `rows` and the conversion's account in `about`; null: no rows. */
  readonly file: string | null;
  readonly fingerprint: string;
  /** Milliseconds that converting took; null: it had been done before, or there was nothing to convert. */
  readonly convertedIn: number | null;
}

export interface DataOptions {
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly resources: Resources;
  readonly log: Log;
}

/**
 * Every table of DATA_DIR, converted where that has not been done yet, and the described tables that have no data.
 *
 * @throws DataFault where the service cannot start with this data.
 */
export async function openTables({ dataDir, cacheDir, resources, log }: DataOptions): Promise<DataTable[]> {
  const sources = await findSources(dataDir);
  const described = await describedTables(dataDir);
  const cache = await TableCache.open(cacheDir, dataDir, resources);
  const tables: DataTable[] = [];
  for (const [i, source] of sources.entries()) {
    const fields = described.get(source.table) ?? (await inferred(source, log));
    described.delete(source.table);
    const fingerprint = fingerprintOf(source, fields);
    const started = performance.now();
    const place = sources.length === 1 ? '' : ` (table ${i + 1} of ${sources.length})`;
    const watch = new Watch(`${source.table}${place}`, log.progress ?? (() => undefined));
    const { path, converted } = await cache.file(source, fields, fingerprint, watch);
    const convertedIn = converted ? Math.round(performance.now() - started) : null;
    tables.push({ name: source.table, fields, file: path, fingerprint, convertedIn });
  }
  for (const [name, fields] of described) {
    tables.push({ name, fields, file: null, fingerprint: fingerprintOf(null, fields), convertedIn: null });
  }
  await cache.sweep();
  return tables;
}

/** The schema of a table that nothing describes. @throws DataFault */
export async function inferred(source: Source, log: Log): Promise<readonly RestField[]> {
  const instance = await DuckDBInstance.create(':memory:');
  try {
    const connection = await instance.connect();
    const fields = await inferSchema(connection, source);
    log.info({ table: source.table, fields: fields.length }, 'Schema inferred from the data: not in schema.json');
    connection.closeSync();
    return fields;
  } finally {
    instance.closeSync();
  }
}
