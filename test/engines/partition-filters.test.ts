/**
 * Every table that a stored query reads has a filter that BigQuery takes where its partitions require one (docs/bigquery.md): in
 * the same SELECT, joined by AND, the bare `timestamp` compared with an expression of constants and parameters. Whether BigQuery
 * itself agrees, only a dry run there can say.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { storedQueryOf } from '../../src/analysis/stored-analyses';
import { readDefinition } from '../../src/endpoints/definition';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { typicalValues } from '../../src/sandbox/cte-columns';
import { Gate } from '../../src/sandbox/gate';
import type { Engine } from '../../packages/duckdb-engine/src/contract/contract';
import { tablesRead } from '../../packages/googlesql/src/from-paths';
import { parseQuery } from '../../packages/googlesql/src/parser';
import type { Expression, FromItem, Query, Select, TablePath } from '../../packages/googlesql/src/tree';
import { type SyntaxNode, walk } from '../../packages/googlesql/src/tree-walk';
import { pageStatement } from '../../src/run/page-query';
import { openEngineOn, overLocalBigQuery } from './over-local-bigquery';

const QUERIES = path.join(__dirname, '../../queries');
const ENDPOINTS = readdirSync(QUERIES)
  .filter((file) => file.endsWith('.sql'))
  .map((file): Endpoint => {
    const { endpoint, faults } = readDefinition(readFileSync(path.join(QUERIES, file)));
    if (endpoint === null) throw new Error(JSON.stringify(faults));
    return endpoint;
  });

/** The tables whose reads have no such filter, as often as they are read. */
function unfiltered(query: Query): string[] {
  const tables = new Set<SyntaxNode>(tablesRead(query).map(({ node }) => node));
  const filtered = new Set<SyntaxNode>();
  walk(query, (node) => {
    if (node.kind !== 'select' || node.from === null) return;
    for (const table of pathsOf(node.from)) if (tables.has(table) && isFiltered(node, table)) filtered.add(table);
  });
  return [...tables].filter((table) => !filtered.has(table)).map((table) => nameOf(table as TablePath));
}

const nameOf = ({ path: parts }: TablePath): string => parts.map(({ name }) => name).join('.');

/** The paths of a FROM, without those of its subqueries. */
function pathsOf(from: FromItem): TablePath[] {
  const found: TablePath[] = [];
  walk(from, (node) => {
    if (node.kind === 'table_path') found.push(node);
    return node.kind !== 'query';
  });
  return found;
}

function isFiltered({ where }: Select, { alias }: TablePath): boolean {
  return conjuncts(where).some(
    (one) =>
      one.kind === 'binary' &&
      ['>', '>='].includes(one.operator) &&
      isColumn(one.left, [...(alias === null ? [] : [alias.name]), 'timestamp']) &&
      isConstant(one.right),
  );
}

function conjuncts(where: Expression | null): Expression[] {
  if (where === null) return [];
  return where.kind === 'binary' && where.operator === 'and'
    ? [...conjuncts(where.left), ...conjuncts(where.right)]
    : [where];
}

function isColumn(node: Expression, column: readonly string[]): boolean {
  return node.kind === 'path' && node.parts.map(({ name }) => name).join('.') === column.join('.');
}

/** Without a column (a part of TIMESTAMP_DIFF looks like one), and without a subquery, whose rows BigQuery does not know when it chooses partitions. */
function isConstant(expression: Expression): boolean {
  let constant = true;
  walk(expression, (node) => {
    const isPart = node.kind === 'path' && node.parts.length === 1 && node.parts[0]?.name === 'SECOND';
    if ((node.kind === 'path' && !isPart) || node.kind === 'query') constant = false;
  });
  return constant;
}

const readsOf = (sql: string): string[] => unfiltered(parseQuery(sql));

it('tells filters that BigQuery takes from others', () => {
  const read = (where: string): string[] => readsOf(`SELECT 1 FROM raw AS t WHERE ${where}`);
  expect(read('t.a = 1 AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)')).toEqual([]);
  expect(read("t.timestamp >= IF(@s = '', TIMESTAMP '0001-01-01', CAST(@s AS TIMESTAMP)) AND t.a = 1")).toEqual([]);
  for (const where of [
    't.a = 1',
    "@s = '' OR t.timestamp >= CAST(@s AS TIMESTAMP)",
    '(t.timestamp >= CAST(@s AS TIMESTAMP)) IS TRUE',
    't.timestamp >= t.a',
    't.timestamp >= (SELECT MAX(a) FROM UNNEST([@s]) AS a)',
    'TIMESTAMP_TRUNC(t.timestamp, MINUTE) >= @s',
    'u.timestamp >= @s',
    't.timestamp <= @s',
  ])
    expect([where, read(where)]).toEqual([where, ['raw']]);
  expect(readsOf('WITH c AS (SELECT * FROM raw) SELECT * FROM c WHERE timestamp >= @s')).toEqual(['raw']);
});

it.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))(
  '%s bounds every table',
  (_, { query, sql }) => {
    expect(tablesRead(query).length).toBeGreaterThan(0);
    expect(unfiltered(query)).toEqual([]);
    const key = { column: 'timestamp', type: 'TIMESTAMP', descending: true, nullsFirst: false } as const;
    expect(readsOf(pageStatement(sql, [key], { values: ['1'], given: [] }).sql)).toEqual([]);
  },
);

it('gives dry runs of stored queries instants that can be cast, where none may be absent', () => {
  const valuesOf = (name: string): unknown => {
    const endpoint = ENDPOINTS.find((one) => one.name === name);
    if (endpoint === undefined) throw new Error(name);
    return Object.fromEntries(typicalValues(storedQueryOf(endpoint)).map((one) => [one.name, one.value]));
  };
  const required = { project: '', iso_timestamp_start: '2000-01-01', iso_timestamp_end: '2000-01-01' };
  expect(valuesOf('project.metrics')).toEqual({ ...required, interval: '' });
  expect(valuesOf('service-health')).toEqual({ ...required, granularity: '' });
  expect(valuesOf('logs.all')).toEqual({ project: '', iso_timestamp_start: '', iso_timestamp_end: '' });
});

overLocalBigQuery('queries of callers', (local) => {
  let engine: Engine;
  let gate: Gate;
  beforeAll(async () => {
    engine = await openEngineOn(local().host);
    gate = new Gate(engine);
  }, 60_000);
  afterAll(async () => {
    await gate.close();
    await engine.close();
  });

  it.each([false, true])('keep the filters of the tables that they read (fenced: %s)', async (fenced) => {
    const logs = ENDPOINTS.find(({ name }) => name === 'logs.all');
    if (logs === undefined) throw new Error('No logs.all.');
    const stored = storedQueryOf(logs);
    for (const table of stored.cteTables) {
      const text = `select cast(id as int64) as n from ${table} where event_message like '%x%'`;
      const { sql, consumer } = await gate.admit(stored, text, { fenced });
      expect(consumer === null).toBe(fenced);
      const tables = tablesRead(parseQuery(sql));
      expect([table, tables.length, readsOf(sql)]).toEqual([table, 1, []]);
    }
  });
});
