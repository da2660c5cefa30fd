/** The rows of the LQL cases and the canaries as a data folder, and CTE tables of any names over them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { surveyQuery } from '../../packages/googlesql/src/parser';
import { typeOfName } from '../../packages/googlesql/src/type-names';
import type { SqlType } from '../../packages/googlesql/src/types';
import type { Gate } from '../../src/sandbox/gate';
import type { StoredQuery } from '../../src/sandbox/stored-query';
import { textsOf } from '../../packages/duckdb-engine/test/queries';
import { CANARIES } from './canaries';
import { FIXTURE } from './case-file';
import type { Row, Run } from './rows-over-engine';

/** The tables of the folder: the rows of the LQL cases, and those of the canaries. */
export const TABLES = ['raw_lql', 'raw_canaries'] as const;
type Table = (typeof TABLES)[number];

/** Makes the folder; `remove` takes it away again. */
export function lqlDataFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'logquay-lql-'));
  const fields = Object.entries(FIXTURE.columns).map(([name, type]) => restField(name, sqlType(type)));
  const tables: Readonly<Record<Table, { readonly fields: readonly object[]; readonly rows: readonly object[] }>> = {
    raw_lql: { fields, rows: FIXTURE.rows },
    raw_canaries: CANARIES,
  };
  const schemas = Object.entries(tables).map(([table, { fields }]) => [table, { fields }]);
  writeFileSync(join(path, 'schema.json'), JSON.stringify(Object.fromEntries(schemas)));
  for (const [table, { rows }] of Object.entries(tables))
    writeFileSync(join(path, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** Runs a consumer query through the gate over CTE tables of the given names, each with every row of a table. */
export function runThroughGate(engine: Engine, gate: Gate, table: Table): Run {
  return async (sql, tables) => {
    const admitted = await gate.admit(storedQuery(table, tables), sql);
    const rows = await textsOf(engine, admitted.sql);
    return rows.map((row) => JSON.parse(row) as Row);
  };
}

function storedQuery(table: Table, tables: readonly string[]): StoredQuery {
  const ctes = tables.map((name) => `\`${name}\` AS (SELECT * FROM ${table})`);
  const sql = `WITH ${ctes.join(', ')} SELECT id FROM \`${tables[0] ?? ''}\``;
  const { query } = surveyQuery(sql);
  return { id: table, revision: tables.join(), sql, query, cteTables: tables, parameters: [] };
}

function sqlType(written: string): SqlType {
  const { body } = surveyQuery(`SELECT CAST(NULL AS ${written})`).query;
  const item = body.kind === 'select' ? body.items[0] : undefined;
  if (item?.kind !== 'select_expression' || item.expression.kind !== 'cast') throw new Error(`No type: ${written}`);
  return typeOfName(item.expression.type);
}

function restField(name: string, type: SqlType): object {
  if (type.kind === 'ARRAY') return { ...restField(name, type.element), mode: 'REPEATED' };
  if (type.kind !== 'STRUCT') return { name, type: type.kind, mode: 'NULLABLE' };
  return {
    name,
    type: 'RECORD',
    mode: 'NULLABLE',
    fields: type.fields.map((field) => restField(field.name ?? '', field.type)),
  };
}
