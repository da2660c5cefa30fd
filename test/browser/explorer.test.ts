/** The explorer in a real browser, from a started process on the embedded engine. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Page } from 'playwright-core';

import { Stage } from '../process/started';
import { inLong } from '../scale';
import { CHROMIUM, withBrowser } from './browser';
import { enterKey, openExplorer, rows, shownRows, status, violations } from './explorer-page';
import { type PageOptions, Pages } from './pages';
import { until } from '../until';

jest.setTimeout(300_000);

const KEY = 'a-key-of-the-explorer';
const PINNED_KEY = 'a-key-with-a-pinned-size';
/** The stretch of the fixture's rows. */
const RANGE = '2026-09-30T00:00:00.000Z/2026-10-01T00:00:00.000Z';

/** An endpoint with parameters that have fields of their own. */
const TYPED = `/*
id: 3b0f1c52-7a60-4d0e-8a5f-6d1f0b7c2e11
name: typed
params:
  since_when:
    type: timestamp
  loud:
    type: boolean
    default: false
  size:
    type: enum
    values: [small, large]
    default: small
*/
SELECT @since_when AS since_when, @loud AS loud, @size AS size FROM raw_edge_logs LIMIT 1
`;

/** An endpoint that does not run without a value. */
const NEEDING = `/*
id: 8f0f1c52-7a60-4d0e-8a5f-6d1f0b7c2e12
name: needing
params:
  size:
    type: integer
    required: true
*/
SELECT @size AS size FROM raw_edge_logs LIMIT 1
`;

withBrowser('the explorer', () => {
  let stage: Stage;
  let pages: Pages;
  let base: string;
  beforeAll(async () => {
    stage = new Stage();
    if (CHROMIUM !== null) pages = await Pages.inBrowser(CHROMIUM);
    const folder = stage.folder();
    writeFileSync(path.join(folder, 'queries/typed.sql'), TYPED);
    writeFileSync(path.join(folder, 'queries/needing.sql'), NEEDING);
    const hash = createHash('sha256').update(PINNED_KEY).digest('hex');
    const pinned = { name: 'pinned', hash, endpoints: ['typed'], pins: { size: 'large' } };
    writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys: [pinned] }));
    base = await stage.start({ API_KEY: KEY, KEYS_FILE: 'keys.json' }, folder).ready();
  });
  afterEach(() => pages.endTest());
  afterAll(async () => {
    await pages.close();
    await stage.end();
  });

  const open = (fragment: Readonly<Record<string, string>> = { range: RANGE }, options?: PageOptions) =>
    openExplorer(pages, base, fragment, options);
  const enter = (page: Page, key = KEY) => enterKey(page, key);

  it('asks for the key, shows the newest rows and one of them as a tree', async () => {
    const { page, complaints, requests } = await open();
    await enter(page, 'wrong');
    await page.getByText('The key is not valid.').waitFor();
    await enter(page);
    await rows(page).nth(1).waitFor();
    await rows(page).nth(1).click();
    const detail = page.getByRole('complementary', { name: 'Row' });
    await detail.getByText('metadata', { exact: true }).waitFor();
    const times = (await rows(page).locator('.cell:first-child').allTextContents()).slice(1);
    expect(times).toEqual([...times].sort().reverse());
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
    for (const url of requests.filter((one) => !one.startsWith('data:'))) expect(new URL(url).origin).toBe(base);
    expect(requests.join(' ') + page.url()).not.toContain(KEY);
  });

  it('keeps the key for the tab alone, unless one wishes otherwise', async () => {
    const { page, complaints } = await open();
    await enter(page);
    await rows(page).nth(1).waitFor();
    const stored = () =>
      page.evaluate(() => [
        localStorage.getItem('logquay.key'),
        sessionStorage.getItem('logquay.key'),
        document.cookie,
      ]);
    expect(await stored()).toEqual([null, KEY, '']);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(KEY);
    // Chromium revalidates: the 304 has to bring the page's own policy.
    for (let i = 0; i < 2; i++) {
      await page.reload();
      await rows(page).nth(1).waitFor();
    }
    expect(complaints).toEqual([]);
    await page.getByRole('banner').getByText('Key', { exact: true }).click();
    await page.getByText('of your own, where an endpoint takes them').waitFor();
    await page.getByRole('button', { name: 'Change key' }).click();
    await page.getByRole('checkbox', { name: 'Remember it' }).check();
    await enter(page);
    await rows(page).nth(1).waitFor();
    expect(await stored()).toEqual([KEY, null, '']);
  });

  it('has all of a search in the address, and opens it from there', async () => {
    const { page } = await open();
    await enter(page);
    await rows(page).nth(1).waitFor();
    await page.getByRole('textbox', { name: 'Query' }).fill('f:postgres_logs');
    await page.getByRole('textbox', { name: 'Query' }).press('Enter');
    await page.waitForFunction(() => location.hash.includes('postgres_logs'));
    const second = await page.context().newPage();
    await second.goto(page.url());
    await enter(second);
    expect(await shownRows(second)).toEqual(await shownRows(page));
  });

  it('filters by a value, or leaves its rows out, with a clause that one sees', async () => {
    const { page, complaints } = await open();
    await enter(page);
    await rows(page).nth(1).click();
    const button = page.getByRole('button', { name: /^Filter by id:/ });
    const clause = (await button.getAttribute('aria-label'))?.replace('Filter by ', '') ?? '';
    const counted = async (act: () => Promise<void>): Promise<number> => {
      const answered = page.waitForResponse(/\/api\/endpoints\/query\//);
      await act();
      await answered;
      await page.getByText('Running…').waitFor({ state: 'hidden' });
      return Number(/^([\d,]+) rows?/.exec((await status(page).textContent()) ?? '')?.[1]?.replaceAll(',', ''));
    };
    const all = await counted(() => page.getByRole('button', { name: 'Run' }).click());
    await rows(page).nth(1).click();
    const those = await counted(() => button.click());
    const query = page.getByRole('textbox', { name: 'Query' });
    expect(await query.textContent()).toBe(`f:edge_logs ${clause}`);
    await rows(page).nth(1).click();
    const others = await counted(() => page.getByRole('button', { name: `Exclude ${clause}` }).click());
    expect(await query.textContent()).toBe(`f:edge_logs -${clause}`);
    expect([those, others]).toEqual([1, all - 1]);
    // A nested field is written as LQL reaches it.
    await rows(page).nth(1).click();
    const nested = page.getByRole('button', { name: /^Filter by m\.response\.status_code:\d/ });
    expect(await counted(() => nested.click())).toBeGreaterThan(0);
    expect(await query.textContent()).toMatch(/^f:edge_logs -id:"[^"]+" m\.response\.status_code:\d+$/);
    expect(complaints).toEqual([]);
  });

  it('draws the rows that are seen, and reaches the last by the keyboard', async () => {
    const sql =
      'SELECT n, CAST(n AS STRING) AS name FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n, (SELECT 1 FROM edge_logs LIMIT 1) ORDER BY n';
    const { page } = await open({ range: RANGE, sql });
    await enter(page);
    await page.getByText('1,000 rows').waitFor();
    expect(await rows(page).count()).toBeLessThan(120);
    const grid = page.getByRole('grid', { name: 'Rows' });
    expect(await grid.getAttribute('aria-rowcount')).toBe('1001');
    // Six rows are scrolled over pixel by pixel: the document changes once or twice, not with each row.
    const changes = await page.locator('.rows').evaluate(async (element) => {
      let count = 0;
      const watch = new MutationObserver(() => count++);
      watch.observe(element, { subtree: true, childList: true, attributes: true, characterData: true });
      for (let i = 0; i < 156; i++) {
        element.scrollTop++;
        await new Promise(requestAnimationFrame);
      }
      watch.disconnect();
      return count;
    });
    expect([1, 2]).toContain(changes);
    await grid.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Row' }).getByText('1000').first().waitFor();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('complementary', { name: 'Row' }).getByText('999').first().waitFor();
  });

  it('shows hostile rows as text, and whole numbers with every digit', async () => {
    // Longer than a URL is made: it is sent as a POST.
    const sql = String.raw`SELECT '<img src=x onerror=alert(1)>' AS markup, 'a\u202eb\u0000c' AS marks,
      9223372036854775807 AS big, '${'x'.repeat(20_000)}' AS long, STRUCT(1 AS constructor) AS nested FROM edge_logs LIMIT 1`;
    const { page, complaints } = await open({ range: RANGE, sql });
    await enter(page);
    await rows(page).nth(1).waitFor();
    const cells = await rows(page).nth(1).getByRole('gridcell').allTextContents();
    expect(cells.slice(0, 3)).toEqual(['<img src=x onerror=alert(1)>', 'a[U+202E]b[U+0000]c', '9223372036854775807']);
    expect(cells[3]?.length).toBeLessThan(1000);
    await rows(page).nth(1).click();
    await page.getByRole('button', { name: /^Show all 20,000/ }).waitFor();
    expect(await page.locator('img[src]').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('underlines a fault where it is, and mends it by a key', async () => {
    const { page, complaints } = await open();
    await enter(page);
    await rows(page).nth(1).waitFor();
    const query = page.getByRole('textbox', { name: 'Query' });
    const fault = page.locator('.cm-lintRange-error');
    await query.fill('f:edge_logs m.respnse.status_code:>=100');
    await fault.getByText('respnse', { exact: true }).waitFor();
    await query.press('Control+.');
    await fault.waitFor({ state: 'detached' });
    expect(await query.textContent()).toBe('f:edge_logs m.response.status_code:>=100');
    await page.getByRole('button', { name: '= SQL' }).click();
    await page.getByText('INNER JOIN UNNEST(u1.`response`) AS u2').waitFor();
    await page.getByRole('button', { name: 'SQL', exact: true }).click();
    expect(await query.innerText()).toMatch(/^SELECT t\.\*\nFROM `edge_logs` AS t\n/);
    await query.fill('SELECT id, evnt_message FROM edge_logs');
    await fault.getByText('evnt_message', { exact: true }).waitFor();
    await fault.hover();
    await page.getByRole('button', { name: 'Change to event_message' }).click();
    await fault.waitFor({ state: 'detached' });
    expect(await query.textContent()).toBe('SELECT id, event_message FROM edge_logs');
    expect(complaints).toEqual([]);
  });

  it('reads a text once more where the worker was ended before it answered', async () => {
    // Chromium does not end a worker while it evaluates for a test: it goes on until its page's own process ends.
    const { page, complaints } = await open({ range: RANGE, sql: 'SELECT id FROM edge_logs' }, { own: true });
    await enter(page);
    await rows(page).nth(1).waitFor();
    const [worker] = page.workers();
    void worker!
      .evaluate(() => {
        for (;;);
      })
      .catch(() => undefined);
    await page.getByRole('textbox', { name: 'Query' }).fill('SELECT id, evnt_message FROM edge_logs');
    await page.locator('.cm-lintRange-error').getByText('evnt_message', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('completes what is written, with the joins that it needs, without a request', async () => {
    const { page, complaints, requests } = await open({ range: RANGE, sql: 'SELECT id FROM edge_logs' });
    await enter(page);
    await rows(page).nth(1).waitFor();
    const query = page.getByRole('textbox', { name: 'Query' });
    await query.press('Control+Home');
    for (let i = 0; i < 'SELECT id'.length; i++) await query.press('ArrowRight');
    const before = requests.length;
    await query.pressSequentially(', status_c');
    const option = page.getByRole('option', { name: /^metadata\.response\.status_code/ });
    await option.waitFor();
    // A click on a list that is being renewed for the last letter chooses nothing.
    await until(async () => {
      await option.click({ timeout: 1000 }).catch(() => undefined);
      return (await option.count()) === 0;
    });
    expect(await query.textContent()).toBe(
      'SELECT id, r.status_code FROM edge_logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.response) AS r',
    );
    expect(requests.length).toBe(before);
    await query.press('Control+Enter');
    await page.getByRole('columnheader', { name: 'status_code' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('counts the rows over the range, zooms into a stretch of it and goes back', async () => {
    const { page, complaints } = await open();
    await enter(page);
    const histogram = page.getByRole('slider', { name: 'Histogram' });
    const total = page.locator('.legend').getByText(/^[\d,]+ rows in the range/);
    await total.waitFor();
    const before = await total.textContent();
    const range = () => new URLSearchParams(new URL(page.url()).hash.slice(1)).get('range');
    const box = (await histogram.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction((old) => !location.hash.includes(encodeURIComponent(old)), RANGE);
    const [start = '', end = ''] = range()?.split('/') ?? [];
    expect(Date.parse(end) - Date.parse(start)).toBeGreaterThan(10 * 3_600_000);
    expect(Date.parse(end) - Date.parse(start)).toBeLessThan(14 * 3_600_000);
    await page.waitForFunction(
      (old) => document.querySelector('.legend')?.textContent?.includes(String(old)) === false,
      before,
    );
    // By the keyboard: five buckets are chosen.
    await histogram.focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < 4; i++) await page.keyboard.press('Shift+ArrowRight');
    const zoomed = range();
    await page.keyboard.press('Enter');
    await page.waitForFunction((old) => !location.hash.includes(encodeURIComponent(String(old))), zoomed);
    await page.goBack();
    await page.goBack();
    expect(range()).toBe(RANGE);
    await page.locator('.legend').getByText(String(before)).waitFor();
    expect(complaints).toEqual([]);
  });

  it('lists the fields with their values, filters by one, and counts over the whole range', async () => {
    const { page, complaints } = await open({ range: RANGE }, { viewport: { width: 1500, height: 900 } });
    await enter(page);
    const fields = page.getByRole('complementary', { name: 'Fields' });
    await fields.getByText('response', { exact: true }).click();
    const field = fields.locator('.field-entry', { has: page.locator('[title="m.response.status_code"]') });
    await field.getByText('INT64').first().waitFor();
    await field.getByTitle('m.response.status_code').click();
    expect(await field.locator('dt').allTextContents()).toEqual(['minimum', 'median', 'p95', 'maximum']);
    const loaded = await field.locator('.count').allTextContents();
    await field.getByRole('button', { name: 'Over the whole range' }).click();
    await field.getByText(/in the whole range/).waitFor();
    expect((await field.locator('.count').allTextContents()).slice(0, loaded.length)).toEqual(loaded);
    await field.getByRole('button', { name: /^Column/ }).click();
    await page.getByRole('columnheader', { name: 'm.response.status_code' }).waitFor();
    expect(page.url()).toContain('column=metadata.response.status_code');
    await field
      .getByRole('button', { name: /^Filter by m\.response\.status_code:\d/ })
      .first()
      .click();
    await page.waitForFunction(() => location.hash.includes('status_code%3A'));
    await page.getByText('Running…').waitFor({ state: 'hidden' });
    const cells = (await rows(page).locator('.cell:nth-child(2)').allTextContents()).slice(1);
    expect(new Set(cells).size).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('draws times as lines and categories as bars, with the rows below', async () => {
    const hours =
      'SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS hour, COUNT(*) AS requests FROM edge_logs GROUP BY hour ORDER BY hour';
    const { page, complaints } = await open({ range: RANGE, sql: hours });
    await enter(page);
    await page.locator('.uplot canvas').waitFor();
    await page.getByRole('columnheader', { name: 'requests' }).waitFor();
    expect(await rows(page).nth(1).getByRole('gridcell').first().textContent()).toMatch(/^2026-09-30 \d\d:00:00/);
    const statuses =
      'SELECT CAST(r.status_code AS STRING) AS status, COUNT(*) AS requests FROM edge_logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.response) AS r GROUP BY status';
    await page.goto(`${base}/explore#${new URLSearchParams({ range: RANGE, sql: statuses }).toString()}`);
    const chart = page.getByRole('list', { name: 'requests by status' });
    await chart.getByText('200', { exact: true }).waitFor();
    // All bars are on one scale.
    const widths = await chart.locator('.track').evaluateAll((all) => all.map((one) => one.clientWidth));
    expect(new Set(widths).size).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('draws a number by time and group as stacked bars or lines, as the address says', async () => {
    const sql =
      'SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS hour, r.method, COUNT(*) AS requests FROM edge_logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r GROUP BY hour, r.method ORDER BY hour';
    const { page, complaints } = await open({ range: RANGE, sql });
    await enter(page);
    const forms = page.getByRole('group', { name: 'Form of the chart' });
    /** Pixels that are painted in the colour of the first series. */
    const painted = (): Promise<number> =>
      page.locator('.uplot canvas').evaluate((element) => {
        const canvas = element as HTMLCanvasElement;
        const context = canvas.getContext('2d')!;
        const lines = canvas.closest<HTMLElement>('.lines')!;
        lines.style.color = 'var(--series-1)';
        context.fillStyle = getComputedStyle(lines).color;
        const [red, green, blue] = (context.fillStyle.match(/[0-9a-f]{2}/g) ?? []).map((hex) => parseInt(hex, 16));
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4)
          if (data[i] === red && data[i + 1] === green && data[i + 2] === blue) count++;
        return count;
      });
    const drawn = async (form: string): Promise<number> => {
      await forms.getByRole('button', { name: form, pressed: true }).waitFor();
      await until(async () => (await page.locator('.uplot canvas').count()) === 1 && (await painted()) > 0);
      return painted();
    };
    const stacked = await drawn('Stacked bars');
    await page.locator('.u-legend').getByText('GET', { exact: true }).waitFor();
    expect(page.url()).not.toContain('chart=');
    await forms.getByRole('button', { name: 'Lines' }).click();
    expect(await drawn('Lines')).toBeLessThan(stacked / 2);
    await page.waitForFunction(() => location.hash.includes('chart=lines'));
    await page.reload();
    await drawn('Lines');
    await forms.getByRole('button', { name: 'Stacked bars' }).click();
    await page.waitForFunction(() => location.hash.includes('chart=stacked'));
    // Of reading the pixels.
    expect(complaints.filter((text) => !text.startsWith('Canvas2D: Multiple readback'))).toEqual([]);
  });

  it('shares what is shown without the key, and downloads what the service answers', async () => {
    const { page } = await open({ range: RANGE }, { permissions: ['clipboard-read', 'clipboard-write'] });
    await enter(page);
    await rows(page).nth(1).waitFor();
    const copied = async (label: string): Promise<string> => {
      await page.getByRole('button', { name: label, exact: true }).click();
      await page.getByRole('status').getByText('Copied').waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await page.getByText('Share', { exact: true }).click();
    const curl = await copied('Copy as curl');
    expect(curl).toContain(`'${base}/api/endpoints/query/logs.all'`);
    expect(curl).toContain(`--data-urlencode 'lql=f:edge_logs'`);
    expect(await copied('Copy as fetch')).toContain('["lql", "f:edge_logs"],');
    expect(JSON.parse(await copied('Copy for Postman')).item[0].request.url.host).toEqual(['127.0.0.1']);
    expect(await copied('Copy as endpoint file')).toMatch(
      /^\/\*\nid: [0-9a-f-]{36}\n[\s\S]+\*\/\n\n[\s\S]+FROM `edge_logs`/,
    );
    await page.keyboard.press('Escape');
    await page.getByText('Download', { exact: true }).click();
    const arriving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const file = await arriving;
    expect(file.suggestedFilename()).toBe('logs.all.csv');
    const [head, ...lines] = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(head).toBe('timestamp,event_message');
    expect(lines[0]).toMatch(/^2026-09-30T\d\d:\d\d:\d\d\.\d{6}Z,/);
    await status(page)
      .getByText(`${lines.length.toLocaleString('en')} rows`)
      .waitFor();
    await page.getByText(`Downloaded ${lines.length.toLocaleString('en')} rows.`).waitFor();
    // All fields are the bytes that the service answers, but for the times.
    await page.getByRole('checkbox', { name: /^All fields/ }).check();
    const whole = page.waitForEvent('download');
    await page.getByRole('button', { name: 'NDJSON' }).click();
    const [start = '', end = ''] = RANGE.split('/');
    const parameters = { project: 'default', iso_timestamp_start: start, iso_timestamp_end: end, lql: 'f:edge_logs' };
    const url = `${base}/api/endpoints/query/logs.all?${new URLSearchParams({ ...parameters, timestamps: 'iso' }).toString()}`;
    const answer = await fetch(url, { headers: { 'X-API-KEY': KEY, Accept: 'application/x-ndjson' } });
    const read = (text: string): unknown[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    expect(read(readFileSync(await (await whole).path(), 'utf8'))).toEqual(read(await answer.text()));
  });

  it('has a picker for instants, a switch for booleans, and says which value an enum has of itself', async () => {
    const { page, requests } = await open({ endpoint: 'typed' });
    await enter(page);
    await shownRows(page);
    await page.getByLabel('since_when (UTC)').fill('2026-09-30T11:00:00');
    await page.getByLabel('since_when (UTC)').press('Enter');
    await page.getByRole('switch', { name: 'loud' }).click();
    await page.waitForFunction(() => location.hash.includes('loud%3Dtrue'));
    await shownRows(page);
    const last = new URL(requests.findLast((url) => url.includes('/query/typed')) ?? '').searchParams;
    expect([last.get('since_when'), last.get('loud'), last.get('size')]).toEqual([
      '2026-09-30T11:00:00.000Z',
      'true',
      null,
    ]);
    expect(await page.getByRole('combobox', { name: 'size' }).textContent()).toBe('small (default)smalllarge');
  });

  it('says which value is needed, where it is opened without it', async () => {
    const { page, complaints } = await open({ endpoint: 'needing' });
    await enter(page);
    await page.getByText('A value is needed for size.').waitFor();
    await page.getByText('Running…').waitFor({ state: 'hidden' });
    expect(complaints).toEqual([]);
  });

  it('reads queries again once what reads them has failed', async () => {
    const { page, complaints } = await open({ range: RANGE }, { own: true });
    let failed = 0;
    await page.route('**/explore/worker-*.js', (route) => (failed++ === 0 ? route.abort() : route.continue()));
    await enter(page);
    await shownRows(page);
    expect(failed).toBeGreaterThan(0);
    // The histogram is of the engine's counts, which are asked for with what was read.
    await page.getByRole('button', { name: 'Run' }).click();
    await shownRows(page);
    await until(() => failed > 1);
    await page.getByRole('slider', { name: 'Histogram' }).waitFor();
    expect(complaints.filter((text) => !text.includes('net::ERR_FAILED'))).toEqual([]);
  });

  it('is about what was run, whatever is written meanwhile', async () => {
    const { page, complaints } = await open({ range: RANGE }, { viewport: { width: 1500, height: 900 } });
    await enter(page);
    await shownRows(page);
    const asked: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/endpoints/query/**', async (route) => {
      const request = route.request();
      asked.push(decodeURIComponent(request.url().replaceAll('+', ' ')) + (request.postData() ?? ''));
      await held;
      await route.continue();
    });
    const query = page.getByRole('textbox', { name: 'Query' });
    await query.fill('f:edge_logs GET');
    await query.press('Enter');
    await query.fill('f:auth_logs nothing');
    release();
    expect((await shownRows(page)).slice(1).every((text) => text.includes('GET'))).toBe(true);
    await page.getByText('rows in the range').waitFor();
    // Values over the range are those of the run, too.
    await page.getByRole('complementary', { name: 'Fields' }).getByTitle('event_message').click();
    await page.getByRole('button', { name: 'Over the whole range' }).click();
    await page.getByText('in the whole range.').waitFor();
    expect(asked).toHaveLength(3);
    for (const one of asked) expect(one).toMatch(/edge_logs(?!.*auth_logs)/s);
    expect(complaints).toEqual([]);
  });

  it('shows what the key pins as fixed, and sends nothing for it', async () => {
    const { page, requests, complaints } = await open({ endpoint: 'typed', p: 'size=small' });
    await enter(page, PINNED_KEY);
    const [, row] = await shownRows(page);
    expect(row).toContain('large');
    await page.locator('.field', { hasText: 'size' }).getByText('fixed by this key').waitFor();
    expect(await page.getByRole('combobox', { name: 'size' }).count()).toBe(0);
    await page.getByRole('switch', { name: 'loud' }).waitFor();
    const last = new URL(requests.findLast((url) => url.includes('/query/typed')) ?? '');
    expect(last.searchParams.has('size')).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('has its panels whole within the page, on a phone too', async () => {
    const { page } = await open({ range: RANGE }, { viewport: { width: 390, height: 844 } });
    await enter(page);
    await shownRows(page);
    await page.locator('.time-picker summary').click();
    const panel = await page.locator('.time-picker .panel').boundingBox();
    const field = await page.getByLabel('From (UTC)').boundingBox();
    if (panel === null || field === null) throw new Error('The panel is not shown.');
    expect(panel.x).toBeGreaterThanOrEqual(0);
    expect(panel.x + panel.width).toBeLessThanOrEqual(390);
    expect(field.x + field.width).toBeLessThan(panel.x + panel.width);
    await page.keyboard.press('Escape');
    await page.locator('.bar summary').filter({ hasText: '⋯' }).click();
    await page.getByText('History', { exact: true }).click();
    // What is seen of it, not what it would take.
    const name = page.getByRole('textbox', { name: 'Name of this search' });
    await name.click();
    expect((await name.boundingBox())?.y).toBeLessThan(844);
  });

  it('opens the row of a link', async () => {
    const { page } = await open({ range: RANGE }, { permissions: ['clipboard-read', 'clipboard-write'] });
    await enter(page);
    await rows(page).nth(4).click();
    const detail = page.getByRole('complementary', { name: 'Row' });
    const title = await detail.getByRole('heading').textContent();
    await detail.getByRole('button', { name: 'Copy link' }).click();
    await detail.getByText('Copied').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const second = await page.context().newPage();
    await second.goto(link);
    await enter(second);
    await second
      .getByRole('complementary', { name: 'Row' })
      .getByRole('heading', { name: String(title) })
      .waitFor();
  });

  it.each([
    ['light', 1280] as const,
    ['dark', 390] as const,
    ...inLong([['dark', 1280] as const, ['light', 390] as const, ['light', 1920] as const, ['dark', 1920] as const]),
  ])('breaks no rule of accessibility, in %s at %i px', async (colorScheme, width) => {
    const { page } = await open({ range: RANGE }, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
    await page.getByRole('textbox', { name: 'Key' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await enter(page);
    await page
      .locator('.legend')
      .getByText(/rows in the range/)
      .waitFor({ state: 'attached' });
    await page.getByRole('textbox', { name: 'Query' }).fill('f:edge_logs m.respnse.status_code:>=100 or');
    await page.locator('.cm-lintRange-error').waitFor();
    await page.keyboard.press('Escape');
    if (width < 768) await page.locator('.bar summary').filter({ hasText: '⋯' }).click();
    await page.getByText('Share', { exact: true }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await rows(page).nth(1).click();
    await page.getByRole('complementary', { name: 'Row' }).waitFor();
    expect(await violations(page)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(wide).toBe(0);
  });

  it('is led to by the page of documentation, which asks nobody for anything', async () => {
    const { page, complaints, requests } = await pages.open(`${base}/docs`);
    const article = page.locator('article', { has: page.getByRole('heading', { name: 'logs.all', exact: true }) });
    await article.getByText('X-API-KEY').waitFor();
    expect(complaints).toEqual([]);
    expect(requests.filter((one) => !one.startsWith('data:'))).toEqual([`${base}/docs`]);
    for (const [, id] of (await page.content()).matchAll(/href="#([^"]+)"/g)) {
      expect([id, await page.evaluate((one) => document.getElementById(one) !== null, id ?? '')]).toEqual([id, true]);
    }
    await article.getByRole('link', { name: 'Try logs.all in the explorer' }).click();
    await page.getByRole('textbox', { name: 'Key' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/explore');
  });

  it.each([
    ['light', 320],
    ['dark', 1280],
  ] as const)(
    'has a page of documentation that breaks no rule of accessibility, in %s at %i px',
    async (colorScheme, width) => {
      const { page } = await pages.open(`${base}/docs`, {
        colorScheme,
        viewport: { width, height: 700 },
        bypassCSP: true,
      });
      expect(await violations(page)).toEqual([]);
      const { wide, over } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        over: [...document.querySelectorAll('input, select, textarea, button, pre, h1, h2, p, .scroll')]
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
          .map(({ outerHTML }) => outerHTML.slice(0, 80)),
      }));
      expect({ wide, over }).toEqual({ wide: 0, over: [] });
    },
  );
});
