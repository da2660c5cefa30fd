/** Pages of a browser of its own, for the tests of one file. */
import type { Browser, ConsoleMessage, Page, Request, ViewportSize } from 'playwright-core';

import { openBrowser } from './browser';

export interface Watched {
  readonly page: Page;
  /** What a page should not do: break its policy, log, throw. */
  readonly complaints: string[];
  readonly requests: string[];
}

export interface PageOptions {
  readonly viewport?: ViewportSize;
  readonly colorScheme?: 'light' | 'dark';
  readonly permissions?: readonly string[];
  readonly timezoneId?: string;
  readonly bypassCSP?: boolean;
  /** Whether no other test has had it. */
  readonly own?: boolean;
}

interface Taken {
  readonly page: Page;
  /** null: it is the test's own. */
  readonly key: string | null;
  readonly unwatch: () => void;
}

const VIEWPORT: ViewportSize = { width: 1280, height: 720 };

/**
 * One test after the other has the same page, in which nothing is stored: a new one takes a process, which compiles the code of the
 * page again.
 */
export class Pages {
  readonly #shared = new Map<string, Page>();
  /** Of the current test. */
  #taken: Taken[] = [];

  private constructor(private readonly browser: Browser) {}

  static async inBrowser(executablePath: string): Promise<Pages> {
    return new Pages(await openBrowser(executablePath));
  }

  async open(url: string, options: PageOptions = {}): Promise<Watched> {
    const { viewport = VIEWPORT, colorScheme = 'light', permissions = [], own = false, ...ofContext } = options;
    const key = JSON.stringify(ofContext);
    const isOwn = own || this.#taken.some((one) => one.key === key);
    const before = isOwn ? undefined : this.#shared.get(key);
    const page = before ?? (await newPage(this.browser, ofContext));
    if (!isOwn) this.#shared.set(key, page);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    if (permissions.length > 0) await page.context().grantPermissions([...permissions]);
    const { unwatch, ...watched } = watch(page);
    this.#taken.push({ page, key: isOwn ? null : key, unwatch });
    await page.goto(url);
    return { page, ...watched };
  }

  /** Ends what the current test has open. */
  async endTest(): Promise<void> {
    for (const { page, key, unwatch } of this.#taken.splice(0)) {
      unwatch();
      if (key === null) await page.context().close();
      else {
        await clear(page).catch(async () => {
          this.#shared.delete(key);
          await page.context().close();
        });
      }
    }
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

async function newPage(browser: Browser, options: Pick<PageOptions, 'timezoneId' | 'bypassCSP'>): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      reportError(new Error(`policy: ${violatedDirective} ${blockedURI}`));
    });
  });
  return page;
}

function watch(page: Page): Omit<Watched, 'page'> & { readonly unwatch: () => void } {
  const complaints: string[] = [];
  const requests: string[] = [];
  const onConsole = (message: ConsoleMessage): void => {
    // A refused request is logged on the console too.
    const refused = /^Failed to load resource: the server responded with a status of 4/.test(message.text());
    if (!refused) complaints.push(message.text());
  };
  const onError = (error: Error): void => void complaints.push(String(error));
  const onRequest = (request: Request): void => void requests.push(request.url());
  page.on('console', onConsole).on('pageerror', onError).on('request', onRequest);
  const unwatch = (): void => {
    page.off('console', onConsole).off('pageerror', onError).off('request', onRequest);
  };
  return { complaints, requests, unwatch };
}

/** Leaves nothing in a page that the next test would find. */
async function clear(page: Page): Promise<void> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll();
  await page.mouse.move(0, 0);
  // A page without code, which stores nothing more.
  await page.goto(new URL('/ready', page.url()).href);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await context.clearCookies();
  await context.clearPermissions();
}
