import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { Gate } from '../../src/sandbox/gate';
import { openEngineOn, overOwnLocalBigQuery, reading } from '../engines/over-local-bigquery';
import { testCanaries } from './canaries';
import { lqlDataFolder, runThroughGate, TABLES } from './fixture-folder';
import { type Row, testRowsOver } from './rows-over-engine';
import { textsOf } from '../../packages/duckdb-engine/test/queries';
import { checkTypedPaths } from './typed-paths';

const folder = lqlDataFolder();
afterAll(() => folder.remove());

overOwnLocalBigQuery(
  'LQL on BigQuery',
  (local) => {
    let engine: Engine;
    let gate: Gate;
    beforeAll(async () => {
      engine = await openEngineOn(local().host, { storedQueries: TABLES.map(reading) });
      gate = new Gate(engine);
    }, 60_000);
    afterAll(async () => {
      await gate.close();
      await engine.close();
    });
    testRowsOver('the local BigQuery', (sql, tables) => runThroughGate(engine, gate, 'raw_lql')(sql, tables), 4);
    test('paths mean there what they mean over plain objects', async () => {
      const run = async (sql: string): Promise<readonly Row[]> =>
        (await textsOf(engine, sql)).map((row) => JSON.parse(row) as Row);
      await checkTypedPaths(run, 100);
    }, 300_000);
    testCanaries('the local BigQuery', (sql, tables) => runThroughGate(engine, gate, 'raw_canaries')(sql, tables), 3);
  },
  ['--data', folder.path],
);
