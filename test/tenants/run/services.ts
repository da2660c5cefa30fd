/** Two real processes of the service with the same keys and stored queries, each over one data set. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashOf, newSecretKey } from '../../../src/keys/secret-key';
import { startLocalBigQuery, type LocalBigQuery } from '../../local-bigquery';
import { Stage, type Started } from '../../process/started';
import { writeDataSets, type DataSize } from '../data/data-sets';
import { PROJECT, TENANT } from '../data/rows';
import type { TenantRequest } from '../requests/request';

export interface ServiceOptions {
  readonly engine: 'duckdb' | 'bigquery';
  /** Starts the services with `needsFence` of `src/run/fence.ts` denied: a run that must find differences. */
  readonly withoutFence: boolean;
  /** For the local BigQuery, beside where its data is. */
  readonly emulator: readonly string[];
  /** DuckDB's. */
  readonly threads: number;
  readonly size: DataSize;
  readonly seed: number;
}

export interface Services {
  readonly bases: readonly [string, string];
  readonly secrets: Readonly<Record<TenantRequest['key'], string>>;
  /** Why a request failed, as the service's log has it: the answer to HEAD has no body. */
  reasonOf(which: 0 | 1, requestId: string): Promise<string>;
  /** Appends what comes later of each data set, and waits until it is served. */
  grow(): Promise<void>;
  close(): Promise<void>;
}

const NOW = '2026-09-30T12:00:00Z';
const QUERIES = join(__dirname, '..', 'queries');
const WITHOUT_FENCE = join(__dirname, 'without-fence.js');

const METRICS_KEY = newSecretKey();
/** Milliseconds. */
const GROWN_WITHIN = 600_000;

const SETTINGS = {
  METRICS_KEY,
  MCP: 'on',
  HOST: '127.0.0.1',
  CLOCK: NOW,
  KEYS_FILE: 'keys.json',
  QUERY_TIMEOUT: '60',
  MAX_RUNNING_PER_KEY: '64',
  MAX_RUNNING: '64',
  MAX_WAITING: '1000',
  MAX_TAILS_PER_KEY: '1000',
};

/** Writes the data sets and starts a service over each, with a local BigQuery of its own on that engine. */
export async function startServices(options: ServiceOptions): Promise<Services> {
  const stage = new Stage();
  const locals: LocalBigQuery[] = [];
  const close = async (): Promise<void> => {
    await stage.end();
    await Promise.all(locals.map((local) => local.stop()));
  };
  try {
    const folders = [stage.folder(), stage.folder()] as const;
    const data = folders.map((folder) => join(folder, 'data')) as unknown as [string, string];
    const later = writeDataSets(data, options.size, options.seed);
    const secrets = { project: newSecretKey(), tenant: newSecretKey() };
    for (const folder of folders) {
      cpSync(QUERIES, join(folder, 'queries'), { recursive: true });
      writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: keys(secrets) }), { mode: 0o600 });
      mkdirSync(join(folder, 'cache'));
    }
    const start = async (folder: string, dataDir: string): Promise<Started> => {
      const fence = options.withoutFence ? { NODE_OPTIONS: `--require ${WITHOUT_FENCE}` } : {};
      const engine = await engineSettings(options, dataDir, locals);
      const started = stage.start({ ...SETTINGS, ...fence, ...engine, CACHE_DIR: join(folder, 'cache') }, folder);
      await started.logged(/"msg":"ready"/, 120_000);
      return started;
    };
    const started = await Promise.all([start(folders[0], data[0]), start(folders[1], data[1])]);
    const bases = await Promise.all(started.map((one) => one.base()));
    if (options.size.grows) await Promise.all(bases.map((base, i) => served(base, later[i]!.rowsBefore)));
    const grow = async (): Promise<void> => {
      if (!options.size.grows) return;
      for (const { append } of later) append();
      await Promise.all(bases.map((base, i) => served(base, later[i]!.rows)));
    };
    const reasonOf = async (which: 0 | 1, requestId: string): Promise<string> => {
      const [line] = await started[which].logged(new RegExp(`^.*"${requestId}".*"msg":"request".*$`, 'm'));
      return (JSON.parse(line) as { reason?: string }).reason ?? '';
    };
    return { bases: bases as [string, string], secrets, reasonOf, grow, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until a service has so many rows. */
async function served(base: string, rows: number): Promise<void> {
  const end = performance.now() + GROWN_WITHIN;
  for (let count = -1; count !== rows;) {
    if (performance.now() > end) throw new Error(`${String(count)} of ${String(rows)} rows are served.`);
    await sleep(100);
    const response = await fetch(`${base}/metrics`, { headers: { 'X-API-KEY': METRICS_KEY } });
    const counts = (await response.text()).matchAll(/^logquay_data_rows\{.*\} (\d+)$/gm);
    count = [...counts].reduce((sum, [, ofTable]) => sum + Number(ofTable), 0);
  }
}

async function engineSettings(
  { engine, emulator, threads }: ServiceOptions,
  dataDir: string,
  locals: LocalBigQuery[],
): Promise<Readonly<Record<string, string>>> {
  if (engine === 'duckdb') return { ENGINE: 'duckdb', DATA_DIR: dataDir, DUCKDB_THREADS: String(threads) };
  const local = await startLocalBigQuery(['--data', dataDir, ...emulator]);
  locals.push(local);
  return {
    ENGINE: 'bigquery',
    BIGQUERY_EMULATOR_HOST: local.host,
    BIGQUERY_PROJECT_ID: 'test',
    BIGQUERY_DATASET: 'logs',
  };
}

function keys(secrets: Services['secrets']): object[] {
  const entry = (name: TenantRequest['key'], endpoints: string[], pins: Record<string, string>): object => ({
    name,
    hash: hashOf(secrets[name]).toString('hex'),
    endpoints,
    pins,
    allowSql: true,
    export: true,
  });
  return [
    entry('project', ['logs.all', 'usage.api-counts', 'tenants.shapes'], { project: PROJECT }),
    entry('tenant', ['tenants.events'], { tenant: String(TENANT) }),
  ];
}
