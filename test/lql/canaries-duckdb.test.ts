import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/engines/contract';
import { openDuckDbEngine } from '../../src/engines/duckdb/engine/engine';
import { Gate } from '../../src/sandbox';
import { silentLog } from '../engines/silent-log';
import { canaryFolder, testCanaries } from './canaries';
import { DEFAULT_NOW } from './case-file';
import { runThroughGate } from './fixture-folder';

const folder = canaryFolder();
const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-canary-cache-'));
let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await openDuckDbEngine({ dataDir: folder.path, cacheDir, now: DEFAULT_NOW, log: silentLog });
  gate = new Gate(engine);
}, 60_000);

afterAll(async () => {
  await gate.close();
  await engine.close();
  folder.remove();
  rmSync(cacheDir, { recursive: true });
});

testCanaries('the embedded engine', (sql, tables) => runThroughGate(engine, gate)(sql, tables));
