/** Answers that come late or never, and what is left of another search, endpoint or key: the explorer in a real browser. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Page, Route } from 'playwright-core';

import { Stage } from '../process/started';
import { until } from '../until';
import { CHROMIUM, withBrowser } from './browser';
import { enterKey, openExplorer, rows, shownRows, status } from './explorer-page';
import { type PageOptions, Pages } from './pages';

jest.setTimeout(300_000);

const KEY = 'a-key-of-the-explorer';
const RANGE = '2026-09-30T00:00:00.000Z/2026-10-01T00:00:00.000Z';
/** What is refreshed at an interval. */
const GROUPS = 'SELECT COUNT(*) AS n FROM edge_logs';
const QUERIES = '**/api/endpoints/query/**';

/** An endpoint of rows of its own, without parameters. */
const PLAIN = `/*
id: 8f0f1c52-7a60-4d0e-8a5f-6d1f0b7c2e13
name: plain
params: {}
*/
SELECT timestamp, id, event_message FROM raw_edge_logs ORDER BY timestamp DESC LIMIT 9
`;

/** What is sent, in plain text. */
const sentIn = (route: Route): string => {
  const request = route.request();
  return decodeURIComponent(request.url().replaceAll('+', ' ')) + (request.postData() ?? '');
};

/** Something to wait for, and what lets it go on. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

withBrowser('the explorer with late answers', () => {
  const stage = new Stage();
  let pages: Pages;
  let base = '';
  beforeAll(async () => {
    if (CHROMIUM !== null) pages = await Pages.inBrowser(CHROMIUM);
    const folder = stage.folder();
    writeFileSync(path.join(folder, 'queries/plain.sql'), PLAIN);
    base = await stage.start({ API_KEY: KEY }, folder).ready();
  });
  afterEach(() => pages.endTest());
  afterAll(async () => {
    await pages.close();
    await stage.end();
  });

  /** Opened with the key. */
  const open = async (fragment: Readonly<Record<string, string>> = { range: RANGE }, options: PageOptions = {}) => {
    const watched = await openExplorer(pages, base, fragment, { viewport: { width: 1500, height: 900 }, ...options });
    await enterKey(watched.page, KEY);
    return watched;
  };
  const queryOf = (page: Page) => page.getByRole('textbox', { name: 'Query' });
  const runText = async (page: Page, text: string): Promise<void> => {
    await queryOf(page).fill(text);
    await queryOf(page).press('Control+Enter');
  };
  const choose = (page: Page, endpoint: string) =>
    page.getByRole('combobox', { name: 'Endpoint' }).selectOption(endpoint);
  /** Passes answers on as parts of a longer result. */
  const cut = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), 'x-result-truncated': 'true' } });
  };
  /** Answers what a query would cost. */
  const price = (page: Page, amount: number) => {
    const estimate = { bytes: '1000', price: amount, currency: 'USD', budgetLeft: null };
    return page.route('**/api/endpoints/analyze/**', (route) =>
      route.fulfill({ json: { result: { estimate, errors: [] } } }),
    );
  };

  it('remembers, links and goes on from what was run, whatever is written meanwhile', async () => {
    const { page, complaints } = await open({ range: RANGE }, { permissions: ['clipboard-read', 'clipboard-write'] });
    await shownRows(page);
    const held = gate();
    await page.route(QUERIES, (route) => held.opened.then(() => route.continue()));
    await runText(page, 'f:edge_logs GET');
    await queryOf(page).fill('f:auth_logs nothing');
    held.open();
    await until(async () => (await shownRows(page)).slice(1).every((text) => text.includes('GET')));
    await page.getByText('History', { exact: true }).click();
    const before = await page.locator('.history .choices').getByRole('button').allTextContents();
    expect(before[0]).toContain('f:edge_logs GET');
    expect(before.join()).not.toContain('auth_logs');
    await page.keyboard.press('Escape');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByText('Share', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy link to these times' }).click();
    await page.getByRole('status').getByText('Copied').waitFor();
    expect(await copied()).toContain('edge_logs+GET');
    await page.keyboard.press('Escape');
    await rows(page).nth(1).click();
    const detail = page.getByRole('complementary', { name: 'Row' });
    await detail.getByRole('button', { name: 'Copy link' }).click();
    await detail.getByText('Copied').waitFor();
    expect(await copied()).toMatch(/edge_logs\+GET.*row=/);
    await detail.getByRole('button', { name: 'Around' }).click();
    await page.waitForFunction(() => location.hash.includes('row='));
    expect(await queryOf(page).textContent()).toBe('f:edge_logs');
    expect(complaints).toEqual([]);
  });

  it('filters by no names of SQL in LQL', async () => {
    const sql = 'SELECT timestamp, id AS other, event_message FROM edge_logs LIMIT 5';
    const { page } = await open({ range: RANGE, sql });
    await shownRows(page);
    await page.getByRole('button', { name: 'LQL', exact: true }).click();
    await rows(page).nth(1).click();
    await page.getByRole('button', { name: 'Copy other' }).waitFor();
    expect(await page.getByRole('button', { name: /^Filter by other/ }).count()).toBe(0);
  });

  it('leaves nothing of one endpoint beside the name of another', async () => {
    const { page } = await open();
    await shownRows(page);
    const held = gate();
    await page.route(QUERIES, (route) => held.opened.then(() => route.continue()));
    await choose(page, 'plain');
    await until(async () => (await rows(page).count()) === 1);
    await page.getByRole('combobox', { name: 'Endpoint' }).press('Escape');
    await status(page).getByText('Cancelled.', { exact: true }).waitFor();
    expect(await page.locator('.bars').count()).toBe(0);
    held.open();
  });

  it('says what has not run yet, whatever came of the run before', async () => {
    const { page } = await open({ endpoint: 'plain' });
    await shownRows(page);
    await price(page, 1);
    await page.route(QUERIES, () => undefined);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.keyboard.press('Escape');
    await status(page).getByText('Cancelled.').waitFor();
    await choose(page, 'logs.all');
    await page.getByText('This search has not run yet.').waitFor();
    await status(page).getByText('Not run yet.').waitFor();
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes('endpoint=plain'));
  });

  it('does not run for ever for a key without endpoints', async () => {
    const { page } = await openExplorer(pages, base, { range: RANGE });
    await page.route('**/api/endpoints', (route) => route.fulfill({ json: { result: [] } }));
    await enterKey(page, KEY);
    await page.getByRole('button', { name: 'Run' }).waitFor();
  });

  it('has no bars of another run beside rows whose count was cancelled', async () => {
    const { page } = await open();
    await shownRows(page);
    await page.getByText('rows in the range').waitFor();
    await page.route(QUERIES, (route) => (sentIn(route).includes('SELECT DIV') ? undefined : route.continue()));
    await runText(page, 'f:edge_logs GET');
    await until(async () => (await rows(page).allTextContents()).slice(1).every((text) => text.includes('GET')));
    await page.keyboard.press('Escape');
    await page.locator('.legend').getByText('loaded rows').waitFor();
    expect(await status(page).textContent()).toMatch(/^\d+ rows/);
  });

  it('goes back to each run, one that cancelled another too', async () => {
    const { page } = await open();
    await shownRows(page);
    const held = gate();
    await page.route(QUERIES, (route) => held.opened.then(() => route.continue().catch(() => undefined)));
    await runText(page, 'f:edge_logs first');
    await runText(page, 'f:edge_logs GET');
    held.open();
    await shownRows(page);
    await runText(page, 'f:edge_logs 404');
    await page.waitForFunction(() => location.hash.includes('404'));
    await page.goBack();
    expect(await queryOf(page).textContent()).toBe('f:edge_logs GET');
    await page.goBack();
    expect(await queryOf(page).textContent()).toBe('f:edge_logs first');
  });

  it('loads older rows of a run while those of the one before do not come', async () => {
    const { page } = await open();
    await shownRows(page);
    let never = false;
    await page.route(QUERIES, (route) => (never ? undefined : cut(route)));
    await runText(page, 'f:edge_logs GET');
    const older = page.getByRole('button', { name: 'Load older' });
    await older.waitFor();
    never = true;
    await older.click();
    await page.getByRole('button', { name: 'Loading…' }).waitFor();
    never = false;
    await runText(page, 'f:edge_logs');
    await older.waitFor();
    expect(await older.isEnabled()).toBe(true);
  });

  it('looks for a row among older ones of its own run alone', async () => {
    const { page } = await open();
    await shownRows(page);
    await rows(page).nth(1).click();
    const held = gate();
    const asked: string[] = [];
    const other = { timestamp: '2026-09-30T10:00:00.000Z', id: 'other', event_message: 'other', metadata: [] };
    await page.route(QUERIES, async (route) => {
      const sent = sentIn(route);
      if (sent.includes('SELECT DIV')) return route.continue();
      asked.push(sent);
      if (asked.length === 2) await held.opened;
      await route.fulfill({ json: { result: [other] }, headers: { 'x-result-truncated': 'true' } });
    });
    await page.getByRole('button', { name: 'Around' }).click();
    await until(() => asked.length === 2);
    await runText(page, 'f:edge_logs other');
    await until(async () => asked.length === 3 && (await page.getByText('Running…').count()) === 0);
    const answered = page.waitForResponse((response) => decodeURIComponent(response.url()).endsWith('lql=f:edge_logs'));
    held.open();
    await answered;
    await page.getByRole('button', { name: 'Run' }).click();
    await until(() => asked.length > 3);
    await page.getByText('Running…').waitFor({ state: 'hidden' });
    expect(asked).toHaveLength(4);
  });

  it('goes on with live rows where older ones came meanwhile', async () => {
    const { page } = await open({ range: '1h' });
    await status(page)
      .getByText(/ ms · /)
      .waitFor();
    const rowOf = (text: string, age: number) => ({
      timestamp: new Date(Date.now() - age).toISOString(),
      id: text,
      event_message: text,
      metadata: [],
    });
    const held = gate();
    let [looks, answers] = [0, 0];
    await page.route('**/api/endpoints/tail/**', (route) => route.fulfill({ status: 400, json: {} }));
    await page.route(QUERIES, async (route) => {
      if (sentIn(route).includes('SELECT DIV')) return route.continue();
      const number = ++answers;
      if (number === 2) {
        looks++;
        await held.opened;
      }
      const text = ['first', 'late', 'older'][number - 1] ?? 'more';
      await route.fulfill({
        json: { result: [rowOf(text, text === 'older' ? 60_000 : text === 'late' ? 10 : 1000)] },
        headers: { 'x-result-truncated': 'true' },
      });
    });
    await page.getByRole('button', { name: 'Run' }).click();
    await rows(page).filter({ hasText: 'first' }).waitFor();
    await page.mouse.move(5, 5);
    await page.getByRole('button', { name: 'Live' }).press('Enter');
    await until(() => looks === 1);
    await page.getByRole('button', { name: 'Load older' }).dispatchEvent('click');
    await rows(page).filter({ hasText: 'older' }).waitFor();
    held.open();
    await rows(page).filter({ hasText: 'late' }).waitFor();
  });

  it('follows no other endpoint than the one it was told to', async () => {
    const { page } = await open({ range: '1h' });
    const live = page.getByRole('button', { name: 'Live' });
    await live.click();
    await page.locator('.live[aria-pressed=true]').waitFor();
    await choose(page, 'plain');
    await shownRows(page);
    await choose(page, 'logs.all');
    await live.waitFor();
    expect(await live.getAttribute('aria-pressed')).toBe('false');
  });

  it('asks once how often to refresh', async () => {
    const { page } = await openExplorer(pages, base, { range: '1h', sql: GROUPS });
    await price(page, 0.001);
    await enterKey(page, KEY);
    const refresh = page.getByRole('button', { name: 'Refresh' });
    await refresh.waitFor();
    await page.getByText('Running…').waitFor({ state: 'hidden' });
    const held = gate();
    let asked = 0;
    const estimate = { bytes: '1000', price: 0.001, currency: 'USD', budgetLeft: null };
    await page.route('**/api/endpoints/analyze/**', async (route) => {
      if (++asked === 2) await held.opened;
      await route.fulfill({ json: { result: { estimate, errors: [] } } });
    });
    await refresh.evaluate((button: HTMLButtonElement) => {
      button.click();
      button.click();
    });
    await page.getByRole('button', { name: 'Start' }).click();
    const answered = page.waitForResponse('**/api/endpoints/analyze/**', { timeout: 1000 }).catch(() => null);
    held.open();
    await answered;
    await page.locator('.live[aria-pressed=true]').waitFor();
    expect(await page.getByRole('group', { name: 'Refresh' }).count()).toBe(0);
  });

  it('refreshes by no parameter that is being written', async () => {
    const { page, requests } = await open({ range: '1h', sql: GROUPS }, { own: true });
    await page.getByRole('button', { name: 'Refresh' }).waitFor();
    await page.clock.install();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.mouse.move(5, 5);
    await page.getByRole('textbox', { name: 'project' }).fill('defau');
    const before = requests.length;
    await page.clock.runFor(21_000);
    await page.evaluate(() => 0);
    expect(requests.slice(before).filter((url) => url.includes('/query/'))).toEqual([]);
    // It goes on once that was run.
    await page.getByRole('textbox', { name: 'project' }).press('Enter');
    await until(() => requests.slice(before).some((url) => url.includes('defau')));
    await page.getByText('Running…').waitFor({ state: 'hidden' });
    const run = requests.length;
    await page.clock.runFor(21_000);
    await until(() => requests.slice(run).some((url) => url.includes('defau')));
  });

  it('opens the row of a link to rows of an endpoint without a query', async () => {
    const { page } = await open({ endpoint: 'plain' }, { permissions: ['clipboard-read', 'clipboard-write'] });
    await rows(page).nth(3).click();
    const detail = page.getByRole('complementary', { name: 'Row' });
    const title = await detail.getByRole('heading').textContent();
    await detail.getByRole('button', { name: 'Copy link' }).click();
    await detail.getByText('Copied').waitFor();
    const second = await page.context().newPage();
    await second.goto(await page.evaluate(() => navigator.clipboard.readText()));
    await enterKey(second, KEY);
    await second.getByRole('heading', { name: String(title) }).waitFor();
  });

  it('keeps nothing of a key that is changed', async () => {
    const { page } = await open();
    await shownRows(page);
    const panel = page.getByRole('banner').getByText('Key', { exact: true });
    await panel.click();
    await page.getByText('of your own, where an endpoint takes them').waitFor();
    await page.getByRole('button', { name: 'Change key' }).click();
    expect(await page.getByRole('textbox', { name: 'Key' }).inputValue()).toBe('');
  });

  it('shows of a key what it may now, or why that is not known', async () => {
    const { page } = await open();
    await shownRows(page);
    const panel = page.getByRole('banner').getByText('Key', { exact: true });
    await panel.click();
    await page.getByText('of your own, where an endpoint takes them').waitFor();
    await page.keyboard.press('Escape');
    await page.route('**/api/key', (route) => route.abort());
    await panel.click();
    await page.getByText('The service does not answer.').waitFor();
  });
});
