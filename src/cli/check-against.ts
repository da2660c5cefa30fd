import { resolverOf, StoredAnalyses, storedQueryOf } from '../analysis/stored-analyses';
import { readSources } from '@logquay/collector';
import { type Config, readConfig } from '../config';
import { check, type CheckOptions } from '../endpoints/check';
import { readCatalogue } from '../endpoints/directory';
import type { Endpoint } from '../endpoints/endpoint';
import type { Engine } from '@logquay/duckdb-engine/contract';
import { DECLARED_TABLES } from '../engines/log-schema';
import { ServiceError } from '../errors';
import { KeysFileError, readKeysFile } from '../keys/keys-file';
import { openLog } from '../log';
import { typicalValues } from '../sandbox/cte-columns';
import { Gate } from '../sandbox/gate';
import type { Surroundings } from './surroundings';

/** The embedded engine's resolver knows every CTE table itself. */
const NO_GATE = { columns: () => Promise.reject(new Error('There is no gate here.')) };

/** Said where a table is not found, and nobody has said where tables are. */
export const SAMPLES_ALONE = 'DATA_DIR is not set, so the tables are those of the sample logs.';

/**
 * Analyses against the tables that the embedded engine would have, none of whose rows are read.
 *
 * @param missed told when a query names another table
 * @throws DataFault for data that the service could not start with
 */
async function schemaAnalyses({ duckdb, cacheDir }: Config, missed: () => void): Promise<StoredAnalyses> {
  const { openSchemaEngine } = await import('@logquay/duckdb-engine/in-process');
  const engine = await openSchemaEngine({ ...duckdb, cacheDir, declared: DECLARED_TABLES });
  const tables: typeof engine.tables = async (paths, limits) => {
    const found = await engine.tables(paths, limits);
    if (paths.some((path) => !found.schemas.has(path.join('.')))) missed();
    return found;
  };
  return new StoredAnalyses({ ...engine, tables }, NO_GATE);
}

export type CheckEngine = 'duckdb' | 'bigquery';

const TIB = 2 ** 40;
/** Milliseconds for the dry run of one stored query. */
const PATIENCE = 30_000;

/**
 * Checks a folder of stored queries against the tables of an engine, and the keys file. Says what of the settings has no effect.
 *
 * @param engine null: the one that the settings choose, if it can be asked without an account
 * @returns whether there is no fault
 * @throws ConfigError, DataFault as at a start
 */
export async function checkAgainst(
  directory: string,
  engine: CheckEngine | null,
  environment: Surroundings['environment'],
  { out, note }: Pick<Surroundings, 'out' | 'note'>,
): Promise<boolean> {
  const config = readConfig(engine === null ? environment : { ...environment, ENGINE: engine });
  for (const warning of config.warnings) note(`warning: ${warning}`);
  const keyFaults = await faultsOfKeys(config.keysFile);
  for (const fault of keyFaults) out(`${config.keysFile}: ${fault}`);
  const passes = (code: number): boolean => code === 0 && keyFaults.length === 0;
  if (config.engine === 'duckdb') {
    let isMissed = false;
    const analyses = await schemaAnalyses(config, () => (isMissed = true));
    const code = await check(directory, out, { resolve: resolverOf(analyses) });
    if (isMissed && code !== 0 && config.duckdb.dataDir === null) note(SAMPLES_ALONE);
    return passes(code);
  }
  if (engine === null) {
    note('Settings and syntax are checked. --engine bigquery resolves against the tables of BigQuery, in dry runs.');
    return passes(await check(directory, out, { resolve: null }));
  }
  const { files } = await readCatalogue(directory);
  const endpoints = files.flatMap(({ definition }) => definition.endpoint ?? []);
  const { openEngine } = await import('../app.js');
  const bigquery = await openEngine({ ...config, sandboxDryRun: false }, { current: () => endpoints }, SILENT);
  const gate = new Gate(bigquery);
  try {
    const resolve = resolverOf(new StoredAnalyses(bigquery, gate));
    return passes(await check(directory, out, { resolve, about: costOf(bigquery, config.pricePerTiB) }));
  } finally {
    await gate.close();
    await bigquery.close();
  }
}

/** What is wrong with the keys file; none where there is no such file. */
async function faultsOfKeys(file: string): Promise<readonly string[]> {
  try {
    return (await readKeysFile(file)).faults;
  } catch (error) {
    if (!(error instanceof KeysFileError)) throw error;
    return error.missing ? [] : [error.message];
  }
}

const SILENT = openLog('silent', process.stderr);

/** What a run without a consumer query would read at most, with typical values of the parameters. */
function costOf({ dryRun }: Engine, pricePerTiB: number): NonNullable<CheckOptions['about']> {
  return async (endpoint: Endpoint) => {
    if (dryRun === null) return '';
    const stored = storedQueryOf(endpoint);
    // How much that is depends on the times that a caller has to give.
    if ((stored.requiredInstants ?? []).length > 0) return '';
    const { sql, maxRows } = endpoint;
    const parameters = typicalValues(stored);
    const labels = { endpoint: endpoint.name, kind: 'run' };
    const query = { sql, parameters, maxRows, hideBytes: false, maxBytesBilled: null, stored: true, labels };
    const limits = { deadline: performance.now() + PATIENCE, signal: new AbortController().signal };
    try {
      const { bytesProcessed, bytesBilled } = await dryRun(query, limits);
      const price = (Number(bytesBilled) / TIB) * pricePerTiB;
      return `reads ${bytesProcessed.toString()} bytes without parameters, ${price.toFixed(4)} USD`;
    } catch (error) {
      if (error instanceof ServiceError) return '';
      throw error;
    }
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Views on the tables that Logflare writes, which are their sources' UUIDs with underscores: paths by the names of the views.
 *
 * @param file sources and their tables, as `import-logflare` writes it
 * @param dataset `project.dataset`
 * @throws ConfigError for a file that is not such a map
 */
export function sourceViews(file: string, dataset: string): ReadonlyMap<string, readonly string[]> {
  const tables = [...readSources(file, '--sources').tables].filter(([source]) => UUID.test(source));
  return new Map(tables.map(([id, table]) => [table, [...dataset.split('.'), id.replaceAll('-', '_')]]));
}
