/** What is found out about rows of tables that nobody has declared, or declared in part. */
import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { DuckDBInstance } from '@duckdb/node-api';
import { unlimited } from '../../src/concurrency/deadline';
import type { TimeUnit } from '@logquay/googlesql/types';
import type { Engine } from '../../src/contract/contract';
import { rowOfText } from '../../src/data/text-line';
import { openSchemaEngine } from '../../src/engine/schema-engine';
import { DataFolder, FORMS, ndjson, rowsOf } from '../data-folder';
import { fieldsOf } from '../fields';
import { eventually } from './eventually';

jest.setTimeout(120_000);

let folder: DataFolder;
afterEach(() => folder.remove());

/** Columns and their types, as the engine has them and as `check` finds them out. */
const typesOf = async (engine: Pick<Engine, 'tables'>, table: string): Promise<unknown> =>
  Object.fromEntries(((await schemaOf(engine, table))?.columns ?? []).map(({ name, type }) => [name, type.kind]));

const schemaOf = async (engine: Pick<Engine, 'tables'>, table: string) =>
  (await engine.tables([[table]], unlimited())).schemas.get(table);

describe.each(FORMS)('Tables that have no field yet, in %s', (_form, options) => {
  it('are there without a complaint, also across a restart, and have what comes', async () => {
    folder = await DataFolder.make({ 'head.csv': 'a,b\n', 'objects.ndjson': '{}\n{}\n', 'empty.log': '' });
    let engine = await folder.open(options);
    await engine.close();
    engine = await folder.open(options);
    await folder.append({ 'head.csv': '1,x\n', 'objects.ndjson': '{"n":1}\n', 'empty.log': 'up\n' });
    await eventually(async () => expect(await rowsOf(engine, 'SELECT * FROM head')).toEqual([{ a: 1, b: 'x' }]));
    await eventually(async () => expect(await rowsOf(engine, 'SELECT n FROM objects')).toContainEqual({ n: 1 }));
    await eventually(async () =>
      expect(await rowsOf(engine, 'SELECT message FROM empty')).toEqual([{ message: 'up' }]),
    );
    expect(folder.logged.filter(({ level }) => level === 'error')).toEqual([]);
    await engine.close();
  });
});

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

  it('is hinted at where a query names it, and kept of Parquet too', async () => {
    const fields = [
      { name: 'id', type: 'STRING', mode: 'REQUIRED' },
      { name: 'n', type: 'INTEGER' },
    ];
    folder = await DataFolder.make({ 'schema.json': JSON.stringify({ x: { fields, open: true } }) });
    const duck = await (await DuckDBInstance.create()).connect();
    const rows = `(VALUES ('a', '1', 1.5, {'y': [true]}), (NULL, 'odd', NULL, NULL)) AS t(id, n, other, deep)`;
    await duck.run(`COPY (FROM ${rows}) TO '${folder.dataDir}/x.parquet' (FORMAT parquet)`);
    duck.closeSync();
    const engine = await folder.open();
    expect(await rowsOf(engine, 'SELECT n, _rest FROM x ORDER BY n DESC')).toEqual([
      { n: 1, _rest: { other: expect.anything(), deep: { y: [true] } } },
      { n: null, _rest: null },
    ]);
    expect(engine.dataStatus?.()?.tables.find(({ table }) => table === 'x')).toMatchObject({
      leftOut: {},
      nulledValues: 1,
    });
    for (const [sql, hint] of [
      ['SELECT other FROM x', `JSON_VALUE(_rest, '$.other')`],
      ['SELECT t.deep FROM x AS t', `JSON_VALUE(t._rest, '$.deep')`],
    ] as const) {
      await expect(rowsOf(engine, sql)).rejects.toMatchObject({
        details: { hint: expect.stringContaining(hint) as unknown },
      });
    }
  });

  it.each(FORMS)(
    'is kept of rows that fit an open table, at any depth, at the start and later: %s',
    async (_, options) => {
      const declared = { open: true, fields: fieldsOf('n INT64, r RECORD(a INT64), l RECORD*(a INT64)') };
      const rows = [
        { n: 1 },
        { n: 2, extra: { q: [1] } },
        { n: 3, r: { a: 1, b: { c: 2 } } },
        { n: 4, l: [{ a: 1 }, { a: 2, b: 'x' }] },
      ];
      const rests = [null, { extra: { q: [1] } }, { r: { b: { c: 2 } } }, { l: [{}, { b: 'x' }] }];
      folder = await DataFolder.make({ 'schema.json': JSON.stringify({ x: declared }), 'x.ndjson': ndjson(...rows) });
      const engine = await folder.open(options);
      const found = (): Promise<unknown> => rowsOf(engine, 'SELECT _rest FROM x ORDER BY n');
      expect(await found()).toEqual(rests.map((_rest) => ({ _rest })));
      await folder.append({ 'x.ndjson': ndjson(...rows.map((row) => ({ ...row, n: row.n + 4 }))) });
      await eventually(async () => expect(await found()).toEqual([...rests, ...rests].map((_rest) => ({ _rest }))));
    },
  );

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

describe('Lines of plain text', () => {
  const NEW_YEAR = Date.parse('2026-01-02T00:00:00Z') / 1000;
  /** Lines as a program writes them, and what is seen of their rows. */
  const FORMS: readonly (readonly [string, string, object])[] = [
    [
      'syslog, RFC 5424',
      `<165>1 2026-09-30T11:00:00.003Z host app 123 ID47 [a@1 b="c]d"] An event`,
      { timestamp: '2026-09-30T11:00:00.003', severity: 'notice', host: 'host', program: 'app', message: 'An event' },
    ],
    [
      'syslog, RFC 3164',
      `<34>Dec 31 22:14:15 host su[42]: 'su root' failed`,
      { timestamp: '2025-12-31T22:14:15', severity: 'crit', program: 'su', pid: '42', message: `'su root' failed` },
    ],
    [
      'syslog as a file',
      `Jan  1 22:14:15 host kernel: ready`,
      { timestamp: '2026-01-01T22:14:15', program: 'kernel', message: 'ready' },
    ],
    [
      'combined access log',
      `192.0.2.1 - ada [30/Sep/2026:13:00:00 +0200] "GET /a?b=1 HTTP/1.1" 404 12 "-" "curl/8 (\\"x\\")"`,
      {
        timestamp: '2026-09-30T11:00:00',
        method: 'GET',
        path: '/a?b=1',
        status: 404,
        bytes: 12,
        remote_addr: '192.0.2.1',
        user_agent: 'curl/8 (\\"x\\")',
      },
    ],
    [
      'common access log',
      `::1 - - [30/Sep/2026:11:00:00 +0000] "-" 400 -`,
      { timestamp: '2026-09-30T11:00:00', status: 400, remote_addr: '::1', method: null },
    ],
    [
      'nginx error log',
      '2026/09/30 11:00:00 [error] 7#8: *1 open() failed',
      { timestamp: '2026-09-30T11:00:00', severity: 'error', pid: '7', message: '*1 open() failed' },
    ],
    [
      'Apache error log',
      '[Wed Sep 30 11:00:00.123456 2026] [core:warn] [pid 7:tid 8] [client 192.0.2.1:5] AH1: no',
      { timestamp: '2026-09-30T11:00:00.123456', severity: 'warn', module: 'core', message: 'AH1: no' },
    ],
    [
      'logfmt',
      String.raw`ts=2026-09-30T11:00:00Z level=warn msg="it \"is\"" took=1.5 ok=true id=007 n=3`,
      { timestamp: '2026-09-30T11:00:00', severity: 'warn', message: 'it "is"', took: 1.5, ok: true, id: '007', n: 3 },
    ],
    [
      'logfmt with a number as its time',
      'timestamp=1790766000 level=info msg=x t=5',
      { timestamp: '2026-09-30T11:00:00', message: 'x', t: 5 },
    ],
    [
      'a program that is called as a level is',
      'Jan  1 10:00:00 web1 error: disk full',
      { timestamp: '2026-01-01T10:00:00', host: 'web1', program: 'error', message: 'disk full' },
    ],
    [
      'a time and a level',
      '2026-09-30 11:00:00,123 [main] ERROR app.Main - failed',
      { timestamp: '2026-09-30T11:00:00.123', severity: 'ERROR', message: '[main] ERROR app.Main - failed' },
    ],
    [
      'Postgres',
      '2026-09-30 11:00:00.123 UTC [12] LOG:  ready',
      { timestamp: '2026-09-30T11:00:00.123', severity: 'LOG', message: '[12] LOG:  ready' },
    ],
    [
      'containerd',
      '2026-09-30T11:00:00.123456789Z stderr F {"msg":"event","level":30}',
      { timestamp: '2026-09-30T11:00:00.123456', stream: 'stderr', msg: 'event', level: 30 },
    ],
    [
      'no form',
      'Listening on 8080, user info: none',
      { severity: null, message: 'Listening on 8080, user info: none' },
    ],
  ];
  const instant = (time: string): number => Date.parse(`${time.slice(0, 23)}Z`) * 1000 + Number(time.slice(23, 26));

  it.each(FORMS)('are rows by their form: %s', async (_form, line, seen) => {
    const path = 'app.log';
    folder = await DataFolder.make({ [path]: `${line}\n`, 'app.txt': `${line}\r\n` });
    await utimes(join(folder.dataDir, path), NEW_YEAR, NEW_YEAR);
    await utimes(join(folder.dataDir, 'app.txt'), NEW_YEAR, NEW_YEAR);
    const rows = (await rowsOf(await folder.open(), 'SELECT * FROM app')) as Record<string, unknown>[];
    expect(rows).toHaveLength(2);
    const expected = Object.entries(seen).map(([name, value]) => [
      name,
      name === 'timestamp' ? instant(String(value)) : value,
    ]);
    for (const row of rows) {
      const nulls = Object.fromEntries(Object.keys(seen).map((name) => [name, null]));
      expect({ ...nulls, ...row }).toMatchObject(Object.fromEntries(expected));
    }
  });

  it.each([
    ['2026-09-30T11:00:00Z stdout F {"id":9007199254740993}', '"id":9007199254740993,'],
    [`2026-09-30T11:00:00Z stdout P ${'x'.repeat(16 * 1024)}`, '"timestamp":"2026-09-30T11:00:00.000000Z"'],
    ['timestamp=yesterday level=info', '"timestamp":"yesterday"'],
    ['2026/13/45 11:00:00 [error] 7#8: no', '"message":"2026/13/45 11:00:00 [error] 7#8: no"'],
    ['<11>1 2026-13-45T11:00:00Z host app - - - no', '"message":"<11>1 2026-13-45T11:00:00Z host app - - - no"'],
    ['2026-13-45T11:00:00Z stdout F no', '"message":"2026-13-45T11:00:00Z stdout F no"'],
  ])('lose no value: %.60s', (line, part) => {
    expect(rowOfText(line, NEW_YEAR * 1000)).toContain(part);
  });

  it('take time in proportion to their length, whatever they hold', () => {
    const slowest = Math.max(
      ...FORMS.flatMap(([, line]) =>
        'a"\\[] =1-:<{'.split('').flatMap((sign) =>
          [0.3, 0.6, 1].map((part) => {
            const started = performance.now();
            rowOfText(line.slice(0, part * line.length) + sign.repeat(15_000), NEW_YEAR);
            return performance.now() - started;
          }),
        ),
      ),
    );
    expect(slowest).toBeLessThan(1_000);
  });

  it('come live, with those that belong to them, in archives too, and as JSON among others', async () => {
    const trace = 'ERROR: no\n  at a\n\tat b\n';
    folder = await DataFolder.make({ 'app.log': `Starting\n${trace}`, 'app.log.1.gz': gzipSync(`first\n more\n`) });
    const engine = await folder.open();
    const messages = async (): Promise<unknown[]> =>
      ((await rowsOf(engine, 'SELECT message FROM app')) as { message: string }[]).map(({ message }) => message).sort();
    const become = (...expected: readonly string[]): Promise<void> =>
      eventually(async () => expect(await messages()).toEqual([...expected].sort()));
    const before = ['Starting', 'ERROR: no\n  at a\n\tat b', 'first\n more'];
    await become(...before);
    await folder.append({ 'app.log': 'one\n' });
    await become(...before, 'one');
    await folder.append({ 'app.log': '{"message":"json"}\n\ntwo\n' });
    await folder.append({ 'app.log': ' of two\npart' });
    await become(...before, 'one', 'json', 'two\n of two');
    await folder.append({ 'app.log': 'ly\n' });
    await become(...before, 'one', 'json', 'two\n of two', 'partly');
    // Nothing is taken back that has been served.
    const arrived = (): unknown => engine.dataStatus?.()?.tables.find(({ table }) => table === 'app')?.arrived;
    expect(arrived()).toBe(7);
    await folder.append({ 'app.log': ' late\n' });
    await become(...before, 'one', 'json', 'two\n of two', 'partly', ' late');
    expect(arrived()).toBe(8);
    await engine.close();
    const again = await folder.open({ smallFile: 0 });
    expect(await rowsOf(again, 'SELECT COUNT(*) AS n FROM app')).toEqual([{ n: 8 }]);
  });
});

describe('CSV', () => {
  it('has its columns by the first line that is not empty, and names what is no row', async () => {
    folder = await DataFolder.make({ 'x.csv': '\n\r\na,b,A,a_2\n1,2,3,4,\n5,6,,,,7\n\n8,9\n' });
    const rows = await rowsOf(await folder.open(), 'SELECT a, b, A_3, a_2 FROM x ORDER BY a');
    expect(rows.map((row) => Object.values(row as object))).toEqual([
      [1, 2, 3, 4],
      [8, 9, null, null],
    ]);
    expect(folder.skipped).toEqual([expect.objectContaining({ line: 5, reason: 'more values than columns' })]);
  });

  it('has types by its values, live too', async () => {
    folder = await DataFolder.make({
      'x.csv': 'n,f,b,at,day,code,t\n1,1.5,true,2026-09-30T11:00:00Z,2026-09-30,007,a\n,2,FALSE,,,"12",\n',
    });
    const engine = await folder.open();
    await folder.append({ 'x.csv': '9007199254740993,3,true,2026-09-30 11:00:01 UTC,2026-10-01,1,"1,5"\n' });
    await eventually(async () =>
      expect(
        await rowsOf(
          engine,
          'SELECT CAST(n AS STRING) AS n, f, b, at, day, code, t FROM x ORDER BY f'.replace('at,', '`at`,'),
        ),
      ).toEqual([
        { n: '1', f: 1.5, b: true, at: 1_790_766_000_000_000, day: '2026-09-30', code: '007', t: 'a' },
        { n: null, f: 2, b: false, at: null, day: null, code: '12', t: null },
        { n: '9007199254740993', f: 3, b: true, at: 1_790_766_001_000_000, day: '2026-10-01', code: '1', t: '1,5' },
      ]),
    );
  });
});

it.each(FORMS)('Names of any characters take no row away, in %s', async (_form, options) => {
  const names = [
    ...[...Array(0x21).keys(), 0x7f, 0x85, 0x2028, 0xd800, 0xdfff, 0xfeff, 0xffff].map((unit) =>
      String.fromCharCode(unit),
    ),
    ...[...`'"\`\\.$*[]:@;-/?{`.split(''), '', '__proto__', 'constructor', '_rest', 'select', 'x'.repeat(70_000)],
  ].flatMap((name) => [name, `a${name}b`]);
  const line = (members: string): string => `{"n":0}\n{"n":1,${members}}\n{"n":2}\n`;
  const files = names.map((name, i) => {
    const key = JSON.stringify(name);
    return [`t${i}.ndjson`, line(`${key}:${key},"record":{${key}:[{${key}:1}]}`)] as const;
  });
  const all = names.map((name) => line(`"j":{${JSON.stringify(name)}:{${JSON.stringify(name)}:[]}}`)).join('');
  const fields = [
    { name: 'n', type: 'INTEGER' },
    { name: 'j', type: 'JSON' },
  ];
  folder = await DataFolder.make({
    ...Object.fromEntries(files),
    'declared.ndjson': all,
    'open.ndjson': all.replaceAll('"j"', '"other"'),
    'schema.json': JSON.stringify({ declared: { fields }, open: { fields, open: true } }),
  });
  const engine = await folder.open(options);
  const tables = new Map(engine.dataStatus?.()?.tables.map(({ table, rows }) => [table, rows]));
  expect(names.map((_, i) => tables.get(`t${i}`))).toEqual(names.map(() => 3));
  expect([tables.get('declared'), tables.get('open')]).toEqual([names.length * 3, names.length * 3]);
  expect(await rowsOf(engine, `SELECT COUNT(_rest) AS n FROM t${names.indexOf('a\0b')}`)).toEqual([{ n: 1 }]);
});
