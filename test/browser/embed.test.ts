/** The example of docs/embed.md as it stands there: the explorer in a page of another origin, with tokens that expire. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import type { Browser, Page, Request } from 'playwright-core';

import { hashOf } from '../../src/keys/key';
import { Stage } from '../process/started';
import { until } from '../until';
import { CHROMIUM, openBrowser, withBrowser } from './browser';

jest.setTimeout(120_000);

const ROOT = path.join(__dirname, '../..');
const RANGE = '#range=2026-09-30T00:00:00.000Z/2026-10-01T00:00:00.000Z';

/** The blocks of a language on the page. */
function blocks(language: string): string[] {
  const text = readFileSync(path.join(ROOT, 'docs/embed.md'), 'utf8');
  return [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, name, block]) =>
    name === language ? (block ?? '') : [],
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

withBrowser('the explorer in a page of another origin', () => {
  const stage = new Stage();
  const backends: ChildProcess[] = [];
  let browser: Browser;
  let folder = '';
  let base = '';
  let ports: readonly number[] = [];

  beforeAll(async () => {
    ports = [await freePort(), await freePort()];
    folder = stage.folder();
    const keys = [
      { name: 'other', hash: hashOf('other').toString('hex') },
      {
        name: 'app',
        tokens: { issuer: 'app', audience: 'logquay', secretFile: 'app.secret' },
        endpoints: ['logs.all'],
        pins: { project: { claim: 'org' } },
      },
    ];
    writeFileSync(path.join(folder, 'app.secret'), 'a secret of at least thirty-two bytes\n');
    writeFileSync(path.join(folder, 'keys.json'), JSON.stringify({ keys }));
    const settings = { KEYS_FILE: 'keys.json', EXPLORER_EMBED: `http://localhost:${String(ports[0])}` };
    base = `http://127.0.0.1:${String(await stage.start(settings, folder).port())}`;
    writeFileSync(path.join(folder, 'backend.mjs'), blocks('js')[0] ?? '');
    writeFileSync(path.join(folder, 'page.html'), blocks('html')[0] ?? '');
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    for (const port of ports) {
      // Clocks may differ by 30 seconds: such a token is taken for another four.
      const own = { LOGQUAY: base, SECRET_FILE: 'app.secret', PORT: String(port), LIFETIME: '-26s' };
      const env = { PATH: process.env.PATH ?? '', ...own };
      backends.push(spawn(process.execPath, ['backend.mjs'], { cwd: folder, env, stdio: 'inherit' }));
      await until(async () => (await fetch(`http://127.0.0.1:${String(port)}/`).catch(() => null)) !== null);
    }
    browser = await openBrowser(CHROMIUM ?? '');
  });
  afterAll(async () => {
    await browser.close();
    for (const backend of backends) backend.kill();
    await stage.end();
  });

  /** A page whose frames have no storage, as third parties have none in many a browser. */
  async function open(port: number | undefined): Promise<{ page: Page; complaints: string[]; asked: string[] }> {
    const page = await browser.newPage();
    const [complaints, asked]: [string[], string[]] = [[], []];
    page.on('console', (message) => void complaints.push(message.text()));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    page.on('response', (response) => {
      asked.push(`${String(response.status())} ${response.request().method()} ${response.url()}`);
    });
    await page.addInitScript(() => {
      if (window.parent === window) return;
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('no storage', 'SecurityError');
          },
        });
      }
    });
    await page.goto(`http://localhost:${String(port)}/${RANGE}`);
    return { page, complaints, asked };
  }

  it('shows the rows of the tenant of its token, and goes on with the next one', async () => {
    const { page, complaints, asked } = await open(ports[0]);
    const frame = page.frameLocator('#logs');
    const rows = frame.getByRole('grid', { name: 'Rows' }).getByRole('row');
    await rows.nth(1).waitFor();
    const before = await rows.allTextContents();
    expect(before.length).toBeGreaterThan(2);
    await page.waitForFunction(() => location.hash.includes('lql='));
    expect(await frame.getByText('Share', { exact: true }).count()).toBe(1);
    await frame.getByText('Share', { exact: true }).click();
    expect(await frame.getByText('Copy link').count()).toBe(0);
    await page.keyboard.press('Escape');

    // Nobody but the page around hands over a token: a window of the frame's own origin does not.
    const [, inner] = page.frames();
    await inner?.evaluate(() => window.postMessage({ type: 'logquay:token', token: 'of somebody else' }, '*'));

    const isToken = (line: string): boolean => line.includes('/token');
    expect(asked.filter(isToken)).toHaveLength(1);
    await page.waitForTimeout(4_500);
    await frame.getByRole('button', { name: 'Run' }).click();
    await until(() => asked.filter(isToken).length === 2);
    await frame.getByText('Running…').waitFor({ state: 'hidden' });
    expect(await frame.locator('.status').textContent()).toMatch(/\d+ rows/);
    expect(asked.some((line) => line.startsWith('401 '))).toBe(true);
    expect(asked.filter(isToken)).toHaveLength(2);
    expect(await rows.allTextContents()).toEqual(before);
    // No token in any address.
    expect(asked.join('\n')).not.toContain('eyJ');
    expect(complaints.filter((text) => !text.includes('status of 401'))).toEqual([]);

    // The page around says what to show.
    await page.evaluate(() => {
      const { contentWindow, src } = document.getElementById('logs') as HTMLIFrameElement;
      const state = '#range=2026-09-30T00:00:00.000Z/2026-10-01T00:00:00.000Z&lql=f:postgres_logs';
      contentWindow?.postMessage({ type: 'logquay:state', state }, new URL(src).origin);
    });
    await page.waitForFunction(() => location.hash.includes('postgres_logs'));
    await page.close();
  });

  it('goes on with a token that comes after one that was not taken', async () => {
    const page = await browser.newPage();
    let asked = 0;
    await page.route('**/token', (route) => (++asked > 2 ? route.continue() : route.fulfill({ body: 'no token' })));
    await page.goto(`http://localhost:${String(ports[0])}/${RANGE}`);
    const frame = page.frameLocator('#logs');
    await until(async () => asked === 2 && !/…/.test((await frame.locator('.status').textContent()) ?? '…'));
    await page.evaluate('sendToken()');
    await frame.getByRole('grid', { name: 'Rows' }).getByRole('row').nth(1).waitFor();
    expect(await frame.locator('.status').textContent()).toMatch(/\d+ rows/);
    await page.close();
  });

  it('follows by one request, whatever tokens come', async () => {
    const page = await browser.newPage();
    const tails: Request[] = [];
    page.on('request', (request) => void (request.url().includes('/tail/') && tails.push(request)));
    const tokens = new Set<string>();
    page.on('response', async (response) => {
      if (response.url().endsWith('/token')) tokens.add(await response.text());
    });
    await page.goto(`http://localhost:${String(ports[0])}/#range=1h`);
    await page.frameLocator('#logs').getByRole('button', { name: 'Live' }).click();
    await until(() => tails.length === 1);
    // Tokens of one second are one.
    await until(async () => {
      await page.evaluate('sendToken()');
      return tokens.size > 1;
    }, 100);
    await until(() => tails.length > 1);
    await until(() => tails[0]!.failure() !== null);
    await page.close();
  });

  it('is shown in no page of an origin that is not allowed', async () => {
    const { page, complaints, asked } = await open(ports[1]);
    await until(() => complaints.some((text) => text.includes('frame-ancestors')));
    expect(asked.some((line) => line.includes('/token'))).toBe(false);
    await page.close();
  });
});
