import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDbEngine } from '../../src/engines/duckdb/engine/engine';
import { silentLog } from '../engines/silent-log';
import { answersLogQueries } from './answers';
import { FIXTURE_END } from './consumer';

const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-answers-'));
afterAll(() => rmSync(cacheDir, { recursive: true }));

answersLogQueries('the embedded engine', () =>
  openDuckDbEngine({ dataDir: join(__dirname, '../fixture'), cacheDir, now: FIXTURE_END, log: silentLog }),
);
