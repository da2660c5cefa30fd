import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDuckDbEngine } from '../../packages/duckdb-engine/src/engine/engine';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';
import { FIXTURE_END } from '../sandbox/consumer';
import { defaultLookbackSuite } from './default-lookback';

defaultLookbackSuite('the embedded engine', async () => {
  const cacheDir = await mkdtemp(join(tmpdir(), 'logquay-'));
  const dataDir = join(__dirname, '../fixture');
  const engine = await openDuckDbEngine({ declared: LOG_SCHEMA, dataDir, cacheDir, now: FIXTURE_END, log: silentLog });
  return { engine, dispose: () => rm(cacheDir, { recursive: true }) };
});
