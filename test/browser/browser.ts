import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { type Browser, chromium } from 'playwright-core';

/** Chromium under its usual names, without a user interface of its own where there is that: it takes half the time; null: not installed. */
export function findChromium(): string | null {
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

/** A browser of one's own; a container's root has no use for its sandbox, and some have no shared memory to speak of. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
