import path from 'node:path';

import { readConfig } from '../../config';
import type { Catalogue } from '../../endpoints/catalogue';
import type { Endpoint } from '../../endpoints/endpoint';
import { type Log, openLog } from '../../log';
import { type LocalRunner, openLocalRunner } from '../local-runner';
import { type DataSet, writeDataSet } from './data-set';
import { type LocalBigQuery, startLocalBigQuery } from './local-bigquery';
import { TestFileError } from './test-file';

export type EngineName = 'duckdb' | 'bigquery';

/**
 * Opens an engine over the tables of tests, and over nothing else: no setting of the environment reaches it.
 *
 * @throws TestFileError for rows that do not fit their table
 */
export async function openEngineOfTests(
  engine: EngineName,
  data: DataSet,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<LocalRunner> {
  const { folder, remove } = await writeDataSet(data);
  const dataDir = path.join(folder, 'data');
  let local: LocalBigQuery | null = null;
  const end = async (): Promise<void> => {
    await local?.close();
    await remove();
  };
  try {
    if (engine === 'bigquery') local = await startLocalBigQuery(dataDir, data.clock);
    const config = readConfig({
      ENGINE: engine,
      CACHE_DIR: path.join(folder, 'cache'),
      ...(local === null ? { DATA_DIR: dataDir } : { BIGQUERY_EMULATOR_HOST: local.host, BIGQUERY_LOCATION: 'US' }),
      ...(data.clock === null ? {} : { CLOCK: data.clock }),
    });
    const faults: string[] = [];
    const runner = await openLocalRunner(config, catalogueOf(endpoint), recordingLog(faults), signal);
    if (faults.length > 0) {
      await runner.close();
      throw new TestFileError(`The tables cannot be loaded:\n${faults.join('\n')}`);
    }
    return {
      run: (request, key, runSignal) => runner.run(request, key, runSignal),
      close: async () => {
        await runner.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function catalogueOf(endpoint: Endpoint): Catalogue {
  return {
    current: () => [endpoint],
    find: (idOrName) => (idOrName === endpoint.id ? endpoint : null),
    isBroken: () => false,
    resolution: () => null,
    resolveWith: () => Promise.resolve([]),
    close: () => undefined,
  };
}

/** Rows that do not fit are only logged by an engine; in a test they are a mistake. */
function recordingLog(faults: string[]): Log {
  const silent = openLog('silent', { write: () => true });
  const record = (facts: object, message: string): void => void faults.push(`${message} ${JSON.stringify(facts)}`);
  return Object.assign(Object.create(silent) as Log, { warn: record, error: record });
}
