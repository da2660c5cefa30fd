/** The endpoint over every table of a folder: names, bounds, parts, and who may run it. */
import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';

import { isReserved, parseQuery, tablesRead } from '@logquay/googlesql/syntax';
import { ClaimedValue, type Key } from '../../src/keys/key';
import { mayRun, visibleTo } from '../../src/endpoints/catalogue';
import { type Endpoint, isSameDefinition, partFor } from '../../src/endpoints/endpoint';
import type { Engine, TableStatus } from '@logquay/duckdb-engine/contract';
import { cteName, type FolderTable, FolderTables, tablesEndpoint } from '../../src/endpoints/tables-endpoint';
import { KEYS } from '../http/served';

const TIMES = ['TIMESTAMP', 'DATETIME', 'STRING'] as const;

/** A number gives columns, and the time of the newest row. */
const tableOf = (name: string, seed: number): FolderTable => ({
  name,
  columns: [
    { name: 'time', type: { kind: TIMES[seed % 3] ?? 'STRING' } },
    { name: 'msg', type: { kind: 'STRING' } },
  ],
  newest: seed % 3 === 2 ? null : BigInt(seed),
});

const part = fc.constantFrom('a', 'A', 'b', 'é', '1', '-', '_', 'select', 'Group', '名', 'log');
const names = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
const folder = fc
  .uniqueArray(names, { maxLength: 120 })
  .chain((all) => fc.tuple(...all.map((name) => fc.nat({ max: 1000 }).map((seed) => tableOf(name, seed)))));

it('has each table under one name, or names it as left out', () => {
  fc.assert(
    fc.property(folder, (tables) => {
      const { endpoint, leftOut } = tablesEndpoint(tables);
      const { cteTables, query } = endpoint;
      for (const name of cteTables)
        expect([/^[A-Za-z_]\w*$/.test(name), isReserved(name.toUpperCase())]).toEqual([true, false]);
      expect(new Set(cteTables.map((name) => name.toLowerCase())).size).toBe(cteTables.length);
      expect(cteTables.length).toBeLessThanOrEqual(90);
      expect(cteTables.length + leftOut.length).toBe(tables.length);
      const read = tablesRead(query).map(({ node, within }) => [
        within?.name.name,
        node.path.map(({ name }) => name).join('.'),
      ]);
      expect(read).toHaveLength(cteTables.length);
      for (const [cte, table] of read) expect(cte).toBe(cteName(table ?? ''));
      // The rows that are given without a query are those of the newest of them.
      const served = tables.filter(({ name }) => !leftOut.includes(name));
      const newest = served.reduce<bigint | null>(
        (most, { newest: one }) => (one === null || (most !== null && most > one) ? most : one),
        null,
      );
      const [own] = partFor(endpoint, null).builtIn?.ctes.keys() ?? [];
      expect(served.find(({ name }) => cteName(name) === own)?.newest ?? null).toBe(newest);
      // What is beyond the most is older than anything that is there.
      for (const { name, newest: one } of tables) {
        const isTaken = cteTables.some((cte) => cte.toLowerCase() === cteName(name).toLowerCase());
        if (leftOut.includes(name) && !isTaken && one !== null) {
          for (const { newest: other } of served) expect(other !== null && other >= one).toBe(true);
        }
      }
    }),
    { numRuns: 200 },
  );
});

it('leaves a part as it was when a table comes that the part does not read', () => {
  fc.assert(
    fc.property(folder, names, fc.nat({ max: 1000 }), (tables, name, seed) => {
      const before = tablesEndpoint(tables).endpoint;
      const other = tables.some((table) => table.name === name) || tables.length >= 90;
      const after = tablesEndpoint(other ? tables : [...tables, tableOf(name, seed)]).endpoint;
      for (const cte of before.cteTables) {
        if (cte.toLowerCase() === cteName(name).toLowerCase()) continue;
        const query = { text: `SELECT x FROM \`${cte.toUpperCase()}\`` };
        const [held, now] = [partFor(before, query), partFor(after, query)];
        expect([held.revision === now.revision, isSameDefinition(held, after)]).toEqual([true, true]);
        expect([...(held.builtIn?.ctes.keys() ?? [])]).toContain(cte);
        expect(parseQuery(held.sql).with?.entries).toHaveLength(held.builtIn?.ctes.size ?? 0);
      }
    }),
    { numRuns: 100 },
  );
});

it('is what it was only as long as the tables are that a request reads', () => {
  const all = [tableOf('a', 0), tableOf('b', 1)];
  const { endpoint } = tablesEndpoint(all);
  const held = partFor(endpoint, { text: 'f:a error' });
  expect(isSameDefinition(held, tablesEndpoint([tableOf('a', 30)]).endpoint)).toBe(true);
  expect(isSameDefinition(held, tablesEndpoint([tableOf('b', 1)]).endpoint)).toBe(false);
  expect(isSameDefinition(held, tablesEndpoint([tableOf('a', 1)]).endpoint)).toBe(false);
  expect(isSameDefinition(held, null)).toBe(false);
  expect(isSameDefinition(held, { ...endpoint, builtIn: undefined } as never)).toBe(false);
  // Names with escapes are not looked for.
  expect(partFor(endpoint, { text: 'SELECT 1 FROM `\\x61`, b' })).toBe(endpoint);
  expect(tablesEndpoint([]).endpoint.sandbox).toBe(false);
});

it('is for who runs the service, and for keys that name it and have no pins', () => {
  const { endpoint } = tablesEndpoint([tableOf('a', 0)]);
  const any = KEYS['all'];
  if (any === undefined) throw new Error('There is no key.');
  const named = { ...any, endpoints: ['other', 'tables'] };
  const pins = new Map([['iso_timestamp_start', '2026-01-01']]);
  const claims = new Map([['iso_timestamp_start', ClaimedValue.of('2026-01-01') ?? '']]);
  const issuer = { name: 'app', dailyBytes: null, rateLimit: null };
  const cases: readonly (readonly [Partial<Key>, boolean])[] = [
    [any, false],
    [{ ...any, operator: true }, true],
    [{ ...any, admin: true }, false],
    [named, true],
    [{ ...any, endpoints: [endpoint.id.toUpperCase()] }, true],
    [{ ...named, pins }, false],
    [{ ...any, pins, operator: true }, false],
    [{ ...named, issuer }, false],
    [{ ...named, issuer, pins: claims }, false],
  ];
  for (const [key, may] of cases) {
    expect(mayRun(key as Key, endpoint)).toBe(may);
    expect(visibleTo(key as Key, [endpoint])).toHaveLength(may ? 1 : 0);
  }
  expect(visibleTo(null, [endpoint])).toEqual([]);
});

/** An engine of tables with a time in microseconds each, which says of its newest row what it is told. */
function folderOf(newest: Map<string, number>) {
  const engine = {
    faulty: false,
    dataStatus: () => ({
      target: 'folder',
      tables: [...newest.keys()].map((table) => ({ table, rows: 1, arrived: 0 }) as TableStatus),
    }),
    tables: (paths: readonly (readonly string[])[]) => {
      const names = paths.map(([name = '']) => name);
      return Promise.resolve({ schemas: new Map(names.map((name) => [name, tableOf(name, 0)])), names });
    },
    run: ({ sql }: { readonly sql: string }) => {
      if (engine.faulty) return Promise.reject(new Error('It cannot be read.'));
      const found = newest.get(/FROM (\w+)/.exec(sql)?.[1] ?? '');
      return Promise.resolve({ rows: [`{"newest":${found ?? 'null'}}`] });
    },
  };
  return engine;
}

it('answers the rows of the table that has the newest one, in whatever order tables come and go', async () => {
  const step = fc.record({ table: fc.constantFrom('a', 'b', 'c'), at: fc.nat({ max: 50 }), leaves: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const newest = new Map<string, number>();
      const engine = folderOf(newest);
      const published: Endpoint[] = [];
      const folder = new FolderTables(engine as unknown as Engine, { info() {}, warn() {} } as never, (endpoint) =>
        published.push(endpoint),
      );
      for (const { table, at, leaves } of steps) {
        // Rows of a table that is there do not change: what is not due yet is another matter.
        if (leaves) newest.delete(table);
        else if (!newest.has(table)) newest.set(table, at);
        await folder.look();
        const last = published.at(-1);
        const served = last === undefined ? [] : [...(partFor(last, null).builtIn?.ctes.keys() ?? [])];
        const most = Math.max(...newest.values());
        expect(newest.size === 0 || newest.get(served[0] ?? '') === most).toBe(true);
      }
      folder.close();
    }),
    { numRuns: 100 },
  );
});

it('warns once while a table cannot be read, and serves them all', async () => {
  const newest = new Map([['a', 0]]);
  const engine = folderOf(newest);
  const lines: string[] = [];
  const log = { info: () => lines.push('info'), warn: () => lines.push('warn') };
  let served: Endpoint | undefined;
  const folder = new FolderTables(engine as unknown as Engine, log as never, (endpoint) => (served = endpoint));
  for (const [i, faulty] of [true, true, false, false, true, true].entries()) {
    engine.faulty = faulty;
    newest.set(`b${String(i)}`, i);
    await folder.look();
    expect(served?.cteTables).toHaveLength(newest.size);
  }
  folder.close();
  expect(lines).toEqual(['warn', 'info', 'warn']);
});

it('serves the tables that are known while thousands of others are looked at', async () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `t${String(i)}`);
  const tables = names.map((table) => ({ table, rows: 1, arrived: 1, files: 1, declared: false }));
  const schemas = new Map(names.map((name, i) => [name, { ...tableOf(name, 3 * i), newest: undefined }]));
  const published: string[] = [];
  const warned: { readonly tables: readonly string[]; readonly count: number }[] = [];
  const engine = {
    tables: () => Promise.resolve({ schemas, names }),
    dataStatus: () => ({ target: 'one', tables }),
    run: async () => {
      await sleep(2);
      return { rows: ['{"newest":1}'] };
    },
  };
  const log = { info: () => undefined, warn: (facts: (typeof warned)[0]) => void warned.push(facts) };
  const folderTables = new FolderTables(engine as never, log as never, ({ sql }) => void published.push(sql));
  const began = performance.now();
  await folderTables.look();
  expect(performance.now() - began).toBeLessThan(5_000);
  folderTables.close();
  expect(published).toHaveLength(1);
  expect(parseQuery(published[0] ?? '').with?.entries).toHaveLength(90);
  expect(warned.map(({ tables: named, count }) => [named.length, count])).toEqual([[20, 2_910]]);
});
