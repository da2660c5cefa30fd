/** What an engine is asked for, charged for and kept from, by each form: over an engine whose answers a test decides. */
import type { EngineQuery, RunLimits } from '../../packages/duckdb-engine/src/contract/contract';
import { readDefinition } from '../../src/endpoints/definition';
import { ServiceError } from '../../src/errors';
import type { NamedType } from '../../packages/googlesql/src/types';
import { ScriptedEngine, serve, type Served, type ServedOptions } from '../http/served';
import { until } from '../until';
import { type FormName, FORMS, send, type Site, those, type Told } from './forms';

const endpoint = (settings = '') => {
  const { endpoint: read, faults } = readDefinition(
    Buffer.from(`/*
id: 77777777-abcd-4000-8000-00000000000d
name: forms.rows
sandbox: true
mcp: true
max_rows: 4
export: 4
timeout: 20
max_bytes_billed: 777
${settings}
params:
  project: { type: string, required: true }
*/
WITH events AS (SELECT '1' AS id, @project AS event_message)
SELECT id, event_message FROM events ORDER BY id`),
  );
  if (read === null) throw new Error(JSON.stringify(faults));
  return read;
};

const ROWS = ['1 abc', '2 abc'];
const STEPS = ['run', 'describe', 'inspect'] as const;
type Step = (typeof STEPS)[number];

/** BigQuery, as far as limits see it. */
class Billing extends ScriptedEngine {
  override readonly dryRun = () => Promise.resolve({ bytesProcessed: 5n, bytesBilled: 10n });
  readonly limits: RunLimits[] = [];
  /** Fails once. */
  failing: Step | null = null;

  constructor(billed = 0n) {
    super('bigquery');
    this.columns = ['id', 'event_message'];
    this.rows = ['{"id":"1","event_message":"abc"}', '{"id":"2","event_message":"abc"}'];
    this.bytes = { processed: billed, billed };
    this.onRun = (_, limits) => {
      this.limits.push(limits);
      return this.failAt('run');
    };
  }

  async failAt(step: Step): Promise<void> {
    await Promise.resolve();
    if (this.failing !== step) return;
    this.failing = null;
    throw new ServiceError('backendUnavailable', 'It does not answer.', { retryAfter: 1 });
  }

  override async describe(): Promise<readonly NamedType[]> {
    await this.failAt('describe');
    return this.columns.map((name) => ({ name, type: { kind: 'STRING' } }));
  }

  override inspect(): Promise<void> {
    return this.failAt('inspect');
  }
}

let served: Served;
afterEach(() => served.close());

/** A service of its own: what one form spends is not what another has. */
async function start(engine: Billing, settings = '', options: ServedOptions = {}): Promise<Site> {
  served = await serve({ engine, endpoints: [endpoint(settings)], ...options });
  return { port: served.port, folder: '' };
}

const ask = (name: FormName, site: Site, key: string): Promise<Told> =>
  FORMS[name].ask(site, { key, parameters: key.startsWith('pinned') ? [] : [['project', 'abc']] });

/**
 * There are no tails on BigQuery, and Parquet is written by the real process alone. Other paths and ways to send parameters end in the same
 * run (promises.test.ts).
 */
const HERE = those(
  (_, name) => !/^a tail|Parquet|^a POST|^the path|body|NDJSON$/.test(name) || name === 'an export of NDJSON',
);
const RUNNING = HERE.filter((name) => FORMS[name].gives === 'rows');
const FREE = HERE.filter((name) => FORMS[name].gives === 'analysis');
const isExport = (name: FormName): boolean => name.startsWith('an export');

describe.each([
  [100n, 1],
  [99n, 2],
] as const)('a budget of 100 bytes, of runs that bill %d,', (billed, most) => {
  it.each(RUNNING)(`lets %s run ${String(most)} times`, async (name) => {
    const engine = new Billing(billed);
    const site = await start(engine);
    let told = await ask(name, site, 'poor-exporter');
    for (let i = 0; i < 5 && told.error === null; i++) told = await ask(name, site, 'poor-exporter');
    expect([told.error?.reason, engine.queries.length]).toEqual(['budgetExceeded', most]);
    expect((await ask(name, site, 'exporter')).error).toBeNull();
  });
});

it('a budget that is spent lets go on what costs nothing', async () => {
  const engine = new Billing(100n);
  const site = await start(engine);
  await ask('a GET', site, 'poor-exporter');
  for (const name of FREE) expect((await ask(name, site, 'poor-exporter')).error).toBeNull();
  const path = '/api/endpoints/query/forms.rows?project=abc&dry_run=true';
  const estimated = await send(site, { method: 'GET', path, headers: { 'X-API-KEY': 'poor-exporter' } });
  expect(JSON.parse(estimated.body.toString())).toMatchObject({ dryRun: { bytesProcessed: '5' } });
  expect(engine.queries).toHaveLength(1);
});

describe('a slot that another run has', () => {
  /** A run that has not ended, and what ends it. */
  async function busy(key: string, bounds: ServedOptions['bounds']): Promise<{ site: Site; end: () => Promise<Told> }> {
    const engine = new Billing();
    const site = await start(engine, '', bounds === undefined ? {} : { bounds });
    let go = (): void => undefined;
    engine.onRun = () => new Promise((resolve) => (go = resolve));
    const first = FORMS['a GET'].ask(site, { key, parameters: [['project', 'another']] });
    await until(() => engine.queries.length > 0);
    engine.onRun = () => Promise.resolve();
    return {
      site,
      end: () => {
        go();
        return first;
      },
    };
  }

  it.each(RUNNING)('is not there for %s of any key, until it is', async (name) => {
    const { site, end } = await busy('other', { total: 1, waiting: 0 });
    expect((await ask(name, site, 'exporter')).error?.reason).toBe('tooManyConcurrentQueries');
    await end();
    expect((await ask(name, site, 'exporter')).rows).toEqual(ROWS);
  });

  it.each(RUNNING)('leaves another for %s where there are two', async (name) => {
    const { site, end } = await busy('other', { total: 2, waiting: 0 });
    expect((await ask(name, site, 'exporter')).rows).toEqual(ROWS);
    await end();
  });

  it.each(RUNNING)('of the same key counts for %s, but beside an export', async (name) => {
    const { site, end } = await busy('exporter', { perName: 1, waiting: 0 });
    expect((await ask(name, site, 'exporter')).error?.reason ?? null).toBe(
      isExport(name) ? null : 'tooManyConcurrentQueries',
    );
    await end();
  });

  it.each(FREE)('is not needed for %s', async (name) => {
    const { site, end } = await busy('exporter', { total: 1, waiting: 0 });
    expect((await ask(name, site, 'exporter')).error).toBeNull();
    await end();
  });
});

/** The steps that a form has the engine do. */
const stepsOf = (name: FormName): readonly Step[] => {
  const { of, gives } = FORMS[name];
  if (gives === 'analysis') return ['describe'];
  if (of !== 'stored') return STEPS;
  return name.endsWith('page') ? ['run', 'describe'] : ['run'];
};

describe.each(STEPS)('an engine that fails once to %s', (step) => {
  it.each(HERE.filter((name) => stepsOf(name).includes(step)))('is asked again by %s', async (name) => {
    const engine = new Billing();
    const site = await start(engine, 'cache_ttl: 600');
    engine.failing = step;
    expect((await ask(name, site, 'exporter')).error?.reason).toBe('backendUnavailable');
    const again = await ask(name, site, 'exporter');
    expect(again.error).toBeNull();
    if (FORMS[name].gives === 'rows') expect(again.rows).toEqual(ROWS);
  });
});

describe('the engine is told', () => {
  it.each(RUNNING)('the bounds, the key and the rights of %s', async (name) => {
    const engine = new Billing();
    const site = await start(engine);
    const key = 'pinned-exporter';
    const began = performance.now();
    const headers = { 'LF-ENDPOINT-REDACT-PII': 'true' };
    expect((await FORMS[name].ask(site, { key, headers })).error).toBeNull();
    const { length } = engine.queries;
    expect(length).toBe(FORMS[name].requests);
    const query: EngineQuery | undefined = engine.queries.at(-1);
    expect(query).toMatchObject({
      maxBytesBilled: 777n,
      hideBytes: true,
      labels: {
        endpoint: 'forms.rows',
        key,
        kind: isExport(name) ? 'export' : FORMS[name].of === 'stored' ? 'run' : 'sandbox',
      },
    });
    expect(query?.fence).not.toBeNull();
    expect(query?.parameters).toContainEqual({ name: 'project', type: 'STRING', value: 'abc' });
    // The row that was given once may come again.
    expect(query?.maxRows).toBe(name === 'a following page' ? 5 : 4);
    const { deadline = 0, keyName } = engine.limits.at(-1) ?? {};
    const timeout = (deadline - began) / 1000;
    expect([timeout >= 20, timeout >= 60]).toEqual([true, isExport(name)]);
    expect(keyName).toBe(key);
  });
});
