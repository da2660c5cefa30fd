/** Refreshed rows of the explorer in a real browser, from a started process on the local BigQuery. */

import type { Browser } from 'playwright-core';

import { overOwnLocalBigQuery } from '../engines/over-local-bigquery';
import { Stage } from '../process/started';
import { findChromium, openBrowser } from './browser';

jest.setTimeout(300_000);

const chromium = findChromium();
const KEY = 'a-key-of-the-explorer';

overOwnLocalBigQuery('rows that are refreshed in the explorer', (local) => {
  const stage = new Stage();
  let browser: Browser | null = null;
  let base = '';
  beforeAll(async () => {
    if (chromium === null) return;
    browser = await openBrowser(chromium);
    const folder = stage.folder();
    const bigQuery = {
      DATA_DIR: '',
      BIGQUERY_EMULATOR_HOST: local().host,
      BIGQUERY_PROJECT_ID: 'test',
      BIGQUERY_DATASET: 'logs',
    };
    base = await stage.start({ API_KEY: KEY, ...bigQuery }, folder).ready();
  });
  afterAll(async () => {
    await browser?.close();
    await stage.end();
  });

  async function insert(message: string): Promise<void> {
    const url = `http://${local().host}/projects/test/datasets/logs/tables/raw_edge_logs/insertAll`;
    const json = { id: message, project: 'live', event_message: message, timestamp: new Date().toISOString() };
    const body = JSON.stringify({ rows: [{ json }] });
    await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  }

  // CI counts what is skipped as failed: there a browser must be.
  (chromium === null ? it.skip : it)(
    'come by runs at the interval that is chosen, by its price, and go on behind a pause',
    async () => {
      if (browser === null) throw new Error('There is no browser.');
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      const tails: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/tail/')) tails.push(request.url());
      });
      await insert('the first message');
      const fragment = { endpoint: 'logs.all', range: '1h', p: 'project=live' };
      await page.goto(`${base}/explore#${new URLSearchParams(fragment).toString()}`);
      await page.getByRole('textbox', { name: 'Key' }).fill(KEY);
      await page.getByRole('button', { name: 'Open' }).click();
      const first = page.getByRole('grid', { name: 'Rows' }).getByText('the first message');
      await first.waitFor();
      await page.getByRole('button', { name: 'Refresh' }).click();
      const price = page.getByRole('group', { name: 'Refresh' }).getByRole('status');
      await price.getByText('BigQuery bills each refresh').waitFor();
      const often = await price.textContent();
      await page.getByLabel('Every').selectOption('5 minutes');
      expect(await price.textContent()).not.toBe(often);
      await page.getByLabel('Every').selectOption('10 seconds');
      await page.getByRole('button', { name: 'Start' }).click();
      await insert('the second message');
      await page.getByText('the second message').waitFor();
      await first.hover();
      await page.getByRole('button', { name: 'Refresh: paused' }).waitFor();
      await insert('the third message');
      await page.mouse.move(0, 0);
      await page.getByText('the third message').waitFor();
      expect(tails).toEqual([]);
      await page.close();
    },
  );
});
