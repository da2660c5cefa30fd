import { resolverOf } from '../analysis/resolve-stored';
import { StoredAnalyses, storedQueryOf } from '../analysis/stored-analyses';
import { readConfig } from '../config';
import { check, type CheckOptions } from '../endpoints/check';
import { readCatalogue } from '../endpoints/directory';
import type { Endpoint } from '../endpoints/endpoint';
import { ServiceError } from '../errors';
import { typicalValues } from '../sandbox/cte-columns';
import { Gate } from '../sandbox/gate';
import type { Engine } from '../engines/contract';
import { openLog } from '../log';
import { schemaAnalyses } from './schema-analyses';
import type { Surroundings } from './surroundings';

export type CheckEngine = 'duckdb' | 'bigquery';

const TIB = 2 ** 40;
/** Milliseconds for the dry run of one stored query. */
const PATIENCE = 30_000;

/**
 * Checks a folder of stored queries against the tables of an engine.
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
  if (config.engine === 'duckdb') {
    const analyses = await schemaAnalyses(config.duckdb.dataDir);
    return passes(await check(directory, out, { resolve: resolverOf(analyses) }));
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

const passes = (code: number): boolean => code === 0;

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
