/**
 * The explorer in a real Chromium: the bytes of its files as they are sent, when the page is first painted, and whether 10,000 rows scroll
 * without a frame left out. A page with nothing but a tall box is scrolled in the same run: without a GPU, or beside other work, a browser may
 * not draw sixty frames a second of that either.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';

import { findChromium, openBrowser } from '../test/browser/browser';
import { median, percentile } from './measure';
import { API_KEY, firstAnswer, type Service, startService } from './service';

const BUILT = join(__dirname, '../../explorer');

const SIZE_GOAL = 250_000;
/** Milliseconds. */
const PAINT_GOAL = 1_000;
/** Frames a second. */
const SCROLL_GOAL = 60;
const OPENINGS = 7;
const ROWS = 10_000;
/** Of one scroll. */
const SECONDS = 4;
const SCROLLS = 3;

const ENDPOINT = `/*
id: 0d9f6c1e-5b0a-4f0e-9c55-7a1f3b2d4e60
name: bench.rows
max_rows: ${String(ROWS)}
cache_ttl: 600
*/
SELECT CONCAT('row-', CAST(n AS STRING)) AS id, TIMESTAMP_ADD(TIMESTAMP '2026-09-30 00:00:00+00', INTERVAL n SECOND) AS timestamp,
  CONCAT('GET | ', CAST(IF(MOD(n, 17) = 0, 500, 200) AS STRING), ' | 192.0.2.11 | https://default.api.example.com/rest/v1/items?id=eq.', CAST(n AS STRING)) AS event_message,
  IF(MOD(n, 17) = 0, 'error', 'info') AS level
FROM UNNEST(GENERATE_ARRAY(1, ${String(ROWS)})) AS n ORDER BY n DESC
`;

export async function explorer(print: (line: string) => void): Promise<void> {
  for (const [coding, suffix] of [
    ['brotli', '.br'],
    ['gzip', '.gz'],
  ] as const) {
    const bytes = readdirSync(BUILT)
      .filter((name) => name.endsWith(suffix))
      .reduce((sum, name) => sum + statSync(join(BUILT, name)).size, 0);
    print(`  all files in ${coding}: ${(bytes / 1000).toFixed(1)} kB (${verdict(bytes <= SIZE_GOAL)} goal 250 kB)`);
  }
  const chromium = findChromium();
  if (chromium === null) {
    print('  skipped: no Chromium on PATH, so nothing was painted or scrolled');
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'logquay-bench-'));
  const queries = join(folder, 'queries');
  mkdirSync(queries);
  writeFileSync(join(queries, 'rows.sql'), ENDPOINT);
  const service = await startService({ QUERIES_DIR: queries, CACHE_DIR: join(folder, 'cache'), RATE_LIMIT: '0' });
  const browser = await openBrowser(chromium);
  try {
    await firstAnswer(service, '/api/endpoints/query/bench.rows');
    print(await paint(browser, service));
    const rates: number[] = [];
    const bare: number[] = [];
    const late: number[] = [];
    const rows = await openRows(browser, service);
    const box = await openBox(browser);
    for (let i = 0; i < SCROLLS; i++) {
      const times = await scroll(rows, '.rows');
      rates.push(rateOf(times));
      late.push(percentile(times, 0.99));
      bare.push(rateOf(await scroll(box, '#box')));
    }
    const rate = median(rates);
    print(
      `  ${ROWS.toLocaleString('en')} rows scroll at ${rate.toFixed(1)} frames a second, p99 of a frame ${median(late).toFixed(1)} ms; an empty box at ${median(bare).toFixed(1)} (${verdict(Math.round(rate) >= SCROLL_GOAL)} goal ${String(SCROLL_GOAL)})`,
    );
  } finally {
    await browser.close();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function verdict(holds: boolean): string {
  return holds ? 'within' : 'MISSES';
}

/** From the request for the page to its first content, with nothing of it in the browser's cache. */
async function paint(browser: Browser, { origin }: Service): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < OPENINGS; i++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/explore`);
    times.push(await page.evaluate<number>(FIRST_PAINT));
    await context.close();
  }
  const middle = median(times);
  return `  first paint, ${String(OPENINGS)} browsers without a cache: median ${middle.toFixed(0)} ms (${verdict(middle <= PAINT_GOAL)} goal ${String(PAINT_GOAL)} ms)`;
}

const VIEWPORT = { width: 1280, height: 800 };

async function openRows(browser: Browser, { origin }: Service): Promise<Page> {
  const page = await browser.newPage({ viewport: VIEWPORT });
  await page.goto(`${origin}/explore`);
  await page.getByRole('textbox', { name: 'Key' }).fill(API_KEY);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.locator('.status').getByText('10,000 rows').waitFor();
  return page;
}

async function openBox(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: VIEWPORT });
  await page.setContent(
    `<div id="box" style="height: 550px; overflow: auto"><div style="height: ${String(ROWS * 26)}px; background: linear-gradient(white, black)"></div></div>`,
  );
  return page;
}

/** Scrolls on by three rows with each frame, there and back. @returns milliseconds of each frame */
function scroll(page: Page, selector: string): Promise<number[]> {
  return page.evaluate<number[]>(`(${SCROLL})(${JSON.stringify(selector)})`);
}

/** Runs in the browser: milliseconds from the request to the first content. */
const FIRST_PAINT = `(async () => {
  for (;;) {
    const [entry] = performance.getEntriesByName('first-contentful-paint');
    if (entry !== undefined) return entry.startTime;
    await new Promise(requestAnimationFrame);
  }
})()`;

/** Runs in the browser. */
const SCROLL = `async (selector) => {
  const element = document.querySelector(selector);
  const times = [];
  let step = 78;
  let last = await new Promise(requestAnimationFrame);
  const end = last + ${String(SECONDS * 1000)};
  while (last < end) {
    const before = element.scrollTop;
    element.scrollTop += step;
    if (element.scrollTop === before) step = -step;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
}`;

function rateOf(times: readonly number[]): number {
  return (1000 * times.length) / times.reduce((sum, one) => sum + one, 0);
}
