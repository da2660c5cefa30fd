import { StoredAnalyses } from '../analysis/stored-analyses';
import { openLog } from '../log';

/** The embedded engine's resolver knows every CTE table itself. */
const NO_GATE = { columns: () => Promise.reject(new Error('There is no gate here.')) };

/**
 * Analyses against the tables that the embedded engine would have, none of whose rows are read.
 *
 * @param dataDir null: the tables of the sample logs
 * @throws DataFault for data that the service could not start with
 */
export async function schemaAnalyses(dataDir: string | null): Promise<StoredAnalyses> {
  const { openSchemaEngine } = await import('../engines/duckdb/engine/schema-engine.js');
  return new StoredAnalyses(await openSchemaEngine(dataDir, openLog('warn', process.stderr)), NO_GATE);
}
