/** What the explorer remembers and shares, and the rows that are hardest to show, in a real browser on the embedded engine. */
import { cpSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { Stage } from '../process/started';
import { until } from '../until';
import { CHROMIUM, withBrowser } from './browser';
import { enterKey, openExplorer, rows, shownRows, status } from './explorer-page';
import { type PageOptions, Pages } from './pages';

jest.setTimeout(300_000);

const KEY = 'a-key-of-the-explorer';
const RANGE = '2026-09-30T00:00:00.000Z/2026-10-01T00:00:00.000Z';
const LONG = 1_000_000;

withBrowser('what the explorer remembers', () => {
  const stage = new Stage();
  let pages: Pages;
  let base = '';
  let data = '';
  beforeAll(async () => {
    if (CHROMIUM !== null) pages = await Pages.inBrowser(CHROMIUM);
    const folder = stage.folder();
    data = path.join(folder, 'data');
    cpSync(path.join(__dirname, '../fixture'), data, { recursive: true });
    await write('2026-09-30T13:00:00.000Z', 'x'.repeat(LONG), 'long');
    base = await stage.start({ API_KEY: KEY, DATA_DIR: data }, folder).ready();
  });
  afterEach(() => pages.endTest());
  afterAll(async () => {
    await pages.close();
    await stage.end();
  });

  const write = (timestamp: string, message: string, project: string): Promise<void> => {
    const row = { timestamp, id: crypto.randomUUID(), event_message: message, project, metadata: [] };
    return appendFile(path.join(data, 'raw_edge_logs.ndjson'), `${JSON.stringify(row)}\n`);
  };
  /** Whether a project has rows; each time it is another query, of which nothing is cached. */
  const isServed = async (project: string): Promise<boolean> => {
    const end = new Date(Date.now() + 60_000).toISOString();
    const query = new URLSearchParams({ project, iso_timestamp_end: end }).toString();
    const response = await fetch(`${base}/api/endpoints/query/logs.all?${query}`, { headers: { 'X-API-KEY': KEY } });
    return ((await response.json()) as { result: unknown[] }).result.length > 0;
  };
  const open = (fragment: Readonly<Record<string, string>> = { range: RANGE }, options?: PageOptions) =>
    openExplorer(pages, base, fragment, options);
  const firstTime = (texts: readonly string[]): string => /\d{4}-\d\d-\d\d \d\d:\d\d/.exec(texts[1] ?? '')?.[0] ?? '';

  it('has the searches of before, and those with a name, after a reload too', async () => {
    const { page, complaints } = await open();
    await enterKey(page, KEY);
    const edge = await shownRows(page);
    const query = page.getByRole('textbox', { name: 'Query' });
    await query.fill('f:postgres_logs');
    await query.press('Enter');
    await page.waitForFunction(() => location.hash.includes('postgres_logs'));
    // The address is there before the run begins.
    await until(async () => (await shownRows(page))[1] !== edge[1]);
    const postgres = await shownRows(page);
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Name of this search' }).fill('the database');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the database' }).waitFor();
    await page.keyboard.press('Escape');
    await page.reload();
    await shownRows(page);
    await page.getByText('History', { exact: true }).click();
    await page.locator('.history').getByRole('button', { name: 'f:edge_logs' }).first().click();
    await page.waitForFunction(() => !location.hash.includes('postgres_logs'));
    await until(async () => isDeepStrictEqual(await shownRows(page), edge));
    await page.getByText('History', { exact: true }).click();
    await page.getByRole('button', { name: 'the database', exact: false }).first().click();
    await page.waitForFunction(() => location.hash.includes('postgres_logs'));
    await until(async () => isDeepStrictEqual(await shownRows(page), postgres));
    const stored = await page.evaluate(() => JSON.stringify(localStorage));
    expect(stored).not.toContain(KEY);
    expect(complaints).toEqual([]);
  });

  it('writes times in UTC or in the zone of the machine', async () => {
    const { page, complaints } = await open({ range: RANGE }, { timezoneId: 'Asia/Kolkata' });
    await enterKey(page, KEY);
    const utc = firstTime(await shownRows(page));
    await page.locator('.time-picker summary').click();
    await page.getByRole('checkbox', { name: /^Times of this machine/ }).check();
    await page.waitForFunction(() => location.hash.includes('zone=local'));
    const local = firstTime(await shownRows(page));
    expect(Date.parse(`${local}Z`) - Date.parse(`${utc}Z`)).toBe(5.5 * 3_600_000);
    expect(await page.getByLabel('From (local)').inputValue()).toMatch(/^2026-09-30T05:30/);
    expect(complaints).toEqual([]);
  });

  it('shares a relative range as such, and by the other link the very times', async () => {
    const { page } = await open({ range: '1h' }, { permissions: ['clipboard-read', 'clipboard-write'] });
    const request = page.waitForRequest(/\/api\/endpoints\/query\/logs\.all/);
    await enterKey(page, KEY);
    const sent = new URL((await request).url()).searchParams;
    await status(page)
      .getByText(/ ms · /)
      .waitFor();
    await page.getByText('Share', { exact: true }).click();
    const copied = async (label: string): Promise<string | null> => {
      await page.getByRole('button', { name: label, exact: true }).click();
      await page.getByRole('status').getByText('Copied').waitFor();
      const link = await page.evaluate(() => navigator.clipboard.readText());
      return new URLSearchParams(new URL(link).hash.slice(1)).get('range');
    };
    expect(await copied('Copy link')).toBe('1h');
    const frozen = await copied('Copy link to these times');
    expect(frozen).toBe(`${String(sent.get('iso_timestamp_start'))}/${String(sent.get('iso_timestamp_end'))}`);
  });

  it('has a chosen column and its width after a reload', async () => {
    const { page, complaints } = await open({ range: RANGE }, { viewport: { width: 1500, height: 900 } });
    await enterKey(page, KEY);
    await shownRows(page);
    const fields = page.getByRole('complementary', { name: 'Fields' });
    await fields.getByText('response', { exact: true }).click();
    await fields.getByRole('button', { name: 'Column m.response.status_code' }).click();
    const head = page.getByRole('columnheader', { name: 'm.response.status_code' });
    const width = async (): Promise<number> => (await head.boundingBox())?.width ?? 0;
    const before = await width();
    const handle = page.getByRole('separator', { name: 'Width of m.response.status_code' });
    const box = (await handle.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.move(box.x + 3, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 63, box.y + 5, { steps: 4 });
    await page.mouse.up();
    await handle.focus();
    await page.keyboard.press('ArrowRight');
    const drawn = await width();
    expect(drawn - before).toBe(76);
    await page.reload();
    await shownRows(page);
    expect(await width()).toBe(drawn);
    const cell = await rows(page).nth(1).locator('.cell:nth-child(2)').boundingBox();
    expect(cell?.width).toBe(drawn);
    expect(complaints).toEqual([]);
  });

  it('shows a message of a megabyte in part, and in whole when one wants it', async () => {
    const { page, complaints } = await open({ range: RANGE, p: 'project=long' });
    await enterKey(page, KEY);
    const texts = await shownRows(page);
    expect(texts).toHaveLength(2);
    expect(texts[1]?.length).toBeLessThan(1000);
    await rows(page).nth(1).click();
    const detail = page.getByRole('complementary', { name: 'Row' });
    expect((await detail.textContent())?.length).toBeLessThan(LONG / 10);
    await detail
      .getByRole('button', { name: /^Show all 1,000,000/ })
      .first()
      .click();
    await page.waitForFunction(
      (length) => (document.querySelector('aside[aria-label="Row"]')?.textContent?.length ?? 0) >= length,
      LONG,
    );
    expect(complaints).toEqual([]);
  });

  it('adds no live rows under the pointer, and adds them once it has left', async () => {
    await write(new Date().toISOString(), 'the first message', 'live');
    // The page looks once.
    await until(() => isServed('live'));
    const { page, complaints } = await open({ range: '1h', p: 'project=live' });
    await enterKey(page, KEY);
    const first = rows(page).filter({ hasText: 'the first message' });
    await first.waitFor();
    await page.mouse.move(5, 5);
    const looks: string[] = [];
    page.on('request', (request) => {
      if (/\/api\/endpoints\/(?:query|tail)\/logs\.all/.test(request.url())) looks.push(request.url());
    });
    const live = page.waitForRequest(/\/api\/endpoints\/(?:query|tail)\/logs\.all/);
    await page.getByRole('button', { name: 'Live' }).click();
    await live;
    await first.hover();
    await page.getByRole('button', { name: 'Live: paused' }).waitFor();
    const before = looks.length;
    // A page that nobody points at has looked twice more once it has both.
    const other = await open({ range: '1h', p: 'project=live' });
    await enterKey(other.page, KEY);
    await rows(other.page).nth(1).waitFor();
    await other.page.mouse.move(5, 5);
    await other.page.getByRole('button', { name: 'Live' }).click();
    for (const message of ['the second message', 'the third message']) {
      await write(new Date().toISOString(), message, 'live');
      await rows(other.page).filter({ hasText: message }).waitFor();
    }
    expect([looks.length, await rows(page).count()]).toEqual([before, 2]);
    await page.mouse.move(5, 5);
    await rows(page).filter({ hasText: 'the second message' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
