/** `npm run pictures`: the explorer as README shows it, over sample logs, in a Chromium of this machine. */
const { spawn } = require('node:child_process');
const { mkdirSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { chromium } = require('playwright-core');

const ROOT = path.join(__dirname, '..');
const TARGET = path.join(ROOT, 'docs/pictures');
const KEY = 'a-key-for-the-pictures';

/** @typedef {import('playwright-core').Page} Page */

/**
 * @typedef {object} Picture
 * @property {string} name
 * @property {'dark' | 'light'} theme
 * @property {[width: number, height: number]} size
 * @property {Record<string, string>} fragment of the address
 * @property {(page: Page) => Promise<unknown>} [before] what is done first
 */

/** @type {readonly Picture[]} */
const PICTURES = [
  {
    name: 'rows',
    theme: 'dark',
    size: [1280, 800],
    fragment: { endpoint: 'logs.all', range: '6h', lql: 'f:edge_logs' },
    before: async (page) => {
      await row(page, 2).click();
    },
  },
  {
    name: 'query',
    theme: 'light',
    size: [1280, 800],
    fragment: {
      endpoint: 'logs.all',
      range: '1d',
      lql: 'f:edge_logs m.response.status_code:>399 m.request.method:POST',
      column: 'metadata.request.path',
    },
  },
  {
    name: 'chart',
    theme: 'dark',
    size: [1280, 800],
    fragment: { endpoint: 'usage.api-counts', range: '1d', p: 'interval=1day', chart: 'stacked' },
  },
  {
    name: 'phone',
    theme: 'dark',
    size: [390, 844],
    fragment: { endpoint: 'logs.all', range: '6h', lql: 'f:postgres_logs' },
  },
];

/** @param {Page} page @param {number} n */
const row = (page, n) => page.getByRole('row').nth(n);

async function main() {
  const executablePath =
    process.env.CHROMIUM ??
    ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((file) => require('node:fs').existsSync(file));
  if (executablePath === undefined) throw new Error('No Chromium is installed; CHROMIUM names one.');
  const folder = mkdtempSync(path.join(tmpdir(), 'logquay-pictures-'));
  const service = spawn(process.execPath, [path.join(ROOT, 'dist/cli.js'), 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: '0', API_KEY: KEY, QUERIES_DIR: path.join(ROOT, 'queries'), DRAIN_DELAY: '0' },
  });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    const base = await listening(service);
    mkdirSync(TARGET, { recursive: true });
    for (const picture of PICTURES) await take(browser, base, picture);
  } finally {
    await browser.close();
    service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {import('node:child_process').ChildProcessWithoutNullStreams} service @returns {Promise<string>} */
function listening(service) {
  return new Promise((resolve, reject) => {
    let log = '';
    service.stderr.on('data', (data) => {
      log += String(data);
      const port = /"port":(\d+)/.exec(log)?.[1];
      if (port !== undefined && log.includes('"msg":"ready"')) resolve(`http://127.0.0.1:${port}`);
    });
    service.on('exit', () => reject(new Error(`The service does not start: ${log.slice(-500)}`)));
  });
}

/** @param {import('playwright-core').Browser} browser @param {string} base @param {Picture} picture */
async function take(browser, base, { name, theme, size: [width, height], fragment, before }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
  const page = await context.newPage();
  await page.goto(`${base}/explore#${new URLSearchParams(fragment)}`);
  await page.getByRole('textbox', { name: 'Key' }).fill(KEY);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('Running…').waitFor({ state: 'hidden' });
  await row(page, 1).waitFor();
  await before?.(page);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: path.join(TARGET, `${name}.png`) });
  await context.close();
}

main().catch((/** @type {unknown} */ error) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
