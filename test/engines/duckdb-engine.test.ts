import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDbEngine } from '../../packages/duckdb-engine/src/engine/engine';
import { engineContract } from './contract';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';

const NOON = BigInt(Date.parse('2026-09-30T12:00:00Z')) * 1000n;

engineContract(
  'The embedded DuckDB',
  async () => {
    const cacheDir = await mkdtemp(join(tmpdir(), 'logquay-'));
    const engine = await openDuckDbEngine({
      declared: LOG_SCHEMA,
      dataDir: join(__dirname, '../fixture'),
      cacheDir,
      now: NOON,
      log: silentLog,
    });
    return { engine, dispose: () => rm(cacheDir, { recursive: true }) };
  },
  NOON,
);
