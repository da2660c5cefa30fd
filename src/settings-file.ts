import { existsSync } from 'node:fs';

/** A file of settings in the working directory; what the environment says already stands. */
const SETTINGS_FILE = '.env';

/** Adds the settings of `.env` to the environment, if there is one. */
export function loadSettingsFile(): void {
  if (existsSync(SETTINGS_FILE)) process.loadEnvFile(SETTINGS_FILE);
}
