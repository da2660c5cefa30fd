import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { openDuckDbEngine } from '../../packages/duckdb-engine/src/engine/engine';
import { Gate } from '../../src/sandbox/gate';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';
import { testCanaries } from './canaries';
import { DEFAULT_NOW } from './case-file';
import { lqlDataFolder, runThroughGate } from './fixture-folder';
import { type Row, testRowsOver } from './rows-over-engine';
import { textsOf } from '../../packages/duckdb-engine/test/queries';
import { checkTypedPaths } from './typed-paths';

const folder = lqlDataFolder();
const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-lql-cache-'));
let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await openDuckDbEngine({
    declared: LOG_SCHEMA,
    dataDir: folder.path,
    cacheDir,
    now: DEFAULT_NOW,
    log: silentLog,
  });
  gate = new Gate(engine);
}, 60_000);

afterAll(async () => {
  await gate.close();
  await engine.close();
  folder.remove();
  rmSync(cacheDir, { recursive: true });
});

testRowsOver('the embedded engine', (sql, tables) => runThroughGate(engine, gate, 'raw_lql')(sql, tables), 2);
testCanaries('the embedded engine', (sql, tables) => runThroughGate(engine, gate, 'raw_canaries')(sql, tables), 2);

test('paths mean on the embedded engine what they mean over plain objects', async () => {
  const run = async (sql: string): Promise<readonly Row[]> =>
    (await textsOf(engine, sql)).map((row) => JSON.parse(row) as Row);
  await checkTypedPaths(run, 400);
}, 300_000);
