/** Two real processes of the service with the same keys and stored queries, each over one data set. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashOf, newSecretKey } from '../../../src/keys/key';
import { startLocalBigQuery, type LocalBigQuery } from '../../local-bigquery';
import { Stage, type Started } from '../../process/started';
import { writeDataSets, type DataSize, type Later } from '../data/data-sets';
import { PROJECT, TENANT } from '../data/rows';
import type { TenantRequest } from '../requests/request';

export interface DataOptions {
  readonly engine: 'duckdb' | 'bigquery';
  /** For the local BigQuery, beside where its data is. */
  readonly emulator: readonly string[];
  readonly size: DataSize;
  readonly seed: number;
}

/** Two data sets and what a service reads each by: its files or, on that engine, a local BigQuery. Services may follow each other over them. */
export interface DataSets {
  readonly settings: readonly [Settings, Settings];
  readonly grows: boolean;
  readonly later: readonly [Later, Later];
  close(): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

export interface Services {
  readonly bases: readonly [string, string];
  /** A key, or for every other request a token of the same rights. */
  secretOf(request: TenantRequest): string;
  /** A token of another tenant, whose requests come beside those with tokens; null: the request comes with a key. */
  foreignOf(request: TenantRequest): string | null;
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
/** Milliseconds. The metrics are long: looking often would be most of what the service does. */
const GROWN_WITHIN = 600_000;
const LOOK_EVERY = 500;

const SETTINGS = {
  METRICS_KEY,
  MCP: 'on',
  HOST: '127.0.0.1',
  CLOCK: NOW,
  KEYS_FILE: 'keys.json',
  QUERY_TIMEOUT: '60',
  MAX_RUNNING_PER_KEY: '64',
  MAX_RUNNING: '64',
};

/** Writes the data sets, and starts a local BigQuery over each on that engine. */
export async function openDataSets({ engine, emulator, size, seed }: DataOptions): Promise<DataSets> {
  const root = mkdtempSync(join(tmpdir(), 'logquay-tenants-'));
  const locals: LocalBigQuery[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(locals.map((local) => local.stop()));
    rmSync(root, { recursive: true, force: true });
  };
  const settingsOf = async (folder: string): Promise<Settings> => {
    if (engine === 'duckdb') return { ENGINE: 'duckdb', DATA_DIR: folder };
    const local = await startLocalBigQuery(['--data', folder, ...emulator]);
    locals.push(local);
    return {
      ENGINE: 'bigquery',
      BIGQUERY_EMULATOR_HOST: local.host,
      BIGQUERY_PROJECT_ID: 'test',
      BIGQUERY_DATASET: 'logs',
    };
  };
  try {
    const folders = [join(root, 'first'), join(root, 'second')] as const;
    const later = writeDataSets(folders, size, seed);
    const settings = await Promise.all([settingsOf(folders[0]), settingsOf(folders[1])]);
    return { settings, grows: size.grows, later, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Starts a service over each of the data sets.
 *
 * @param withoutFence whether `needsFence` of `src/run/statement.ts` is denied: a run that must find differences
 */
export async function startServices(data: DataSets, withoutFence: boolean): Promise<Services> {
  const stage = new Stage();
  const close = (): Promise<void> => stage.end();
  try {
    const secrets = { project: newSecretKey(), tenant: newSecretKey() };
    const tokens = await tokensOf({ project: PROJECT, tenant: TENANT });
    const foreign = await tokensOf({ project: 'other', tenant: TENANT + 1 });
    const start = async (own: Settings): Promise<Started> => {
      const folder = stage.folder();
      cpSync(QUERIES, join(folder, 'queries'), { recursive: true });
      writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: keys(secrets) }), { mode: 0o600 });
      writeFileSync(join(folder, 'secret'), SECRET, { mode: 0o600 });
      const cache = join(folder, 'cache');
      mkdirSync(cache);
      const fence = withoutFence ? { NODE_OPTIONS: `--require ${WITHOUT_FENCE}` } : {};
      const duckDb = { DUCKDB_THREADS: '1', CACHE_DIR: cache };
      const started = stage.start({ ...SETTINGS, ...fence, ...duckDb, ...own }, folder);
      await started.logged(/"msg":"ready"/, 120_000);
      return started;
    };
    const { later, grows } = data;
    const started = await Promise.all([start(data.settings[0]), start(data.settings[1])]);
    const bases = await Promise.all([started[0].base(), started[1].base()]);
    if (grows) await Promise.all(bases.map((base, i) => served(base, later[i]!.rowsBefore)));
    const grow = async (): Promise<void> => {
      if (!grows) return;
      for (const { append } of later) append();
      await Promise.all(bases.map((base, i) => served(base, later[i]!.rows)));
    };
    const reasonOf = async (which: 0 | 1, requestId: string): Promise<string> => {
      const [line] = await started[which].logged(new RegExp(`^.*"${requestId}".*"msg":"request".*$`, 'm'));
      return (JSON.parse(line) as { reason?: string }).reason ?? '';
    };
    const secretOf = (request: TenantRequest): string => (isWithToken(request) ? tokens : secrets)[request.key];
    const foreignOf = (request: TenantRequest): string | null => (isWithToken(request) ? foreign[request.key] : null);
    return { bases, secretOf, foreignOf, reasonOf, grow, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until a service has read so many rows; those that are too wide are left out, and counted. */
async function served(base: string, rows: number): Promise<void> {
  const end = performance.now() + GROWN_WITHIN;
  for (let count = -1; count !== rows;) {
    if (performance.now() > end) throw new Error(`${String(count)} of ${String(rows)} rows are served.`);
    await sleep(LOOK_EVERY);
    const response = await fetch(`${base}/metrics`, { headers: { 'X-API-KEY': METRICS_KEY } });
    const counts = (await response.text()).matchAll(/^logquay_data_(?:rows|left_out_rows)\{.*\} (\d+)$/gm);
    count = [...counts].reduce((sum, [, ofTable]) => sum + Number(ofTable), 0);
  }
}

/** Chosen by what a request is, so that both services get the same. */
function isWithToken({ path, parameters, headers }: TenantRequest): boolean {
  // What a claim says is no pattern: such an endpoint does not exist for a token.
  if (path.endsWith('usage.api-counts')) return false;
  return JSON.stringify([path, parameters, headers]).length % 2 === 0;
}

type Secrets = Readonly<Record<TenantRequest['key'], string>>;

const SECRET = newSecretKey();

/** Tokens of one user of a tenant: the issuers of the keys file fill their pins from its claims. */
async function tokensOf(claims: { readonly project: string; readonly tenant: number }): Promise<Secrets> {
  const { SignJWT } = await import('jose');
  const sign = (issuer: string): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(issuer)
      .setAudience('logquay')
      .setSubject('u1')
      .setIssuedAt()
      .setExpirationTime('24h')
      .sign(Buffer.from(SECRET));
  return { project: await sign('project'), tenant: await sign('tenant') };
}

function keys(secrets: Secrets): object[] {
  const entry = (name: TenantRequest['key'], endpoints: string[], pins: Record<string, string>): object => ({
    name,
    hash: hashOf(secrets[name]).toString('hex'),
    endpoints,
    pins,
    allowSql: true,
    export: true,
  });
  const issuer = (name: TenantRequest['key'], endpoints: string[]): object => ({
    name: `users-of-${name}`,
    tokens: { issuer: name, audience: 'logquay', secretFile: 'secret', maxAge: '1d' },
    endpoints,
    pins: { [name]: { claim: name } },
    allowSql: true,
    export: true,
  });
  return [
    entry('project', ['logs.all', 'usage.api-counts', 'tenants.shapes'], { project: PROJECT }),
    entry('tenant', ['tenants.events'], { tenant: String(TENANT) }),
    issuer('project', ['logs.all', 'tenants.shapes']),
    issuer('tenant', ['tenants.events']),
  ];
}
