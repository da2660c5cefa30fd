import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';

import { MOST_OF_QUERY, readBoundedSync } from '@logquay/duckdb-engine/files';

/** A file of settings in the working directory; what the environment says already stands. */
const SETTINGS_FILE = '.env';

/** Adds the settings of `.env` to the environment, if there is one. */
export function loadSettingsFile(): void {
  if (!existsSync(SETTINGS_FILE)) return;
  const settings = parseEnv(readBoundedSync(SETTINGS_FILE, MOST_OF_QUERY).toString());
  for (const [name, value] of Object.entries(settings)) process.env[name] ??= value;
}
