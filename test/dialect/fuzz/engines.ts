/** Both engines in this process, without HTTP: thousands of questions a minute. */
import { GoogleSqlEngine } from '../../../emulator/src/googlesql/engine';
import { restRow } from '../../../emulator/src/jobs/rows';
import { BigQueryError } from '../../../emulator/src/query/error';
import { QueryRunner } from '../../../emulator/src/query/runner';
import { Warehouse } from '../../../emulator/src/warehouse/warehouse';
import { rowWriter } from '../../../src/engines/bigquery/row-writer';
import { QueryError } from '../../../src/errors';
import type { RestField } from '../../../packages/googlesql/src/rest-schema';
import type { SqlType } from '../../../packages/googlesql/src/types';
import { NOW, TranslationBench } from '../../../packages/duckdb-engine/test/duckdb-translation';
import { exactly, typeName, type Answer } from '../two-engines';

/** What an engine says of a query. */
export type Outcome =
  | Answer
  /** It says that it cannot do this, by name; or that the reference cannot be compared. */
  | { readonly unsupported: string };

const PATIENCE_MS = 20_000;

/** Functions of BigQuery that the reference is too old for, or that are written out for it; a limit and a fault of its own. */
const LACKING =
  /CUSTOM:CONTAINS_SUBSTR|Unsupported argument type for percentile|Unexpected keyword WITH|Expected "\)" but got keyword DISTINCT|more than 16000 elements|Arrays are limited to|Invalid interval datetime field (?:MILLI|MICRO)SECOND|^Resolved AST validation failed|type_modifiers not accessed/i;

export class Engines {
  private constructor(
    private readonly engine: GoogleSqlEngine,
    private readonly runner: QueryRunner,
    private readonly bench: TranslationBench,
  ) {}

  static async open(): Promise<Engines> {
    const engine = await GoogleSqlEngine.start();
    const warehouse = new Warehouse();
    warehouse.createDataset('test', 'logs');
    return new Engines(
      engine,
      new QueryRunner(engine, warehouse, () => BigInt(NOW), null),
      await TranslationBench.open(),
    );
  }

  async reference(sql: string): Promise<Outcome> {
    const request = {
      sql,
      project: 'test',
      defaultDataset: { project: 'test', dataset: 'logs' },
      parameters: [],
      maximumBytesBilled: null,
      location: 'US',
    };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      const plan = await this.runner.plan(request, false, signal);
      const rows = await this.runner.rows(plan, signal);
      const write = rowWriter(
        plan.columns.map(({ name, type }) => restField(name, type)),
        { hideBytes: false, isoTimestamps: false },
      );
      return {
        columns: plan.columns.map((c) => [c.name, typeName(c.type)] as const),
        rows: rows.map((row) =>
          exactly(write(restRow(plan.columns, row, { timestamps: 'INT64', recordTimestampsAsText: false }))),
        ),
      };
    } catch (error) {
      if (signal.aborted) return { unsupported: 'The reference takes too long.' };
      if (error instanceof BigQueryError && LACKING.test(error.message)) return { unsupported: error.message };
      if (error instanceof BigQueryError && error.reason !== 'notImplemented' && error.reason !== 'backendError')
        return { error: error.message };
      return { unsupported: error instanceof Error ? error.message : String(error) };
    }
  }

  async embedded(sql: string): Promise<Outcome> {
    try {
      const { columns, texts } = await this.bench.run(sql);
      return { columns: columns.map((c) => [c.name, typeName(c.type)] as const), rows: texts.map(exactly) };
    } catch (error) {
      // Not `instanceof Error`: DuckDB's come out of a native module, whose Error may be another realm's.
      const message = String((error as { message?: unknown }).message ?? error);
      if (error instanceof QueryError && message.startsWith('The embedded engine has no '))
        return { unsupported: message };
      return { error: message };
    }
  }

  async close(): Promise<void> {
    this.bench.close();
    await this.engine.stop();
  }
}

function restField(name: string, type: SqlType, mode: RestField['mode'] = 'NULLABLE'): RestField {
  if (type.kind === 'ARRAY') return restField(name, type.element, 'REPEATED');
  if (type.kind !== 'STRUCT') return { name, type: type.kind, mode, fields: [] };
  const fields = type.fields.map((field, i) => restField(field.name ?? `_field_${i + 1}`, field.type));
  return { name, type: 'RECORD', mode, fields };
}
