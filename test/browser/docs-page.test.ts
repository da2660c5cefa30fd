/** The documentation page in a real browser, from a started process. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'playwright-core';

import { contrastFaults } from './contrast';
import { findChromium } from './browser';
import { type PageOptions, Pages, type Watched } from './pages';
import { Stage, type Started } from '../process/started';

jest.setTimeout(300_000);

const chromium = findChromium();
// CI counts what is skipped as failed: there a browser must be.
const withBrowser = chromium === null ? describe.skip : describe;
if (chromium === null)
  process.stderr.write('No Chromium on PATH: the documentation page is not tested in a browser.\n');

const stage = new Stage();
const folder = stage.folder();
let base: string;
let pages: Pages | null = null;
beforeAll(async () => {
  // A week of sample logs.
  base = await start({ DATA_DIR: '' }, folder).ready();
  if (chromium !== null) pages = await Pages.inBrowser(chromium);
});
afterEach(() => pages?.endTest());
afterAll(async () => {
  await pages?.close();
  await stage.end();
});

function open(url: string, options?: PageOptions): Promise<Watched> {
  if (pages === null) throw new Error('There is no browser.');
  return pages.open(url, options);
}

const KEY = 'a-key-of-the-browser';

function start(environment: Readonly<Record<string, string>>, inFolder: string): Started {
  return stage.start({ API_KEY: KEY, ...environment }, inFolder);
}

const article = (page: Page, name: string) =>
  page.locator('article', { has: page.getByRole('heading', { name, exact: true }) });

withBrowser('in a browser, DOCS=open', () => {
  it('asks nobody else for anything, breaks no rule of its policy and complains of nothing', async () => {
    const { page, complaints, requests } = await open(`${base}/docs`);
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await page.getByRole('button', { name: 'Send the request to logs.all' }).click();
    await article(page, 'logs.all').getByRole('table').last().waitFor();
    expect(complaints).toEqual([]);
    expect(requests).toHaveLength(2);
    for (const url of requests.filter((one) => !one.startsWith('data:'))) expect(new URL(url).origin).toBe(base);
    expect(requests.join(' ')).not.toContain(KEY);
    const stored = await page.evaluate(async () => ({
      local: Object.fromEntries(Object.entries(localStorage)),
      session: Object.fromEntries(Object.entries(sessionStorage)),
      cookie: document.cookie,
      databases: await indexedDB.databases(),
      url: location.href,
    }));
    expect(stored).toEqual({ local: {}, session: {}, cookie: '', databases: [], url: `${base}/docs` });
  });

  it('works after it was reloaded, with its style and its script', async () => {
    const { page, complaints } = await open(`${base}/docs`);
    const look = () => page.evaluate(() => getComputedStyle(document.body).fontFamily);
    const before = await look();
    const statuses: number[] = [];
    page.on('response', (response) => statuses.push(response.status()));
    for (let i = 0; i < 2; i++) {
      await page.reload();
      expect(await look()).toBe(before);
    }
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await page.getByRole('button', { name: 'Send the request to logs.all' }).click();
    await article(page, 'logs.all').getByRole('table').last().waitFor();
    expect(complaints).toEqual([]);
    // Chromium revalidates, and treats a 304 as the 200 that it stored.
    expect(statuses.every((status) => status === 200 || status === 304)).toBe(true);
  });

  it('shows the answer of a stored query as a table, and as it was received', async () => {
    const { page } = await open(`${base}/docs`);
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    const counts = article(page, 'usage.api-counts');
    await counts.getByLabel('interval').selectOption('1hr');
    await counts.getByRole('button', { name: /^Send/ }).click();
    const answer = counts.getByRole('status');
    await answer.getByRole('table').waitFor();
    expect(await answer.locator('thead th, tr:first-child th').allTextContents()).toEqual([
      'timestamp',
      'total_rest_requests',
      'total_storage_requests',
      'total_auth_requests',
      'total_realtime_requests',
    ]);
    expect(await answer.locator('tbody tr').count()).toBeGreaterThan(30);
    expect(await answer.locator('.status').textContent()).toMatch(/^200, \d+ ms$/);
    await answer.getByText('Raw', { exact: true }).click();
    expect(await answer.locator('pre').last().textContent()).toMatch(/^\{"result":\[\{"timestamp":"/);
    await counts.getByLabel('Format').selectOption('CSV');
    await counts.getByRole('button', { name: /^Send/ }).click();
    await answer.locator('pre', { hasText: 'timestamp,total_rest_requests' }).waitFor();
  });

  it('keeps every digit of a whole number, and shows what rows hold as text', async () => {
    const { page, complaints } = await open(`${base}/docs`);
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    const logs = article(page, 'logs.all');
    await logs
      .getByLabel('sql', { exact: true })
      .fill(
        `SELECT 9223372036854775807 AS big, '<img src=x onerror=alert(1)>' AS markup, NULL AS nothing FROM edge_logs LIMIT 1`,
      );
    await logs.getByRole('button', { name: /^Send/ }).click();
    await logs.getByRole('status').getByRole('table').waitFor();
    expect(await logs.getByRole('status').locator('tbody td').allTextContents()).toEqual([
      '9223372036854775807',
      '<img src=x onerror=alert(1)>',
      'null',
    ]);
    expect(complaints).toEqual([]);
  });

  it('tells an error in words, with its place', async () => {
    const { page, complaints } = await open(`${base}/docs`);
    const logs = article(page, 'logs.all');
    const answer = logs.getByRole('status');
    await logs.getByRole('button', { name: /^Send/ }).click();
    await answer.getByText('This request needs a key.').first().waitFor();
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await logs.getByLabel('sql', { exact: true }).fill('SELECT nothing_such\nFROM edge_logs');
    await logs.getByRole('button', { name: /^Send/ }).click();
    await answer.getByText('Unrecognized name: nothing_such').first().waitFor();
    expect(await answer.locator('dt').allTextContents()).toEqual(
      expect.arrayContaining(['reason', 'line', 'column', 'near']),
    );
    expect(complaints).toEqual([]);
  });

  it('sends what is too long for a URL as a POST', async () => {
    const { page, requests } = await open(`${base}/docs`);
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    const logs = article(page, 'logs.all');
    await logs.getByLabel('sql', { exact: true }).fill(`SELECT COUNT(*) AS n FROM edge_logs -- ${'x'.repeat(8000)}`);
    await logs.getByRole('button', { name: /^Send/ }).click();
    await logs.getByRole('status').getByRole('table').waitFor();
    expect(requests.at(-1)).toBe(`${base}/api/endpoints/query/logs.all`);
  });

  it('keeps the curl line up to what the form says, without the key, and copies it', async () => {
    const { page } = await open(`${base}/docs`, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    const logs = article(page, 'logs.all');
    await logs.getByLabel(/^project/).fill("it's");
    await logs.getByLabel('lql', { exact: true }).fill('f:auth_logs');
    await logs.getByLabel('Redact IP and e-mail addresses').check();
    await logs.getByRole('button', { name: 'Copy the curl line of logs.all' }).click();
    await logs.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.split(' \\\n  ')).toEqual([
      `curl --get -H "X-API-KEY: $KEY" '${base}/api/endpoints/query/logs.all'`,
      "-H 'Accept: application/json'",
      "-H 'LF-ENDPOINT-REDACT-PII: true'",
      `--data-urlencode 'project=it'\\''s'`,
      "--data-urlencode 'lql=f:auth_logs'",
    ]);
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = await open(`${base}/docs`);
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id ?? '');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the endpoints');
    const visible = await page.evaluate(() => {
      const { left, top } = document.activeElement?.getBoundingClientRect() ?? { left: -1, top: -1 };
      return left >= 0 && top >= 0;
    });
    expect(visible).toBe(true);
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('main');
    await page.getByLabel('Key', { exact: true }).focus();
    await page.keyboard.type(KEY);
    const seen: string[] = [];
    for (let i = 0; i < 60 && !seen.includes('Send the request to logs.all'); i++) {
      await page.keyboard.press('Tab');
      seen.push(await focused());
    }
    expect(seen).toEqual(
      expect.arrayContaining([
        'Parameters of logs.all',
        'Copy the curl line of logs.all',
        'try:logs.all:project',
        'try:logs.all:sql',
      ]),
    );
    await page.keyboard.press('Enter');
    await article(page, 'logs.all').getByRole('status').getByRole('table').waitFor();
    // A required field sends the form too.
    await article(page, 'logs.all')
      .getByLabel(/^project/)
      .focus();
    await page.keyboard.press('Enter');
    await article(page, 'logs.all').getByRole('status').getByRole('table').waitFor();
  });

  it('has landmarks, headings in order, and a name for everything that can be used', async () => {
    const { page } = await open(`${base}/docs`);
    for (const role of ['banner', 'main', 'navigation', 'contentinfo'] as const) {
      expect([role, await page.getByRole(role).count()]).toEqual([role, 1]);
    }
    const levels = await page
      .locator('h1, h2, h3, h4')
      .evaluateAll((all) => all.map(({ tagName }) => Number(tagName.slice(1))));
    expect(levels[0]).toBe(1);
    levels.slice(1).forEach((level, i) => expect(level - (levels[i] ?? 0)).toBeLessThanOrEqual(1));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    const nameless = await page.locator('input, select, textarea, button, a').evaluateAll((all) =>
      all
        .filter((one) => {
          const labels = 'labels' in one ? ((one as HTMLInputElement).labels?.length ?? 0) : 0;
          return labels === 0 && !one.ariaLabel && !one.textContent?.trim();
        })
        .map(({ outerHTML }) => outerHTML),
    );
    expect(nameless).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('en');
    expect(await page.title()).not.toBe('');
    for (const [, id] of (await page.content()).matchAll(/href="#([^"]+)"/g)) {
      expect([id, await page.evaluate((one) => document.getElementById(one) !== null, id ?? '')]).toEqual([id, true]);
    }
  });

  it.each(['light', 'dark'] as const)('has contrast enough in its %s colours', async (colorScheme) => {
    const { page } = await open(`${base}/docs`, { colorScheme });
    await page.getByLabel('Key', { exact: true }).fill('wrong');
    await article(page, 'logs.all').getByRole('button', { name: /^Send/ }).click();
    await article(page, 'logs.all').getByText('The key is not valid.').first().waitFor();
    const { faults, checked } = await page.evaluate(contrastFaults);
    expect(faults).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  it.each([375, 320, 1280])('does not have to be moved sideways at %i px', async (width) => {
    const { page } = await open(`${base}/docs`, { viewport: { width, height: 700 } });
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await article(page, 'logs.all').getByRole('button', { name: /^Send/ }).click();
    await article(page, 'logs.all').getByRole('status').getByRole('table').waitFor();
    await page.locator('details').evaluateAll((all) => all.forEach((one) => one.setAttribute('open', '')));
    const { wide, over } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      over: [...document.querySelectorAll('input, select, textarea, button, pre, h1, h2, p, .scroll')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
        .map(({ outerHTML }) => outerHTML.slice(0, 80)),
    }));
    expect({ wide, over }).toEqual({ wide: 0, over: [] });
  });
});

withBrowser('in a browser, DOCS=key', () => {
  it('asks for a key, and shows what that one may run', async () => {
    const ofTenant = stage.folder();
    const { createHash } = await import('node:crypto');
    const hash = createHash('sha256').update('tenant-key').digest('hex');
    mkdirSync(path.join(ofTenant, '.data'), { recursive: true });
    writeFileSync(
      path.join(ofTenant, '.data/keys.json'),
      JSON.stringify({ keys: [{ name: 'tenant', hash, endpoints: ['logs.all'], pins: { project: 'default' } }] }),
    );
    const ofKeys = await start({ DOCS: 'key', CLOCK: '2026-09-30T12:00:00Z' }, ofTenant).ready();
    const { page, complaints, requests } = await open(`${ofKeys}/docs`);
    expect(await page.content()).not.toMatch(/logs\.all|usage\.api-counts|postgrest_logs/);
    const show = async (key: string): Promise<void> => {
      await page.getByLabel('Key', { exact: true }).fill(key);
      await page.getByRole('button', { name: 'Show what it may run' }).click();
    };
    await show('wrong');
    await page.getByText('This key is not valid.').waitFor();
    expect(await page.locator('article').count()).toBe(0);
    await show(KEY);
    const stored = readdirSync(path.join(__dirname, '../../queries')).filter((file) => file.endsWith('.sql'));
    await page.getByText(`${stored.length} endpoints`).waitFor();
    await show('tenant-key');
    await page.getByText('1 endpoint', { exact: true }).waitFor();
    expect(await page.locator('article h2').allTextContents()).toEqual(['logs.all']);
    expect(await page.getByRole('link', { name: 'logs.all' }).count()).toBe(1);
    expect(await article(page, 'logs.all').locator('[data-parameter="project"]').count()).toBe(0);
    await article(page, 'logs.all').getByRole('button', { name: /^Send/ }).click();
    await article(page, 'logs.all').getByRole('status').getByRole('table').waitFor();
    expect(complaints).toEqual([]);
    expect(requests.join(' ')).not.toMatch(/tenant-key|a-key/);
  });
});

it('follows the catalogue while the service runs', async () => {
  const get = async (at: string): Promise<[string, string | null]> => {
    const response = await fetch(base + at);
    return [await response.text(), response.headers.get('etag')];
  };
  const before = { openApi: await get('/openapi.json'), page: await get('/docs') };
  const file = path.join(folder, 'queries/new.one.sql');
  writeFileSync(file, '/*\nid: 5f0c2d9e-0b51-4f4d-9d57-7e9f2a1c0001\nname: new.one\n*/\nSELECT 1 AS one\n');
  let document = '';
  for (let i = 0; i < 100 && !document.includes('new.one'); i++) {
    await sleep(100);
    [document] = await get('/openapi.json');
  }
  expect(document).toContain('/api/endpoints/query/new.one');
  const [page, etag] = await get('/docs');
  expect(page).toContain('endpoint:new.one');
  expect(etag).not.toBe(before.page[1]);
  rmSync(file);
  for (let i = 0; i < 100 && document.includes('new.one'); i++) {
    await sleep(100);
    [document] = await get('/openapi.json');
  }
  expect(await get('/openapi.json')).toEqual(before.openApi);
  expect(await get('/docs')).toEqual(before.page);
});
