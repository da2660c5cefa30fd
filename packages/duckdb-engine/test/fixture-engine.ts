import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import { join } from 'node:path';
import type { Engine } from '../src/contract/contract';
import { openDuckDbEngine } from '../src/engine/engine';
import type { DuckDbOptions } from '../src/engine/options';
import { ofWorker } from '../../../test/of-worker';
import { silentLog } from './silent-log';

export const FIXTURE = join(__dirname, '../../../test/fixture');
/** 2026-09-30T12:00:00Z, the end of the fixture. */
export const FIXTURE_END = 1_790_769_600_000_000n;

/** The embedded engine over `test/fixture`, whose rows a worker of Jest stores once, at its end. */
export const openFixture = (options: Partial<DuckDbOptions> = {}): Promise<Engine> => {
  // Outside of Jest there is no worker: whoever opens it then has a folder.
  const { cacheDir = ofWorker.cacheDir() } = options;
  return openDuckDbEngine({
    declared: LOG_SCHEMA,
    dataDir: FIXTURE,
    now: FIXTURE_END,
    log: silentLog,
    ...options,
    cacheDir,
  });
};
