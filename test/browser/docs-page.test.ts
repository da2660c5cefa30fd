/** The documentation page in a real browser, from a started process. */
import { rmSync, writeFileSync } from 'node:fs';
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
  it('asks nobody for anything, breaks no rule of its policy, complains of nothing, and leads to the explorer', async () => {
    const { page, complaints, requests } = await open(`${base}/docs`);
    await article(page, 'logs.all').getByText('X-API-KEY').waitFor();
    expect(complaints).toEqual([]);
    expect(requests.filter((one) => !one.startsWith('data:'))).toEqual([`${base}/docs`]);
    await article(page, 'logs.all').getByRole('link', { name: 'Try logs.all in the explorer' }).click();
    await page.getByRole('heading', { level: 1 }).or(page.getByText('API key')).first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/explore');
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
    const { faults, checked } = await page.evaluate(contrastFaults);
    expect(faults).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  it.each([375, 320, 1280])('does not have to be moved sideways at %i px', async (width) => {
    const { page } = await open(`${base}/docs`, { viewport: { width, height: 700 } });
    const { wide, over } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      over: [...document.querySelectorAll('input, select, textarea, button, pre, h1, h2, p, .scroll')]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
        .map(({ outerHTML }) => outerHTML.slice(0, 80)),
    }));
    expect({ wide, over }).toEqual({ wide: 0, over: [] });
  });
});

it('shows nothing of the catalogue without a key where DOCS=key', async () => {
  const ofKeys = await start({ DOCS: 'key', CLOCK: '2026-09-30T12:00:00Z' }, stage.folder()).ready();
  const get = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${ofKeys}/docs`, { headers: { Accept: 'text/html', ...headers } });
  expect(await (await get({})).text()).not.toMatch(/logs\.all|usage\.api-counts|postgrest_logs/);
  expect((await get({ 'X-API-KEY': 'wrong' })).status).toBe(401);
  expect(await (await get({ 'X-API-KEY': KEY })).text()).toContain('id="endpoint:logs.all"');
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
