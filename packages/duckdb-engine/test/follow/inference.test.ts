/** What is found out about rows of tables that nobody has declared, or declared in part. */
import { rm, writeFile } from 'node:fs/promises';

import { unlimited } from '../../src/concurrency/deadline';
import type { TimeUnit } from '@logquay/googlesql/types';
import type { Engine } from '../../src/contract/contract';
import { openSchemaEngine } from '../../src/engine/schema-engine';
import { DataFolder, FORMS, ndjson, rowsOf } from '../data-folder';
import { eventually } from './eventually';

jest.setTimeout(120_000);

let folder: DataFolder;
afterEach(() => folder.remove());

/** Columns and their types, as the engine has them and as `check` finds them out. */
const typesOf = async (engine: Pick<Engine, 'tables'>, table: string): Promise<unknown> =>
  Object.fromEntries(((await schemaOf(engine, table))?.columns ?? []).map(({ name, type }) => [name, type.kind]));

const schemaOf = async (engine: Pick<Engine, 'tables'>, table: string) =>
  (await engine.tables([[table]], unlimited())).schemas.get(table);

describe.each(FORMS)('Numbers that are times, in %s', (_form, options) => {
  const NOW = 1_790_000_000;
  const PER_SECOND: readonly (readonly [TimeUnit, bigint])[] = [
    ['s', 1n],
    ['ms', 1_000n],
    ['us', 1_000_000n],
    ['ns', 1_000_000_000n],
  ];
  const lines = (name: string, per: bigint): string =>
    Array.from({ length: 150 }, (_, i) => `{"n":${i},"${name}":${BigInt(NOW + ((i * 7) % 150)) * per}}\n`).join('');

  it('are known in each unit, for good, and order the rows that are stored', async () => {
    const files = PER_SECOND.map(([unit, per]) => [`${unit}.ndjson`, lines('time', per)] as const);
    const declared = {
      d: {
        fields: [
          { name: 'ts', type: 'FLOAT' },
          { name: 'n', type: 'INTEGER' },
        ],
      },
    };
    folder = await DataFolder.make({
      ...Object.fromEntries(files),
      'd.ndjson': lines('ts', 1_000n),
      // Not all of the first are times, nor is what has another name.
      'odd.ndjson': ndjson({ time: NOW, other: NOW }, { time: 5 }),
      'schema.json': JSON.stringify(declared),
    });
    let engine = await folder.open(options);
    const check = async (): Promise<void> => {
      for (const [unit] of PER_SECOND)
        expect((await schemaOf(engine, unit))?.timeUnits).toEqual(new Map([['time', unit]]));
      expect((await schemaOf(engine, 'd'))?.timeUnits).toEqual(new Map([['ts', 'ms']]));
      expect((await schemaOf(engine, 'odd'))?.timeUnits).toBeUndefined();
      const [newest] = await rowsOf(engine, 'SELECT n FROM ms ORDER BY time DESC LIMIT 1');
      expect(newest).toEqual({ n: 107 });
    };
    await check();
    // What comes later changes no unit.
    await folder.append({ 's.ndjson': ndjson({ n: 1_000, time: 5 }) });
    await eventually(async () => expect(await rowsOf(engine, 'SELECT n FROM s WHERE n = 1000')).toHaveLength(1));
    await check();
    await engine.close();
    engine = await folder.open(options);
    await check();
    if ('smallFile' in options) {
      // Rows lie in the order of their time, the last first.
      const stored = await rowsOf(engine, 'SELECT n FROM ns');
      expect(stored[0]).toEqual({ n: 107 });
    }
  });
});

describe.each(FORMS)('Types of a table that nobody has declared, in %s', (_form, options) => {
  const checked = (): Promise<Pick<Engine, 'tables'>> => {
    const { dataDir, cacheDir } = folder;
    return openSchemaEngine({ dataDir, cacheDir, declared: new Map() });
  };
  const nulled = (engine: Engine, name: string): number | undefined =>
    engine.dataStatus?.()?.tables.find(({ table }) => table === name)?.nulledValues;

  it('are what most values are, wherever an odd one stands', async () => {
    const EACH = {
      moment: ['"2026-09-30T11:00:00.123456789Z"', '"2026-09-30T11:00:00Z"'],
      n: ['1', '9007199254740993'],
      f: ['1', '1.5'],
      t: ['"a"', '"2026"'],
      b: ['true', 'false'],
      l: ['["x"]', '["x","y"]'],
      r: ['{"a":1}', '[{"a":2},{"a":3}]'],
      day: ['"2026-09-30"', '"2026-10-01"'],
    } as const;
    const types = {
      moment: 'TIMESTAMP',
      n: 'INT64',
      f: 'FLOAT64',
      t: 'STRING',
      b: 'BOOL',
      l: 'ARRAY',
      r: 'ARRAY',
      day: 'DATE',
    };
    const line = (i: number): string =>
      `{${Object.entries(EACH)
        .map(([name, values]) => `"${name}":${values[i % 2]}`)
        .join(',')}}\n`;
    const odd = `{${Object.keys(EACH)
      .map((name) => `"${name}":${name === 'l' || name === 'r' ? '5' : name === 't' ? '{}' : '"odd"'}`)
      .join(',')}}\n`;
    const COUNT = 600;
    const places = { first: 0, middle: 300, last: COUNT };
    folder = await DataFolder.make(
      Object.fromEntries(
        Object.entries(places).map(([name, place]) => {
          const lines = Array.from({ length: COUNT }, (_, i) => line(i));
          lines.splice(place, 0, odd);
          return [`${name}.ndjson`, lines.join('')];
        }),
      ),
    );
    expect(await typesOf(await checked(), 'first')).toEqual(types);
    let engine = await folder.open(options);
    const check = async (): Promise<void> => {
      for (const name of Object.keys(places)) {
        expect(await typesOf(engine, name)).toEqual(types);
        expect(await typesOf(await checked(), name)).toEqual(types);
        expect(nulled(engine, name)).toBe(8);
        const sums = `SELECT COUNT(*) AS n, COUNT(n) AS ns, CAST(MAX(n) AS STRING) AS big, MAX(moment) AS moment FROM ${name}`;
        expect(await rowsOf(engine, sums)).toEqual([
          { n: COUNT + 1, ns: COUNT, big: '9007199254740993', moment: 1_790_766_000_123_456 },
        ]);
      }
    };
    await check();
    await engine.close();
    engine = await folder.open(options);
    await check();
  });

  it('come with the rows, the oldest first, and stay: numbers alone widen at the beginning', async () => {
    folder = await DataFolder.make({ 'x.ndjson': ndjson({ n: 1, a: 'x' }) });
    const engine = await folder.open(options);
    await folder.append({ 'x.ndjson': ndjson({ n: 1.5, a: 5, late: 1 }) });
    await eventually(async () => expect(await rowsOf(engine, 'SELECT late FROM x')).toHaveLength(2));
    await folder.append({ 'x.ndjson': ndjson({ late: 'odd', n: 2 }) });
    const types = { n: 'FLOAT64', a: 'STRING', late: 'INT64' };
    await eventually(async () =>
      expect(await rowsOf(engine, 'SELECT n, a, late FROM x ORDER BY n')).toEqual([
        { n: 1, a: 'x', late: null },
        { n: 1.5, a: '5', late: 1 },
        { n: 2, a: null, late: null },
      ]),
    );
    expect(await typesOf(engine, 'x')).toEqual(types);
    expect(await typesOf(await checked(), 'x')).toEqual(types);
  });
});

describe('What there is no column for', () => {
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`f${i}`, i]));

  it('is in _rest, where it was, up to 64 KiB a row', async () => {
    folder = await DataFolder.make({
      'x.ndjson': ndjson(
        { r: { a: 1 }, l: [{ a: 1 }], _rest: 'own', ...many },
        { r: { b: [1, '9007199254740993'] }, l: [{ a: 2 }, { b: null, c: { d: 1.25 } }], extra: 'ü' },
        { big: 'x'.repeat(70_000), extra: 5 },
      ),
    });
    const engine = await folder.open();
    const sql = `SELECT _rest_, r.a, ARRAY_LENGTH(l) AS l, JSON_VALUE(_rest, '$.f1199') AS f, JSON_QUERY(_rest, '$.r') AS r,
      JSON_QUERY(_rest, '$.l') AS rl, JSON_VALUE(_rest, '$.extra') AS extra, LENGTH(TO_JSON_STRING(_rest)) < 65536 AS short
      FROM x ORDER BY f0 DESC, l DESC`;
    expect(await rowsOf(engine, sql)).toEqual([
      { _rest_: 'own', a: 1, l: 1, f: '1199', r: null, rl: null, extra: null, short: true },
      expect.objectContaining({ l: 2, r: { b: [1, '9007199254740993'] }, rl: [{}, { c: { d: 1.25 } }], extra: 'ü' }),
      expect.objectContaining({ l: 0, extra: '5', short: true }),
    ]);
  });

  it('is kept by a table that is declared as open, which leaves out no row', async () => {
    const fields = [
      { name: 'id', type: 'STRING', mode: 'REQUIRED' },
      { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
      { name: 'n', type: 'INTEGER' },
      { name: 'j', type: 'JSON' },
    ];
    const rows = ndjson(
      { id: 'a', timestamp: '2026-09-30T11:00:00Z', n: 1, j: { x: 1 } },
      { id: 'b', n: 'odd', other: { deep: [true] } },
      { n: 3, timestamp: 'never' },
    );
    folder = await DataFolder.make({ 'x.ndjson': rows, 'y.ndjson': rows });
    const schemaFile = `${folder.dataDir}-schema.json`;
    const write = (open: boolean): Promise<void> =>
      writeFile(schemaFile, JSON.stringify({ x: { fields, open }, y: { fields: fields.slice(0, 1), open } }));
    await write(true);
    const engine = await folder.open({ schemaFile });
    const sql = `SELECT id IN ('a', 'b') AS named, timestamp, n, j, _rest FROM x ORDER BY n NULLS FIRST`;
    const expected = [
      { named: true, timestamp: null, n: null, j: null, _rest: { other: { deep: [true] } } },
      { named: true, timestamp: 1_790_766_000_000_000, n: 1, j: { x: 1 }, _rest: null },
      { named: false, timestamp: null, n: 3, j: null, _rest: null },
    ];
    expect(await rowsOf(engine, sql)).toEqual(expected);
    expect(engine.dataStatus?.()?.tables.find(({ table }) => table === 'x')).toMatchObject({
      declared: true,
      leftOut: {},
      nulledValues: 2,
    });
    // It is taken up while queries run; one that is faulty changes nothing.
    const running = Promise.all(Array.from({ length: 20 }, () => rowsOf(engine, 'SELECT COUNT(*) AS n FROM y')));
    await writeFile(schemaFile, '{"x":');
    await eventually(() => expect(engine.dataStatus?.()?.degraded).toContain('not valid JSON'));
    expect(await rowsOf(engine, sql)).toEqual(expected);
    expect(await running).toHaveLength(20);
    await write(false);
    await eventually(async () => expect(await rowsOf(engine, 'SELECT id FROM x')).toEqual([{ id: 'a' }]));
    expect(engine.dataStatus?.()?.degraded).toBeNull();
    await rm(schemaFile);
    await eventually(async () =>
      expect(await rowsOf(engine, 'SELECT COUNT(other.deep) AS n FROM x')).toEqual([{ n: 1 }]),
    );
    await folder.append({ 'x.ndjson': ndjson({ id: 'c' }) });
    await eventually(async () => expect(await rowsOf(engine, 'SELECT id FROM x WHERE id IS NOT NULL')).toHaveLength(3));
  });
});
