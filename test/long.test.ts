/** Each program of `npm run test:long` starts, and ends well: no other test runs them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { localBigQueryInstalled } from './local-bigquery';

(localBigQueryInstalled || process.env['CI'] !== undefined ? test : test.skip)(
  'every program of test:long starts with next to nothing to do',
  async () => {
    // A program that fails is named in what is printed.
    const smoke = promisify(execFile)(process.execPath, [join(__dirname, 'long.js'), 'smoke']);
    const { stdout } = await smoke.catch((error: unknown) => error as { readonly stdout: string });
    const ended = stdout.trim().split('\n').slice(-7);
    expect(ended.map((line) => line.replace(/: seed .*: (\w+) in .*/, ' $1')).join()).toBe(
      'gate passed,tenants passed,dialect passed,folder passed,hostile passed,soak passed,tables passed',
    );
  },
  300_000,
);
