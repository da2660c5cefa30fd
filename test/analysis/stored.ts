/** What analyses say of stored queries over `test/fixture`, alike on every engine. */
import { join } from 'node:path';

import { StoredAnalyses } from '../../src/analysis/stored-analyses';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { typicalValues } from '../../src/sandbox/cte-columns';
import { Gate } from '../../src/sandbox/gate';
import { readDefinition } from '../../src/endpoints/definition';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { typeText } from '../../packages/googlesql/src/type-names';
import { within } from '../../packages/duckdb-engine/test/queries';
import { Consumer } from '../sandbox/consumer';

const limits = () => within(30_000);

/** A stored query without parameters. */
export function endpointOf(sql: string): Endpoint {
  const settings = 'id: 7d0a1cde-7b0a-4c0f-9d36-0a9c7a3f5b11\nname: test.analysed';
  const { endpoint, faults } = readDefinition(Buffer.from(`/*\n${settings}\n*/\n${sql}`));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

export function storedAnalysisSuite(name: string, open: () => Promise<Engine>): void {
  describe(`analyses of stored queries on ${name}`, () => {
    let engine: Engine;
    let gate: Gate;
    let analyses: StoredAnalyses;
    beforeAll(async () => {
      engine = await open();
      gate = new Gate(engine);
      analyses = new StoredAnalyses(engine, gate);
    }, 60_000);
    afterAll(async () => {
      await gate.close();
      await engine.close();
    });

    it.each(['logs.all', 'usage.api-counts'])(
      'gives the columns of %s, and those of its tables',
      async (endpointName) => {
        const consumer = await Consumer.over(engine, { queries: join(__dirname, '../../queries') });
        const endpoint = consumer.endpoint(endpointName);
        const { columns, tables, errors, parameters } = await analyses.of(endpoint, limits());
        expect(errors).toEqual([]);
        expect(parameters.map(({ name: parameter }) => parameter)).toEqual(
          endpoint.parameters.map(({ name: parameter }) => parameter),
        );
        const values = typicalValues({ ...endpoint, parameters });
        expect(columns).toEqual(await engine.describe(endpoint.sql, values, limits()));
        expect(tables.map((table) => table.name)).toEqual(endpoint.cteTables);
        for (const table of tables) {
          const stored = { ...endpoint, parameters };
          expect(table.columns).toEqual((await gate.columns(stored, table.name, limits())).columns);
        }
      },
    );

    it('gives types as nested as they are', async () => {
      const endpoint = endpointOf(
        'SELECT [STRUCT(1 AS a, ["x"] AS b)] AS nested, 2.5, CURRENT_DATE() AS day FROM raw_edge_logs',
      );
      const { columns } = await analyses.of(endpoint, limits());
      expect(columns?.map((column) => `${column.name} ${typeText(column.type)}`)).toEqual([
        'nested ARRAY<STRUCT<a INT64, b ARRAY<STRING>>>',
        'f0_ FLOAT64',
        'day DATE',
      ]);
    });

    it('gives every fault, with its place', async () => {
      const endpoint = endpointOf('SELECT idd, event_mesage FROM raw_edge_logs WHERE tmestamp IS NULL');
      const { errors, columns } = await analyses.of(endpoint, limits());
      expect(errors.map(({ span, details }) => [endpoint.sql.slice(span?.start, span?.end), details.hint])).toEqual([
        ['idd', 'Did you mean id?'],
        ['event_mesage', 'Did you mean event_message?'],
        ['tmestamp', 'Did you mean timestamp?'],
      ]);
      expect(columns).toBeNull();
    });

    it('knows the latest analysis of a definition', async () => {
      const endpoint = endpointOf('SELECT id, project FROM raw_edge_logs');
      expect(analyses.latest(endpoint)).toBeNull();
      const analysis = await analyses.of(endpoint, limits());
      expect(analyses.latest(endpoint)).toBe(analysis);
      analyses.forget(endpoint);
      expect(analyses.latest(endpoint)).toBeNull();
    });
  });
}
