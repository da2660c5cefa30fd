/** The explorer in a browser, as tests use it. */
import { readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';

import type { PageOptions, Pages, Watched } from './pages';

/** Opens the explorer of a service at a search. */
export function openExplorer(
  pages: Pages,
  base: string,
  fragment: Readonly<Record<string, string>>,
  options?: PageOptions,
): Promise<Watched> {
  return pages.open(`${base}/explore#${new URLSearchParams(fragment).toString()}`, options);
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
  const loaded = await page.evaluate(() => 'axe' in globalThis);
  if (!loaded) await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(async () => {
    const { axe: rules } = globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResults> } };
    // Of what is right, nothing is written down.
    const found = await rules.run({ resultTypes: ['violations'] });
    return found.violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html }) => html)
          .join(' ')
          .slice(0, 300)}`,
    );
  });
}
