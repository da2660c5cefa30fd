/** The explorer in a browser, as tests use it. */
import { readFileSync } from 'node:fs';

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export interface Watched {
  readonly page: Page;
  /** What a page should not do: break its policy, log, throw. */
  readonly complaints: string[];
  readonly requests: string[];
}

/** Opens the explorer of a service at a search. @param contexts takes the page's, to be closed */
export async function openExplorer(
  browser: Browser,
  contexts: BrowserContext[],
  base: string,
  fragment: Readonly<Record<string, string>>,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext(options);
  contexts.push(context);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    // A refused request is logged on the console too.
    const refused = /^Failed to load resource: the server responded with a status of 4/.test(message.text());
    if (!refused) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      reportError(new Error(`policy: ${violatedDirective} ${blockedURI}`));
    });
  });
  await page.goto(`${base}/explore#${new URLSearchParams(fragment).toString()}`);
  return { page, complaints, requests };
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Key' }).fill(key);
  await page.getByRole('button', { name: 'Open' }).click();
}

export const rows = (page: Page) => page.getByRole('grid', { name: 'Rows' }).getByRole('row');
export const status = (page: Page) => page.locator('.status');

/** The texts of the rows, once a run has ended. @throws Error with what the page shows instead */
export async function shownRows(page: Page): Promise<string[]> {
  try {
    await page.getByText('Running…').waitFor({ state: 'hidden' });
    await rows(page).nth(1).waitFor();
  } catch (cause) {
    throw new Error(`No rows are shown: ${await page.locator('body').innerText()}`, { cause });
  }
  return rows(page).allTextContents();
}

/** What axe-core finds. */
interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** The rules of accessibility that a page breaks, each with what breaks it. @param page of a context with bypassCSP */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(async () => {
    const { axe: rules } = globalThis as unknown as { axe: { run: () => Promise<AxeResults> } };
    const found = await rules.run();
    return found.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .join(' ')
          .slice(0, 300)}`,
    );
  });
}
