/** Starts and ends of the real process; and what the pages say to send to one that was started by `npm start` alone. */
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { listingModules, packageOf } from '../loaded-modules';
import { until } from '../until';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const ROOT = path.join(__dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const filesOf = (folder: string, ending: string): string[] =>
  readdirSync(path.join(ROOT, folder)).filter((file) => file.endsWith(ending));

/** A dashboard of Grafana's over the data source Infinity, as far as it asks for rows. */
interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly current: { readonly value: string } }[];
  };
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly {
      readonly url: string;
      readonly url_options: { readonly params: readonly { readonly key: string; readonly value: string }[] };
      readonly root_selector: string;
      readonly columns: readonly { readonly selector: string }[];
    }[];
  }[];
}

const stage = new Stage();
afterAll(() => stage.end());

describe('a first start', () => {
  const PAGES = ['README.md', ...filesOf('docs', '.md').map((file) => `docs/${file}`)];
  const EXAMPLES = PAGES.flatMap((page) => {
    const blocks = [...read(page).matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => (block ?? '').trim());
    // This service collects no logs.
    const asking = blocks.filter((block) => block.startsWith('curl') && !block.includes('$INGEST_KEY'));
    return asking.map((block) => [page, block] as const);
  });

  let service: Started;
  let base: string;
  let health: Response;
  let ready: Response;
  const key = (): string => readFileSync(path.join(service.folder, '.data/key'), 'utf8').trim();
  beforeAll(async () => {
    // Without DATA_DIR one week of sample logs is generated.
    service = stage.start({ DATA_DIR: '' });
    base = await service.base();
    [health, ready] = await Promise.all([fetch(`${base}/health`), fetch(`${base}/ready`)]);
    await service.ready();
  });

  /** A token of an issuer with a secret in a file, as docs/keys.md makes it for a trial; the service has taken the issuer up. */
  async function trialToken(): Promise<string> {
    const cli = (...args: string[]): string =>
      execFileSync(process.execPath, [path.join(ROOT, 'dist/cli.js'), ...args], {
        cwd: service.folder,
        encoding: 'utf8',
      }).trim();
    writeFileSync(path.join(service.folder, '.data/app.secret'), randomBytes(48).toString('base64'));
    const trial =
      'keys create --name trial --issuer trial --audience logquay --secret-file app.secret --endpoints logs.all';
    cli(...trial.split(' '), '--pin', 'project=claim:org');
    const token = cli(...'token trial --claim sub=u1 --claim org=default --expires 10m'.split(' '));
    const headers = { Authorization: `Bearer ${token}` };
    const ask = async (): Promise<Response> => fetch(`${base}/api/endpoints/query/logs.all`, { headers });
    await until(async () => (await ask()).status === 200, 100);
    return token;
  }

  async function shell(script: string): Promise<string> {
    const token = script.includes('$TOKEN') ? await trialToken() : '';
    const { stdout } = await promisify(execFile)('sh', ['-c', script], {
      cwd: service.folder,
      env: { PATH: process.env.PATH, KEY: key(), TOKEN: token },
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  it('answers health at once, and 503 for the rest until it is ready', async () => {
    expect([health.status, ready.status]).toEqual([200, 503]);
    expect(await ready.json()).toMatchObject({ status: 'starting' });
    expect((await fetch(`${base}/ready`)).status).toBe(200);
  });

  it('makes a key, and prints a curl line that works as pasted', async () => {
    const line = /^ *(curl .*)$/m.exec(service.out)?.[1] ?? '';
    expect(service.out + service.err).not.toContain(key());
    expect(statSync(path.join(service.folder, '.data/key')).mode & 0o777).toBe(0o600);
    const { result } = JSON.parse(await shell(`${line} -s`)) as { result: object[] };
    expect(result.length).toBeGreaterThan(0);
    expect(Object.keys(result[0] ?? {})).toEqual(['id', 'timestamp', 'event_message', 'metadata']);
  });

  it('has examples on the pages that tell how to ask', () => {
    const pages = new Set(EXAMPLES.map(([page]) => page));
    for (const page of ['README.md', 'docs/querying.md', 'docs/endpoints.md', 'docs/lql.md', 'docs/keys.md'])
      expect([page, pages.has(page)]).toEqual([page, true]);
  });

  it.each(EXAMPLES)('%s: %s', async (_page, example) => {
    // Where the service listens by default: only so an example can be pasted.
    expect(example).toContain('http://127.0.0.1:4000/');
    const here = example.replaceAll('http://127.0.0.1:4000', base);
    const stdout = await shell(`curl() { command curl -sS --fail "$@"; }\n${here}`);
    if (example.includes('text/csv')) {
      expect(stdout.split('\r\n').length).toBeGreaterThan(30);
    } else {
      const answer = JSON.parse(stdout) as { result?: unknown; openapi?: string };
      expect(answer.result ?? answer.openapi).toBeDefined();
    }
  });

  it('has rows for every panel of the dashboard in docs/deploy/grafana/', async () => {
    const now = Date.now();
    const { panels, templating } = JSON.parse(read('docs/deploy/grafana/logs-dashboard.json')) as Dashboard;
    const values = new Map([
      ['__from:date:iso', new Date(now - 24 * 3600_000).toISOString()],
      ['__to:date:iso', new Date(now).toISOString()],
      ...templating.list.map(({ name, current }) => [name, current.value] as const),
    ]);
    for (const { title, targets } of panels) {
      for (const { url, url_options: options, columns, root_selector: root } of targets) {
        const asked = new URL(url, base);
        for (const { key: name, value } of options.params) {
          const filled = value.replace(/\$\{([^}]+)\}/g, (_, variable: string) => values.get(variable) ?? 'unknown');
          asked.searchParams.append(name, filled);
        }
        const answer = (await (await fetch(asked, { headers: { 'X-API-KEY': key() } })).json()) as Record<
          string,
          object[]
        >;
        expect([title, answer]).toEqual([title, { [root]: expect.arrayContaining([expect.any(Object)]) as unknown }]);
        for (const { selector } of columns) expect(answer[root]?.[0]).toHaveProperty(selector);
      }
    }
  });

  it('answers every request of the collection in docs/ to newman, and refuses a wrong key', async () => {
    const collection = path.join(ROOT, 'docs/logquay.postman_collection.json');
    expect(readFileSync(collection, 'utf8')).not.toMatch(/raw_|UNNEST|WITH \w+ AS/i);
    // A live tail has no end.
    const script = `
      const newman = require(${JSON.stringify(require.resolve('newman'))});
      const [file, baseUrl, ...keys] = process.argv.slice(1);
      const collection = require(file);
      const ends = (items) => items.filter((one) => !one.request?.url.path.includes('tail')).map((one) => (one.item ? { ...one, item: ends(one.item) } : one));
      const codes = (apiKey) => new Promise((resolve, reject) => {
        const envVar = [{ key: 'baseUrl', value: baseUrl }, { key: 'apiKey', value: apiKey }];
        newman.run({ collection: { ...collection, item: ends(collection.item) }, envVar }, (error, summary) =>
          error ? reject(error) : resolve(summary.run.executions.map(({ item, response }) => [item.name, response?.code ?? 0])));
      });
      void (async () => process.stdout.write(JSON.stringify([await codes(keys[0]), await codes(keys[1])])))();`;
    const args = ['-e', script, collection, base, key(), 'wrong'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const [right, wrong] = JSON.parse(stdout) as [string, number][][];
    expect(right?.filter(([, code]) => code !== 200)).toEqual([]);
    const endpoints = filesOf('queries', '.sql').map((file) => file.replace(/\.sql$/, ''));
    expect(right?.map(([name]) => name)).toEqual(expect.arrayContaining(endpoints));
    const refused = new Map(wrong);
    for (const endpoint of endpoints) expect([endpoint, refused.get(endpoint)]).toEqual([endpoint, 401]);
  });

  it('keeps to the key that it made', async () => {
    const made = key();
    service.signal('SIGTERM');
    expect(await service.exit).toBe(0);
    const second = stage.start({}, service.folder);
    const at = await second.ready();
    expect(key()).toBe(made);
    expect((await fetch(`${at}/api/endpoints`, { headers: { 'X-API-KEY': made } })).status).toBe(200);
    second.signal('SIGKILL');
  });
});

describe('a failed start', () => {
  it.each([
    ['a data folder that is not there', { DATA_DIR: 'nowhere' }, /nowhere/],
    ['BigQuery without a key', { BIGQUERY_PROJECT_ID: 'test', BIGQUERY_DATASET: 'logs' }, /API_KEY/],
  ])('with %s ends with 1 and says why', async (_what, environment, message) => {
    const service = stage.start(environment);
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(message);
    expect(service.err).not.toMatch(/\n +at /);
  });

  it('with a faulty stored query names file, line and reason', async () => {
    const folder = stage.folder();
    writeFileSync(path.join(folder, 'queries/broken.sql'), '/*\nid: nope\nname: broken\n*/\nSELECT FROM\n');
    const service = stage.start({}, folder);
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(/queries\/broken\.sql:2:1: /);
  });

  it.each(['PORT', 'METRICS_PORT'])('on a %s in use says so', async (setting) => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as net.AddressInfo;
    const service = stage.start({ [setting]: String(port) });
    expect(await service.exit).toBe(1);
    expect(service.err).toMatch(new RegExp(`EADDRINUSE.*${String(port)}`));
    server.close();
  });
});

it('starts while BigQuery is away, and says so', async () => {
  // Nobody listens on port 1.
  const away = { BIGQUERY_PROJECT_ID: 'test', BIGQUERY_DATASET: 'logs', BIGQUERY_EMULATOR_HOST: '127.0.0.1:1' };
  const service = stage.start({ ...away, API_KEY: 'k', HOST: '127.0.0.1' });
  const base = await service.ready();
  const ready = await fetch(`${base}/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: 'engine-unavailable' });
  const run = await fetch(`${base}/api/endpoints/query/logs.all?project=default`, { headers: { 'X-API-KEY': 'k' } });
  expect(run.status).toBe(503);
  expect(run.headers.get('retry-after')).toMatch(/^\d+$/);
  service.signal('SIGKILL');
});

describe('a service with a file of settings', () => {
  const headers = { 'X-API-KEY': 'from-file' };
  let modules: ReturnType<typeof listingModules>;
  let service: Started;
  let base: string;
  beforeAll(async () => {
    const folder = stage.folder();
    // No request takes as long as the test: an end that waited for one would be seen.
    const settings = 'API_KEY=from-file\nLOG_LEVEL=info\nQUERIES_DIR=nowhere\nQUERY_TIMEOUT=600\n';
    writeFileSync(path.join(folder, '.env'), settings);
    modules = listingModules(folder);
    service = stage.start({ QUERIES_DIR: 'queries', NODE_OPTIONS: modules.options }, folder);
    base = await service.ready();
  });

  it('reads .env, which the environment overrides', async () => {
    expect((await fetch(`${base}/api/endpoints`, { headers })).status).toBe(200);
    expect(service.out).toContain('$API_KEY');
    expect(service.out + service.err).not.toContain('from-file');
  });

  it('takes up a new stored query while it runs', async () => {
    expect((await fetch(`${base}/api/endpoints/query/new.one`, { headers })).status).toBe(404);
    const head = '/*\nid: 5f0c2d9e-0b51-4f4d-9d57-7e9f2a1c0001\nname: new.one\n*/\n';
    writeFileSync(path.join(service.folder, 'queries/new.one.sql'), `${head}SELECT 1 AS one\n`);
    let status = 404;
    for (let i = 0; i < 100 && status === 404; i++) {
      await sleep(100);
      status = (await fetch(`${base}/api/endpoints/query/new.one`, { headers })).status;
    }
    expect(status).toBe(200);
  });

  it('does not wait at its end for a connection that is kept open', async () => {
    const socket = net.connect(Number(new URL(base).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    service.signal('SIGINT');
    expect(await service.exit).toBe(0);
  });

  it('has loaded nothing of OpenTelemetry, as no collector is set', () => {
    const loaded = modules.loaded();
    const packages = new Set(loaded.map(packageOf));
    expect(packages).toContain('express');
    // prom-client loads its interface, for exemplars.
    const theirs = [...packages].filter((name) => name?.startsWith('@opentelemetry/'));
    expect(theirs).toEqual(['@opentelemetry/api']);
    expect(loaded.filter((module) => module.startsWith('src/tracing/'))).toEqual([]);
  });
});

it('SIGTERM turns /ready to 503 and lets requests in for DRAIN_DELAY; another signal ends it at once', async () => {
  const service = stage.start({ DRAIN_DELAY: '60', API_KEY: 'k' });
  const base = await service.ready();
  service.signal('SIGTERM');
  await service.logged(/draining/);
  const ready = await fetch(`${base}/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ status: 'draining' });
  const run = await fetch(`${base}/api/endpoints/query/logs.all?project=default`, { headers: { 'X-API-KEY': 'k' } });
  expect(run.status).toBe(200);
  service.signal('SIGINT');
  expect(await service.exit).toBe(1);
});
