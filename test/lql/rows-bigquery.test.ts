import type { Engine } from '../../src/engines/contract';
import { Gate } from '../../src/sandbox';
import { openEngineOn, overOwnLocalBigQuery, reading } from '../engines/over-local-bigquery';
import { lqlDataFolder, runThroughGate } from './fixture-folder';
import { testRowsOver } from './rows-over-engine';

const folder = lqlDataFolder();
afterAll(() => folder.remove());

overOwnLocalBigQuery(
  'LQL on BigQuery',
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
    testRowsOver('the local BigQuery', (sql, tables) => runThroughGate(engine, gate)(sql, tables));
  },
  ['--data', folder.path],
);
