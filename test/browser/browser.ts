import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { type Browser, chromium } from 'playwright-core';

/** Chromium under its usual names, without a user interface of its own where there is that: it takes half the time; null: not installed. */
function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']) {
    for (const folder of folders) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        continue;
      }
    }
  }
  return null;
}

/** null: not installed. */
export const CHROMIUM = findChromium();
if (CHROMIUM === null) process.stderr.write('No Chromium on PATH: what needs a browser is not tested.\n');

/** A suite that needs a browser. Without one it is skipped: on a laptop, as CI installs one and counts what is skipped as failed. */
export const withBrowser = CHROMIUM === null ? describe.skip : describe;

/** A browser of one's own; a container's root has no use for its sandbox, and some have no shared memory to speak of. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
