import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { readConfig } from '../../config';
import type { Catalogue } from '../../endpoints/catalogue';
import type { Endpoint } from '../../endpoints/endpoint';
import { type Log, openLog } from '../../log';
import { type LocalRunner, openLocalRunner } from '../local-runner';
import { type DataSet, writeDataSet } from './data-set';
import { TestFileError } from './test-file';

/** A development tool of a checkout: no installation of the service brings it. */
const SCRIPT = path.join(__dirname, '../../../emulator/start.js');

export interface LocalBigQuery {
  /** `127.0.0.1:PORT`, as BIGQUERY_EMULATOR_HOST takes it. */
  readonly host: string;
  /** Resolves when its process has ended. */
  close(): Promise<void>;
}

/**
 * Starts a local BigQuery of one's own over the tables of a folder. It ends with this process, however that ends.
 *
 * @param clock the present of its queries; null: the real one
 * @throws Error where it is not installed, or with what it printed where it does not start
 */
export async function startLocalBigQuery(data: string, clock: string | null): Promise<LocalBigQuery> {
  if (!existsSync(SCRIPT)) {
    throw new Error(
      'The local BigQuery comes with a checkout of the repository (emulator/), not with this installation.',
    );
  }
  const args = [SCRIPT, '--tied', '--port', '0', '--data', data, ...(clock === null ? [] : ['--clock', clock])];
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  const closed = once(child, 'close');
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.stdin.on('error', () => undefined);
  const host = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/(\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('error', reject).on('close', () => {
      reject(new Error(complaint.trim() || 'The local BigQuery ended before it listened.'));
    });
  });
  return {
    host,
    close: async () => {
      child.stdin.end();
      await closed;
    },
  };
}

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
      TABLES: 'off',
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
    serve: () => undefined,
    close: () => undefined,
  };
}

/** Rows that do not fit are only logged by an engine; in a test they are a mistake. */
function recordingLog(faults: string[]): Log {
  const silent = openLog('silent', { write: () => true });
  const record = (facts: object, message: string): void => void faults.push(`${message} ${JSON.stringify(facts)}`);
  return Object.assign(Object.create(silent) as Log, { warn: record, error: record });
}
