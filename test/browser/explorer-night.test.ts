/** The story of a night in the explorer, in a real browser: on the embedded engine, and on the local BigQuery with its prices. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'playwright-core';

import { type LocalBigQuery, localBigQueryInstalled, startLocalBigQuery } from '../local-bigquery';
import { childrenOf, Stage } from '../process/started';
import { inLong } from '../scale';
import { until } from '../until';
import { CHROMIUM } from './browser';
import { enterKey, openExplorer, rows, shownRows as rowsShown, status, violations } from './explorer-page';
import { type PageOptions, Pages } from './pages';

jest.setTimeout(300_000);

const KEY = 'a-key-of-a-night';
const METRICS_KEY = 'a-key-of-the-metrics';
const FIXTURE = path.join(__dirname, '../fixture');
/** The fixture's last rows. */
const FIXTURE_END = Date.parse('2026-09-30T12:00:00Z');

/** What the story needs of an engine. */
interface Backend {
  readonly environment: Readonly<Record<string, string>>;
  /** Adds an edge row of now. */
  write(message: string): Promise<void>;
  /** A query that runs until it is cancelled. */
  readonly endless: string;
  beforeEndless(): Promise<unknown>;
  /** Whether nothing of it runs any more. @param service the process that asks it */
  stopped(service: number): Promise<boolean>;
  end(): Promise<void>;
}

function rowOf(message: string): Readonly<Record<string, unknown>> {
  const timestamp = new Date().toISOString();
  return { timestamp, id: crypto.randomUUID(), event_message: message, project: 'default', metadata: [] };
}

/** Hundredths of a second that the processes below one have computed. */
function processorTime(pid: number): number {
  const timesOf = (child: number): number => {
    const fields =
      readFileSync(`/proc/${String(child)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  return childrenOf(pid).reduce((sum, child) => sum + timesOf(child), 0);
}

/** The fixture's rows with their times moved up to now. */
function writeRecent(folder: string): void {
  const later = Date.now() - FIXTURE_END;
  for (const name of readdirSync(FIXTURE)) {
    const text = readFileSync(path.join(FIXTURE, name), 'utf8');
    const moved = text.replace(/"timestamp":"([^"]+)"/g, (whole, at: string) =>
      Number.isNaN(Date.parse(at)) ? whole : `"timestamp":"${new Date(Date.parse(at) + later).toISOString()}"`,
    );
    writeFileSync(path.join(folder, name), name.endsWith('.ndjson') ? moved : text);
  }
}

const BACKENDS: readonly [name: string, installed: boolean, open: (data: string) => Promise<Backend>][] = [
  [
    'the embedded engine',
    true,
    (data) =>
      Promise.resolve({
        environment: { DATA_DIR: data },
        write: (message) => appendFile(path.join(data, 'raw_edge_logs.ndjson'), `${JSON.stringify(rowOf(message))}\n`),
        endless:
          'SELECT COUNT(*) AS n FROM edge_logs AS a, edge_logs AS b, edge_logs AS c, edge_logs AS d, edge_logs AS e, edge_logs AS f WHERE a.id < b.event_message AND c.id < d.event_message AND e.id < f.event_message',
        beforeEndless: () => Promise.resolve(),
        stopped: async (service) => {
          const before = processorTime(service);
          await sleep(300);
          return processorTime(service) - before < 5;
        },
        end: () => Promise.resolve(),
      }),
  ],
  [
    'the local BigQuery',
    localBigQueryInstalled,
    async (data) => {
      const local: LocalBigQuery = await startLocalBigQuery(['--data', data, '--clock', new Date().toISOString()]);
      return {
        environment: {
          BIGQUERY_EMULATOR_HOST: local.host,
          BIGQUERY_PROJECT_ID: 'test',
          BIGQUERY_DATASET: 'logs',
          DATA_DIR: '',
          // Two queries over one table cost less than a cent, one over six tables more.
          PRICE_PER_TIB: '200',
          DAILY_BYTES: String(2 ** 30),
        },
        write: async (message) => {
          const url = `http://${local.host}/projects/test/datasets/logs/tables/raw_edge_logs/insertAll`;
          const body = JSON.stringify({ rows: [{ json: rowOf(message) }] });
          const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
          expect(await response.json()).not.toHaveProperty('insertErrors');
        },
        endless: 'SELECT COUNT(*) AS n FROM edge_logs',
        beforeEndless: () => local.control({ faults: [{ kind: 'unfinished', on: 'query', polls: -1 }] }),
        stopped: async () => {
          const { counters, jobs } = await local.control();
          return (counters['cancel'] ?? 0) > 0 && jobs.every(({ state }) => state === 'DONE');
        },
        end: () => local.stop(),
      };
    },
  ],
];

let pages: Pages | null = null;
beforeAll(async () => {
  if (CHROMIUM !== null) pages = await Pages.inBrowser(CHROMIUM);
});
afterEach(() => pages?.endTest());
afterAll(() => pages?.close());

describe.each(BACKENDS)('a night on %s', (name, installed, openBackend) => {
  // CI counts what is skipped as failed: there a browser and the local BigQuery must be.
  const onEngine = !installed && process.env['CI'] === undefined ? it.skip : it;
  const withBrowser = CHROMIUM === null ? it.skip : onEngine;
  const billed = name === 'the local BigQuery';
  const stage = new Stage();
  let backend: Backend | null = null;
  let base = '';
  let service = 0;
  let log = (): string => '';
  beforeAll(async () => {
    if (CHROMIUM === null || !installed) return;
    const folder = stage.folder();
    const data = path.join(folder, 'data');
    mkdirSync(data);
    writeRecent(data);
    backend = await openBackend(data);
    const settings = { API_KEY: KEY, METRICS_KEY, CACHE_DIR: path.join(folder, 'cache') };
    const started = stage.start({ ...settings, ...backend.environment }, folder);
    base = await started.ready();
    service = started.child.pid ?? 0;
    log = () => started.err;
  });
  afterAll(async () => {
    await stage.end();
    await backend?.end();
  });

  /** @throws Error with what the page shows instead, and the end of the service's log */
  const shownRows = (page: Page): Promise<string[]> =>
    rowsShown(page).catch((cause: unknown) => {
      throw new Error(`${String(cause)}\n${log().slice(-3_000)}`, { cause });
    });
  const running = async (): Promise<number> => {
    const response = await fetch(`${base}/metrics`, { headers: { 'X-API-KEY': METRICS_KEY } });
    return Number(/^logquay_admission_running (\d+)$/m.exec(await response.text())?.[1]);
  };
  const open = (fragment: Readonly<Record<string, string>>, more: PageOptions = {}) => {
    if (pages === null) throw new Error('There is no browser.');
    const options = {
      permissions: ['clipboard-read', 'clipboard-write'],
      viewport: { width: 1500, height: 900 },
      ...more,
    };
    return openExplorer(pages, base, fragment, options);
  };

  withBrowser('goes from the key to an engine that is idle again', async () => {
    if (backend === null) throw new Error('There is no engine.');
    const { page, complaints, requests } = await open({ range: '6h' });
    await enterKey(page, KEY);
    const all = await shownRows(page);
    const cost = page.locator('.cost');
    if (billed) {
      // Rows and histogram, of one table each.
      await status(page).getByText('21 MB billed · fresh').waitFor();
      await cost.getByText(/^Next run: [\d.]+ kB, under \$0\.01 · \d+ % of today’s budget left$/).waitFor();
    } else {
      await status(page)
        .getByText(/ ms · fresh$/)
        .waitFor();
      expect(await cost.count()).toBe(0);
    }

    // A value is filtered by.
    await rows(page).filter({ hasText: '| 404 |' }).first().click();
    await page.getByRole('button', { name: 'Filter by m.response.status_code:404' }).click();
    await page.waitForFunction(() => location.hash.includes('status_code%3A404'));
    // The rows before stay until the new ones are there.
    await until(async () => (await shownRows(page)).length < all.length);
    const filtered = await shownRows(page);
    expect(filtered.slice(1).every((text) => text.includes('| 404 |') || !text.includes('|'))).toBe(true);

    // The histogram is zoomed into, all of it: the same rows, of times that stay.
    await page.getByRole('slider', { name: 'Histogram' }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /range=\d{4}-/.test(location.hash));
    expect(await shownRows(page)).toEqual(filtered);

    // A link shows a colleague the same.
    await page.getByText('Share', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy link', exact: true }).click();
    await page.getByRole('status').getByText('Copied').waitFor();
    const second = await page.context().newPage();
    await second.goto(await page.evaluate(() => navigator.clipboard.readText()));
    await enterKey(second, KEY);
    expect(await shownRows(second)).toEqual(filtered);
    await second.close();
    await page.keyboard.press('Escape');

    // What is downloaded is what is shown.
    await page.getByText('Download', { exact: true }).click();
    const arriving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const file = readFileSync(await (await arriving).path(), 'utf8');
    expect(file.trim().split('\r\n')).toHaveLength(filtered.length);
    await page.keyboard.press('Escape');

    // A stored endpoint is a chart and a table without a word typed.
    await page.getByRole('combobox', { name: 'Endpoint' }).selectOption('usage.api-counts');
    await page.locator('.uplot canvas').waitFor();
    await page.getByRole('columnheader', { name: 'total_rest_requests' }).waitFor();
    // It is kept from now on, and was not before.
    await status(page).getByText('· fresh').waitFor();
    const again = page.waitForResponse(/\/api\/endpoints\/query\/usage/);
    await page.getByRole('button', { name: 'Run' }).click();
    await again;
    await status(page).getByText('· from the cache,').waitFor();

    // Rows appear as they are written; on BigQuery once the price of that was seen.
    await page.getByRole('combobox', { name: 'Endpoint' }).selectOption('logs.all');
    // What was written there is there again, and so is what was meant in SQL.
    const query = page.getByRole('textbox', { name: 'Query' });
    expect(await query.textContent()).toBe('f:edge_logs m.response.status_code:404');
    const language = (name: string) => page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('button', { name: '= SQL' }).click();
    await page.getByLabel('The same in SQL').waitFor();
    await language('SQL');
    expect(await query.innerText()).toMatch(/^SELECT t\.\*/);
    await language('LQL');
    expect(await query.textContent()).toBe('f:edge_logs m.response.status_code:404');
    // A line without a table is about the one that was chosen.
    await page.locator('.time-picker summary').click();
    await page.getByRole('textbox', { name: 'Since' }).fill('now-360m');
    await page.getByRole('textbox', { name: 'Since' }).press('Enter');
    await shownRows(page);
    await page.getByRole('combobox', { name: 'Table' }).selectOption('auth_logs');
    await page.waitForFunction(
      () => location.hash.includes('table=auth_logs') || location.hash.includes('f%3Aauth_logs'),
    );
    await page.getByRole('combobox', { name: 'Table' }).selectOption('edge_logs');
    await query.fill('status_cod:404');
    await query.press('Enter');
    // After a fault nothing is left that looks like its answer.
    await page.locator('.status.fault').waitFor();
    expect([await rows(page).count(), await page.locator('.bars').count()]).toEqual([1, 0]);
    await query.fill('GET');
    await query.press('Enter');
    expect((await shownRows(page)).slice(1).every((text) => text.includes('GET'))).toBe(true);
    await query.fill('');
    await query.press('Enter');
    await shownRows(page);
    const following = { name: billed ? 'Refresh' : 'Live' };
    await page.getByRole('button', following).click();
    const on = page.locator('.live[aria-pressed=true]');
    if (billed) {
      const price = page.getByRole('group', { name: 'Refresh' });
      await price.getByText('up to $0.69 an hour').waitFor();
      await page.getByLabel('Every').selectOption('5 minutes');
      await price.getByText('up to $0.69 an hour').waitFor({ state: 'detached' });
      await page.getByLabel('Every').selectOption('10 seconds');
      await price.getByRole('button', { name: 'Cancel' }).click();
      await price.waitFor({ state: 'detached' });
      expect(await on.count()).toBe(0);
      await page.getByRole('button', following).click();
      await price.getByRole('button', { name: 'Start' }).click();
    }
    await on.waitFor();
    await page.mouse.move(5, 5);
    await backend.write('the row that was waited for');
    await rows(page).filter({ hasText: 'the row that was waited for' }).waitFor();
    await on.click();

    // What runs for ever is cancelled, and then runs nowhere.
    await backend.beforeEndless();
    await language('SQL');
    await query.fill(backend.endless);
    await query.press('Control+Enter');
    await until(async () => (await running()) > 0);
    await page.keyboard.press('Escape');
    await status(page).getByText('Cancelled.').waitFor();

    await until(async () => (await running()) === 0);
    await until(() => backend!.stopped(service));
    await query.fill('SELECT COUNT(*) AS n FROM auth_logs');
    await query.press('Control+Enter');
    await status(page)
      .getByText(/^1 row ·/)
      .waitFor();

    expect(complaints).toEqual([]);
    for (const url of requests.filter((one) => !/^(?:data|blob):/.test(one))) expect(new URL(url).origin).toBe(base);
    expect(requests.join(' ') + page.url()).not.toContain(KEY);
  });

  withBrowser.each([
    billed ? ('light' as const) : ('dark' as const),
    ...inLong([billed ? ('dark' as const) : ('light' as const)]),
  ])('breaks no rule of accessibility, in %s', async (colorScheme) => {
    const { page } = await open({ range: '6h' }, { colorScheme, bypassCSP: true });
    await enterKey(page, KEY);
    await shownRows(page);
    if (billed)
      await page
        .locator('.cost')
        .getByText(/^Next run:/)
        .waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: billed ? 'Refresh' : 'Live' }).click();
    if (billed) await page.getByRole('group', { name: 'Refresh' }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  if (billed) {
    withBrowser('does not run by itself what costs more than a cent', async () => {
      const tables = ['edge', 'auth', 'postgres', 'storage', 'realtime', 'function'];
      const sql = tables.map((table) => `SELECT timestamp, id, event_message FROM ${table}_logs`).join(' UNION ALL ');
      const { page, requests, complaints } = await open({ range: '6h', sql });
      await enterKey(page, KEY);
      await page.getByText('This search has not run yet.').waitFor();
      await page.locator('.cost').getByText('$0.01').waitFor();
      expect(requests.filter((url) => url.includes('/api/endpoints/query/'))).toEqual([]);
      await page.getByRole('button', { name: 'Run' }).click();
      await shownRows(page);
      await status(page).getByText('62.9 MB billed · fresh').waitFor();
      expect(complaints).toEqual([]);
    });
  }
});
