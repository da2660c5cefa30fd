/** The explorer over logs of one's own shape, in a real browser: numeric levels, other names, no ids; and over very many rows. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';

import type { Page } from 'playwright-core';

import { Stage } from '../process/started';
import { until } from '../until';
import { CHROMIUM, withBrowser } from './browser';
import { enterKey, openExplorer, rows, shownRows, status, violations } from './explorer-page';
import { type PageOptions, Pages } from './pages';

jest.setTimeout(300_000);

const KEY = 'a-key-of-ones-own-logs';
const COUNT = 1200;
const TRACE = '0af7651916cd43dd8448eb211c80319c';

const PARAMETERS = `params:
  range_start:
    type: timestamp
    required: true
  range_end:
    type: timestamp
    default: '2100-01-01T00:00:00Z'`;

/** Two tables of pino's rows, of which the endpoint gives 500 at once. */
const APP = `/*
id: 5d0f1c52-7a60-4d0e-8a5f-6d1f0b7c2e21
name: app.rows
sandbox: true
max_rows: 500
${PARAMETERS}
*/
WITH app AS (SELECT * FROM raw_app AS t WHERE t.time > @range_start AND t.time <= @range_end),
audit AS (SELECT * FROM raw_audit AS t WHERE t.time > @range_start AND t.time <= @range_end)
SELECT * FROM app ORDER BY time DESC
`;

/** A hundred thousand rows, ten thousand at once. */
const MANY = `/*
id: 5d0f1c52-7a60-4d0e-8a5f-6d1f0b7c2e22
name: many.rows
max_rows: 10000
${PARAMETERS}
*/
SELECT TIMESTAMP_ADD(TIMESTAMP '2026-09-30T00:00:00Z', INTERVAL n MILLISECOND) AS timestamp,
  CONCAT('request ', CAST(n AS STRING), ' of ', REPEAT('a path ', MOD(n, 20))) AS message, MOD(n, 500) + 100 AS status
FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS n
WHERE TIMESTAMP_ADD(TIMESTAMP '2026-09-30T00:00:00Z', INTERVAL n MILLISECOND) BETWEEN @range_start AND @range_end
ORDER BY timestamp DESC
`;

const SHARED = { name: 'Errors of the app', search: '#endpoint=app.rows&range=1h&lql=f%3Aapp+level%3A50' };

withBrowser('logs of one’s own shape', () => {
  const stage = new Stage();
  let pages: Pages;
  let [base, data] = ['', ''];
  const now = Date.now();
  const rowOf = (i: number, more: object = {}): string =>
    `${JSON.stringify({
      time: new Date(now - i * 1000).toISOString(),
      level: i % 10 === 0 ? 50 : 30,
      msg: i % 10 === 0 ? `\u001b[31mfailed\u001b[0m to reach db${i}` : `user ${i} logged in`,
      duration: i,
      http: { path: i % 2 === 0 ? '/a' : '/b', status: i % 10 === 0 ? 500 : 200 },
      ...(i === COUNT ? { nothing: 'but once' } : {}),
      trace_id: i < 3 ? TRACE : `trace-${i}`,
      ...more,
    })}\n`;
  beforeAll(async () => {
    if (CHROMIUM !== null) pages = await Pages.inBrowser(CHROMIUM);
    const folder = stage.folder();
    data = path.join(folder, 'data');
    mkdirSync(data);
    const lines = Array.from({ length: COUNT }, (_, i) =>
      rowOf(COUNT - i, i === COUNT - 5 ? { msg: '{"a":{"b":[1,"two"]}}' } : {}),
    );
    writeFileSync(path.join(data, 'raw_app.ndjson'), lines.join(''));
    writeFileSync(path.join(data, 'raw_audit.ndjson'), rowOf(10, { msg: 'an audit' }));
    writeFileSync(path.join(folder, 'queries/app.sql'), APP);
    writeFileSync(path.join(folder, 'queries/many.sql'), MANY);
    writeFileSync(path.join(folder, 'searches.json'), JSON.stringify({ searches: [SHARED] }));
    base = await stage.start({ API_KEY: KEY, DATA_DIR: data, SEARCHES_FILE: 'searches.json' }, folder).ready();
  });
  afterEach(() => pages.endTest());
  afterAll(async () => {
    await pages.close();
    await stage.end();
  });

  const open = async (fragment: Readonly<Record<string, string>>, options?: PageOptions) => {
    const more = { viewport: { width: 1440, height: 900 }, ...options };
    const opened = await openExplorer(pages, base, { endpoint: 'app.rows', range: '1h', ...fragment }, more);
    await enterKey(opened.page, KEY);
    await shownRows(opened.page);
    return opened;
  };
  const query = (page: Page) => page.getByRole('textbox', { name: 'Query' });
  const detail = (page: Page) => page.getByRole('complementary', { name: 'Row' });

  it('are a log by their types: time, message, colours, counts, filters, and what has no value apart', async () => {
    const { page, complaints } = await open({});
    const heads = await page.getByRole('columnheader').allTextContents();
    expect(heads.map((text) => text.replace(/[‹›×]/g, ''))).toEqual(['time · UTC', 'msg']);
    await page
      .locator('.legend')
      .getByText(`${COUNT.toLocaleString('en')} rows in the range`)
      .waitFor();
    await status(page).getByText('500 rows (there are older ones)').waitFor();
    const failed = rows(page).filter({ hasText: 'failed to reach' }).first();
    expect(await failed.getAttribute('class')).toContain('error');
    expect(await page.locator('.bars rect.error').count()).toBeGreaterThan(0);
    await failed.locator('.ansi-1').waitFor();
    // A nested field is a column, is sorted by and filtered by.
    const fields = page.getByRole('complementary', { name: 'Fields' });
    await fields.getByText('1 field without a value').click();
    await fields.getByTitle('nothing').waitFor();
    await fields.getByRole('button', { name: 'Column http.status' }).click();
    await fields.getByRole('button', { name: 'Column duration' }).click();
    await page.getByRole('button', { name: 'Move duration to the left' }).click();
    await page
      .getByRole('columnheader', { name: 'duration' })
      .getByRole('button', { name: /^duration/ })
      .click();
    const durations = (await rows(page).locator('.cell:nth-child(2)').allTextContents()).slice(1, 4);
    expect(durations.map(Number)).toEqual([1, 2, 3]);
    await page.getByRole('button', { name: 'Remove duration' }).click();
    await fields.getByTitle('http.status').click();
    await fields.getByRole('button', { name: 'Filter by http.status:500' }).click();
    await page.waitForFunction(() => location.hash.includes('http.status%3A500'));
    await until(async () => (await shownRows(page)).slice(1).every((text) => text.includes('500')));
    // A click on the ground closes what is open.
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('button', { name: SHARED.name }).waitFor();
    const panel = await page.locator('.history').boundingBox();
    expect(panel!.x + panel!.width).toBeLessThanOrEqual(1440);
    await page.locator('.legend').click();
    await page.getByRole('button', { name: SHARED.name }).waitFor({ state: 'hidden' });
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('button', { name: SHARED.name }).click();
    await page.waitForFunction(() => location.hash.includes('level%3A50'));
    expect(complaints).toEqual([]);
  });

  it('lead on from a row: those around it, its trace, older ones, and the patterns of all', async () => {
    const { page, complaints } = await open({ lql: 'f:app http.path:"/b"' });
    await rows(page).filter({ hasText: 'user 21 ' }).first().click();
    await detail(page).getByRole('button', { name: 'Around' }).click();
    await page.waitForFunction(() => location.hash.includes('row='));
    await page.locator('.row.opened').getByText('user 21 ').waitFor();
    await rows(page).filter({ hasText: 'failed to reach db20' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(
      `${base}/explore#${new URLSearchParams({ endpoint: 'app.rows', range: '1h', lql: 'f:app' }).toString()}`,
    );
    await status(page).getByText('500 rows').waitFor();
    await rows(page).filter({ hasText: 'user 2 ' }).first().click();
    await detail(page).getByRole('button', { name: 'Trace', exact: true }).click();
    await until(async () => (await shownRows(page)).length === 3);
    expect(await query(page).textContent()).toBe(`f:app trace_id:"${TRACE}"`);
    await query(page).fill('');
    await query(page).press('Enter');
    await status(page).getByText('500 rows').waitFor();
    await rows(page).filter({ hasText: '{"a"' }).click();
    await detail(page).locator('.message').getByText('two').waitFor();
    await page.keyboard.press('Escape');
    const older = page.getByRole('button', { name: 'Load older' });
    for (const count of ['999', '1,200']) {
      await page.getByRole('grid', { name: 'Rows' }).press('End');
      await older.click();
      await status(page).getByText(`${count} rows`).waitFor();
    }
    await older.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Wrap' }).click();
    await page.getByRole('button', { name: 'Patterns' }).click();
    const patterns = page.getByRole('region', { name: 'Patterns' });
    await patterns.getByText(`in ${COUNT.toLocaleString('en')} loaded rows`).waitFor();
    expect((await patterns.getByRole('listitem').first().innerText()).replace(/\s+/g, ' ')).toContain(
      'user * logged in',
    );
    // The file has all of them, too.
    await page.getByText('Download', { exact: true }).click();
    const arriving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    await arriving;
    await page.getByText(`Downloaded ${COUNT.toLocaleString('en')} rows.`).waitFor();
    expect(complaints).toEqual([]);
  });

  it('come live without ids, where there was none before', async () => {
    const { page, complaints } = await open({ lql: 'f:app' });
    await query(page).fill('f:app level:60');
    await query(page).press('Enter');
    await page.getByText('No rows in this range.').waitFor();
    await page.getByRole('button', { name: 'Live' }).click();
    await page.mouse.move(5, 5);
    for (const msg of ['the first of its kind', 'the first of its kind', 'the second']) {
      await appendFile(path.join(data, 'raw_app.ndjson'), rowOf(0, { time: new Date().toISOString(), level: 60, msg }));
    }
    await until(async () => (await rows(page).count()) === 4);
    await page.locator('.legend').getByText('3 rows').waitFor();
    expect(complaints).toEqual([]);
  });

  it('are searched by the keyboard, with values that are there, and what was read otherwise is said', async () => {
    const { page, complaints } = await open({ lql: 'f:app' }, { bypassCSP: true });
    // The keyboard is in the query after the key.
    await until(() => page.evaluate(() => document.activeElement?.classList.contains('code-field') === true));
    await page.keyboard.type(' http.path:');
    await page.getByRole('option', { name: '/a' }).waitFor();
    await query(page).fill('f:app error OR warn');
    await query(page).press('Enter');
    await page.locator('.empty .note').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Without the filters' }).click();
    await shownRows(page);
    await page.mouse.move(5, 5);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await detail(page).waitFor();
    expect(await page.locator('.row.opened').getAttribute('aria-rowindex')).toBe('2');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    let tabs = 0;
    while (!(await page.evaluate(() => document.activeElement?.getAttribute('role') === 'grid'))) {
      await page.keyboard.press('Tab');
      tabs++;
      expect(tabs).toBeLessThanOrEqual(12);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await until(async () => ((await rows(page).nth(0).boundingBox())?.y ?? 1e9) < 844 / 3);
    expect(complaints).toEqual([]);
  });

  it('are scrolled through by the hundred thousand without a pause', async () => {
    const range = '2026-09-30T00:00:00.000Z/2026-09-30T00:02:00.000Z';
    const { page, complaints } = await open({ endpoint: 'many.rows', range });
    const loaded = async (): Promise<number> =>
      Number(/^([\d,]+) rows/.exec((await status(page).textContent()) ?? '')?.[1]?.replaceAll(',', ''));
    for (let before = await loaded(); before < 99_000; before = await loaded()) {
      await page.getByRole('grid', { name: 'Rows' }).press('End');
      await page.getByRole('button', { name: 'Load older' }).click();
      await until(async () => (await loaded()) > before);
    }
    // Of the page's own thread, as other tests have the processor, too; a step has at least two tasks.
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busy = async (): Promise<number> => {
      const { metrics } = await session.send('Performance.getMetrics');
      return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
    };
    let [before, longest] = [await busy(), 0];
    for (let i = 0; i <= 100; i++) {
      await page.locator('.rows').evaluate(async (pane, part) => {
        pane.scrollTop = pane.scrollHeight * part;
        await new Promise(requestAnimationFrame);
      }, i / 100);
      const now = await busy();
      [before, longest] = [now, Math.max(longest, now - before)];
    }
    expect(longest).toBeLessThan(100);
    expect(complaints).toEqual([]);
  });
});
