import type { Engine } from '../../src/engines/contract';
import { Gate } from '../../src/sandbox';
import { openEngineOn, overOwnLocalBigQuery, reading } from '../engines/over-local-bigquery';
import { canaryFolder, testCanaries } from './canaries';
import { runThroughGate } from './fixture-folder';

const folder = canaryFolder();
afterAll(() => folder.remove());

overOwnLocalBigQuery(
  'Canaries on BigQuery',
  (local) => {
    let engine: Engine;
    let gate: Gate;
    beforeAll(async () => {
      engine = await openEngineOn(local().host, { storedQueries: [reading('raw_lql')] });
      gate = new Gate(engine);
    }, 60_000);
    afterAll(async () => {
      await gate.close();
      await engine.close();
    });
    testCanaries('the local BigQuery', (sql, tables) => runThroughGate(engine, gate)(sql, tables));
  },
  ['--data', folder.path],
);
