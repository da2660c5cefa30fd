import { readFileSync } from 'node:fs';
import path from 'node:path';

import { build } from 'esbuild';

import { installPacked, printed, removePacked } from '../../packages/googlesql/test/packed';
import { CHROMIUM, openBrowser } from './browser';

// Without a browser, on a laptop. CI installs one, and counts what is skipped as failed.
const inBrowser = CHROMIUM === null && process.env['CI'] === undefined ? test.skip : test;

inBrowser('the example of @logquay/googlesql prints the same in a browser as in Node', async () => {
  const folder = installPacked();
  const browser = await openBrowser(CHROMIUM ?? '');
  try {
    const outfile = path.join(folder, 'bundle.js');
    await build({ entryPoints: [path.join(folder, 'example.mjs')], bundle: true, format: 'iife', outfile });
    const page = await browser.newPage();
    const lines: string[] = [];
    page.on('console', (message) => lines.push(message.text()));
    page.on('pageerror', (error) => lines.push(String(error)));
    await page.addScriptTag({ content: readFileSync(outfile, 'utf8') });
    expect(lines.map((line) => `${line}\n`).join('')).toBe(printed);
  } finally {
    await browser.close();
    removePacked(folder);
  }
});
