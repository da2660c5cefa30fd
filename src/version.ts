import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The version of the package: one folder up from the sources as from the build. */
export const { version: VERSION } = JSON.parse(readFileSync(path.join(__dirname, '../package.json'), 'utf8')) as {
  readonly version: string;
};
