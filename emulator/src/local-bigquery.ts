import { Clock } from './clock';
import { parseExact } from './exact-json';
import { GoogleSqlEngine } from './googlesql/engine';
import { JobStore } from './jobs/store';
import { QueryRunner, type Rewrite } from './query/runner';
import { Faults } from './rest/faults';
import { RequestLog } from './rest/log';
import { RestServer } from './rest/server';
import { type ShapeName } from './rest/shape';
import { rowOf } from './warehouse/ingest';
import { type TableField } from './warehouse/schema';
import { Warehouse } from './warehouse/warehouse';

/** A table to start with: its columns, and its rows as the text of one JSON object each. */
export interface SourceTable {
  readonly id: string;
  readonly fields: readonly TableField[];
  readonly lines: readonly string[];
}

export interface LocalBigQueryOptions {
  /** 0 takes a free port. */
  readonly port: number;
  readonly host: string;
  readonly project: string;
  readonly dataset: string;
  readonly location: string;
  /** The tables to start with. */
  readonly tables: readonly SourceTable[];
  /** The instant that queries take for the present; null for the machine's. */
  readonly clock: string | null;
  readonly shape: ShapeName;
  readonly ignoreDefaultDataset: boolean;
  /** Whatever a query computes is evaluated before the filters below it have left rows out. */
  readonly eager?: boolean;
}

/** A running local BigQuery. */
export interface LocalBigQuery {
  readonly port: number;
  /** Ends the server and the engine, running queries with them. */
  close(): Promise<void>;
}

/** Starts the engine, loads the tables, and listens. Throws for a row that does not fit its table. */
export async function startLocalBigQuery(options: LocalBigQueryOptions): Promise<LocalBigQuery> {
  const clock = new Clock();
  clock.set(options.clock);
  const warehouse = new Warehouse();
  load(warehouse, options);
  const engine = await GoogleSqlEngine.start();
  const jobs = new JobStore();
  const server = new RestServer({
    project: options.project,
    location: options.location,
    runner: new QueryRunner(engine, warehouse, () => clock.micros, options.eager === true ? eagerRewrite() : null),
    warehouse,
    jobs,
    faults: new Faults(),
    log: new RequestLog(),
    shape: { name: options.shape, ignoreDefaultDataset: options.ignoreDefaultDataset },
    clock,
  });
  try {
    const port = await server.listen(options.port, options.host);
    return {
      port,
      close: async () => {
        jobs.cancelAll();
        await server.close();
        await engine.stop();
      },
    };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

/** It reads SQL with sources of the service, which nothing else here needs. */
function eagerRewrite(): Rewrite {
  return (module.require('./eager/text') as { readonly eagerText: Rewrite }).eagerText;
}

function load(warehouse: Warehouse, { project, dataset, tables }: LocalBigQueryOptions): void {
  const home = warehouse.createDataset(project, dataset);
  for (const { id, fields, lines } of tables) {
    const table = home === null ? null : warehouse.createTable(home, id, fields);
    if (table === null) throw new Error(`Two tables named ${id}`);
    warehouse.addRows(
      table,
      lines.map((line, i) => {
        try {
          return rowOf(table.columns, parseExact(line), { ignoreUnknown: false });
        } catch (error) {
          throw new Error(`Row ${i + 1} of ${id}: ${String(error)}`, { cause: error });
        }
      }),
    );
  }
}
