/** The rows of the LQL cases as a data folder, and CTE tables of any names over them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engine } from '../../src/engines/contract';
import { surveyQuery } from '../../src/googlesql/parser';
import { typeOfName } from '../../src/googlesql/type-names';
import type { SqlType } from '../../src/googlesql/types';
import type { Gate, StoredQuery } from '../../src/sandbox';
import { FIXTURE } from './case-file';
import type { Row, Run } from './rows-over-engine';

const TABLE = 'raw_lql';

/** Makes the folder; `remove` takes it away again. */
export function lqlDataFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'logquay-lql-'));
  const fields = Object.entries(FIXTURE.columns).map(([name, type]) => restField(name, sqlType(type)));
  writeFileSync(join(path, 'schema.json'), JSON.stringify({ [TABLE]: { fields } }));
  writeFileSync(join(path, `${TABLE}.ndjson`), FIXTURE.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return { path, remove: () => rmSync(path, { recursive: true }) };
}

/** Runs a consumer query through the gate over CTE tables of the given names, each with every row of the fixture. */
export function runThroughGate(engine: Engine, gate: Gate): Run {
  return async (sql, tables) => {
    const admitted = await gate.admit(storedQuery(tables), sql);
    const { rows } = await engine.run(
      {
        sql: admitted.sql,
        parameters: [],
        maxRows: 1000,
        hideBytes: false,
        maxBytesBilled: null,
        labels: {},
      },
      { deadline: performance.now() + 15_000, signal: new AbortController().signal },
    );
    return rows.map((row) => JSON.parse(row) as Row);
  };
}

function storedQuery(tables: readonly string[]): StoredQuery {
  const ctes = tables.map((name) => `\`${name}\` AS (SELECT * FROM ${TABLE})`);
  const sql = `WITH ${ctes.join(', ')} SELECT id FROM \`${tables[0] ?? ''}\``;
  const { query } = surveyQuery(sql);
  return { id: 'lql', revision: tables.join(), sql, query, cteTables: tables, parameters: [] };
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
