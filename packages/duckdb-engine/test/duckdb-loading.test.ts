import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { DataFolder, ndjson } from './data-folder';
import { schemaOf } from './fields';
import { textsOf } from './queries';

/** `raw_x` with a field of every type. */
const EVERY = schemaOf({
  raw_x: `timestamp TIMESTAMP!, s STRING, i INTEGER, f FLOAT, n NUMERIC, b BOOLEAN, y BYTES, d DATE, t TIME, dt DATETIME, j JSON, is INTEGER*,
    r RECORD(at TIMESTAMP), rs RECORD*(a STRING, bs BYTES*, deep RECORD*(n INT64))`,
});
/** Only types that DuckDB's reader takes by itself. */
const PLAIN = schemaOf({
  raw_x: `timestamp TIMESTAMP!, id STRING!, i INTEGER, f FLOAT, b BOOLEAN, ss STRING*, is INTEGER*,
    m RECORD*(s STRING, i INTEGER, at TIMESTAMP, r RECORD*(k STRING))`,
});
const AT = '2026-09-30T11:00:00Z';
const MICROS = 1790766000000000;
const good = { timestamp: AT, id: 'good' };

describe('Rows of a data folder', () => {
  let folder: DataFolder;
  afterEach(() => folder.remove());
  const plain = async (...rows: readonly unknown[]): Promise<DataFolder> =>
    (folder = await DataFolder.make({ 'schema.json': PLAIN, 'raw_x.ndjson': ndjson(...rows) }));

  it('keep every type exactly', async () => {
    folder = await DataFolder.make({
      'schema.json': EVERY,
      'raw_x.ndjson': ndjson(
        `{"timestamp":"${AT}","s":"ü","i":9007199254740993,"f":0.1,"n":"12345678901234567890.123456789","b":true,"y":"AP8Q","d":"2026-09-30",
          "t":"11:20:00","dt":"2026-09-30T11:20:00","j":{"b":[1,9007199254740993]},"is":[1,2],"r":{"at":"${AT}"},"rs":[{"a":"x","bs":["AA=="],"deep":[{"n":1}]}]}`.replace(
          /\n\s*/g,
          '',
        ),
        { timestamp: AT },
      ),
    });
    const [missing, whole] = await textsOf(await folder.open(), 'SELECT * FROM raw_x ORDER BY s');
    expect(missing).toMatch(/^\{"timestamp":1790766000000000,("\w+":null,){9}.*"is":\[\],"r":null,"rs":\[\]\}$/);
    expect(whole).toBe(
      '{"timestamp":1790766000000000,"s":"ü","i":9007199254740993,"f":0.1,"n":"12345678901234567890.123456789","b":true,"y":"AP8Q",' +
        '"d":"2026-09-30","t":"11:20:00","dt":"2026-09-30T11:20:00","j":{"b":[1,9007199254740993]},"is":[1,2],"r":{"at":1790766000000000},' +
        '"rs":[{"a":"x","bs":["AA=="],"deep":[{"n":1}]}]}',
    );
  });

  it.each([
    ['ISO in UTC', '"2026-09-30T11:00:00Z"'],
    ['ISO with an offset', '"2026-09-30T13:00:00.000000+02:00"'],
    ['no zone', '"2026-09-30 11:00:00"'],
    ['UTC spelt out', '"2026-09-30 11:00:00 UTC"'],
    ['a named zone', '"2026-09-30 13:00:00 Europe/Berlin"'],
    ['nanoseconds', '"2026-09-30T11:00:00.000000999Z"'],
    ['seconds', '1790766000'],
    ['seconds with a fraction', '1790766000.000000'],
    ['milliseconds', '1790766000000'],
    ['microseconds', '1790766000000000'],
    ['seconds in text', '"1790766000"'],
  ])('take a timestamp as %s', async (_what, json) => {
    await plain(`{"timestamp":${json},"id":"a","m":[{"at":${json}}]}`);
    expect(await folder.rows('SELECT timestamp, m.at FROM raw_x, UNNEST(m) AS m')).toEqual([
      { timestamp: MICROS, at: MICROS },
    ]);
    expect(folder.skipped).toEqual([]);
  });

  it.each([
    ['a number in text for an INTEGER', { i: '42' }, { i: 42 }],
    ['a whole FLOAT for an INTEGER', { i: 42.0 }, { i: 42 }],
    ['a number in text for a FLOAT', { f: '1.5' }, { f: 1.5 }],
    ['NaN in text for a FLOAT', { f: 'NaN' }, { f: 'NaN' }],
    ['true in text for a BOOLEAN', { b: 'true' }, { b: true }],
    ['a number for a STRING', { m: [{ s: 5 }] }, { m: [{ s: '5', i: null, at: null, r: [] }] }],
    ['a boolean for a STRING', { m: [{ s: true }] }, { m: [{ s: 'true', i: null, at: null, r: [] }] }],
    [
      'a plain object for a REPEATED RECORD',
      { m: { s: 'x', r: { k: 'y' } } },
      { m: [{ s: 'x', i: null, at: null, r: [{ k: 'y' }] }] },
    ],
    ['null for a REPEATED field', { m: null, ss: null }, { m: [], ss: [] }],
    ['null for a REPEATED field in a record', { m: [{ r: null }] }, { m: [{ s: null, i: null, at: null, r: [] }] }],
    [
      'fields the schema does not know',
      { zz: { a: [1, null] }, m: [{ s: 'x', zz: 1 }] },
      { m: [{ s: 'x', i: null, at: null, r: [] }] },
    ],
    [
      'strings that look like JSON',
      { ss: ['[null]', '{"i":true}'], m: [{ s: '{"i":1.5}' }] },
      { ss: ['[null]', '{"i":true}'], m: [{ s: '{"i":1.5}', i: null, at: null, r: [] }] },
    ],
  ])('take %s', async (_what, given, stored) => {
    await plain({ ...good, ...given });
    expect(await folder.rows('SELECT * EXCEPT (timestamp, id) FROM raw_x')).toEqual([
      { i: null, f: null, b: null, ss: [], is: [], m: [], ...stored },
    ]);
    expect(folder.skipped).toEqual([]);
  });

  it.each([
    ['a broken line', '{"timestamp":', 'not valid JSON'],
    ['a bare value', '[1]', 'not a JSON object'],
    ['null', 'null', 'not a JSON object'],
    ['two objects', '{"timestamp":"2026-01-01","id":"a"} {}', 'not valid JSON'],
    ['a missing REQUIRED field', { id: 'a' }, 'timestamp is required'],
    ['a REQUIRED field that is null', { ...good, timestamp: null }, 'timestamp is required'],
    ['no timestamp', { ...good, timestamp: 'yesterday' }, 'timestamp is not a TIMESTAMP'],
    ['a day that does not exist', { ...good, timestamp: '2026-02-30' }, 'timestamp is not a TIMESTAMP'],
    ['an endless timestamp', { ...good, timestamp: 'infinity' }, 'timestamp is not a TIMESTAMP'],
    ['text for an INTEGER', { ...good, i: 'many' }, 'i is not a INT64'],
    ['a fraction for an INTEGER', { ...good, i: 1.5 }, 'i is not a INT64'],
    ['a fraction in text for an INTEGER', { ...good, i: '1.5' }, 'i is not a INT64'],
    ['hexadecimal for an INTEGER', { ...good, i: '0x10' }, 'i is not a INT64'],
    ['true for an INTEGER', { ...good, i: true }, 'i is not a INT64'],
    ['an INTEGER beyond 64 bits', '{"timestamp":"2026-01-01","id":"a","i":9223372036854775808}', 'i is not a INT64'],
    ['true for a FLOAT', { ...good, f: true }, 'f is not a FLOAT64'],
    ['a number for a BOOLEAN', { ...good, b: 1 }, 'b is not a BOOL'],
    ['an object for a STRING', { ...good, id: { a: 1 } }, 'id is not a STRING'],
    ['an array for a STRING', { ...good, m: [{ s: ['x'] }] }, 'm[0].s is not a STRING'],
    ['a scalar for a REPEATED field', { ...good, is: 5 }, 'is is not a list'],
    ['a null element', { ...good, ss: ['a', null] }, 'ss[1] is null'],
    ['a fraction in a REPEATED INTEGER', { ...good, is: [1, 2.5] }, 'is[1] is not a INT64'],
    ['an object in a REPEATED STRING', { ...good, ss: ['a', { b: 1 }] }, 'ss[1] is not a STRING'],
    ['text for a record', { ...good, m: ['x'] }, 'm[0] is not a record'],
    ['a wrong value deep inside', { ...good, m: [{ s: 'x' }, { i: 'x' }] }, 'm[1].i is not a INT64'],
  ])('skip %s and say so without the value', async (_what, bad, reason) => {
    await plain(good, '', bad, { ...good, id: 'last' });
    expect(await folder.rows('SELECT id FROM raw_x ORDER BY id')).toEqual([{ id: 'good' }, { id: 'last' }]);
    expect(folder.skipped).toEqual([{ file: expect.stringContaining('raw_x.ndjson') as unknown, line: 3, reason }]);
    expect(folder.logged.find(({ message }) => message.startsWith('Table ready'))).toMatchObject({
      level: 'warn',
      facts: { table: 'raw_x', rows: 2, skipped: 1 },
    });
  });

  it('name the first ten skipped rows and count all', async () => {
    await plain(...Array.from({ length: 25 }, () => ({ ...good, i: 'x' })), good);
    expect(await folder.rows('SELECT COUNT(*) AS n FROM raw_x')).toEqual([{ n: 1 }]);
    expect(folder.skipped.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(folder.logged.at(-1)?.facts).toMatchObject({ skipped: 25 });
  });

  it('are counted again when the stored table is used again', async () => {
    await plain(good, { ...good, i: 'x' });
    await folder.rows('SELECT 1 AS one');
    const before = folder.logged.splice(0).filter(({ level }) => level === 'warn');
    await folder.rows('SELECT 1 AS one');
    const again = folder.logged.filter(({ level }) => level === 'warn');
    expect(again).toEqual(before.slice(-1));
    expect(again).toMatchObject([{ facts: { skipped: 1 } }]);
  });

  it('survive a byte order mark, Windows line ends and a lone surrogate', async () => {
    await plain(`\ufeff${JSON.stringify(good)}\r`, '{"timestamp":"2026-01-01","id":"\\ud800"}\r');
    await folder.write({
      'raw_x.ndjson': `\ufeff${JSON.stringify(good)}\r\n{"timestamp":"2026-01-01","id":"\\ud800"}\r\n`,
    });
    expect(await folder.rows('SELECT id FROM raw_x ORDER BY timestamp')).toEqual([{ id: '\ufffd' }, { id: 'good' }]);
    expect(folder.skipped).toEqual([]);
  });

  it('come from gzip and from a folder of files as from one file', async () => {
    folder = await DataFolder.make({
      'schema.json': PLAIN,
      'raw_x/2.ndjson': ndjson({ timestamp: '2026-09-30T11:00:01Z', id: 'b' }, { ...good, i: 'x' }),
      'raw_x/1 [old].ndjson.gz': gzipSync(ndjson({ timestamp: '2026-09-30T11:00:02Z', id: 'c' })),
      'raw_x/_notes.txt': 'nothing',
      'raw_x/3.ndjson': ndjson({ timestamp: AT, id: 'a' }),
    });
    expect(await folder.rows('SELECT id FROM raw_x ORDER BY timestamp')).toEqual([
      { id: 'a' },
      { id: 'b' },
      { id: 'c' },
    ]);
    expect(folder.skipped).toEqual([
      { file: expect.stringMatching(/2\.ndjson$/) as unknown, line: 2, reason: 'i is not a INT64' },
    ]);
  });

  it('come from Parquet, in the shape that the schema declares', async () => {
    folder = await DataFolder.make({ 'schema.json': PLAIN });
    const duck = await (await DuckDBInstance.create()).connect();
    await duck.run(`COPY (
      SELECT TIMESTAMPTZ '2026-09-30 13:00:00+02' AS timestamp, 'a' AS id, 5::UTINYINT AS i, {'s': 'x', 'r': {'k': 'y'}} AS m, ['p', NULL] AS ss
      UNION ALL SELECT NULL, 'b', 6, NULL, NULL
    ) TO '${folder.dataDir}/raw_x.parquet' (FORMAT parquet)`);
    expect(await folder.rows('SELECT * FROM raw_x')).toEqual([
      {
        timestamp: MICROS,
        id: 'a',
        i: 5,
        f: null,
        b: null,
        ss: ['p'],
        is: [],
        m: [{ s: 'x', i: null, at: null, r: [{ k: 'y' }] }],
      },
    ]);
    expect(folder.skipped).toEqual([
      { file: expect.stringContaining('raw_x.parquet') as unknown, line: 2, reason: 'timestamp is required' },
    ]);
  });

  it('have an inferred schema where none is given', async () => {
    folder = await DataFolder.make({
      'orders.ndjson': ndjson(
        { id: 1, at: '2026-09-30T11:00:00Z', total: 1.5, tags: ['a'], customer: { name: 'Ada', vip: true } },
        { id: 2, lines: [{ sku: 'x', n: 1 }] },
      ),
    });
    expect(await folder.rows('SELECT * FROM orders ORDER BY id')).toEqual([
      { id: 1, at: MICROS, total: 1.5, tags: ['a'], customer: { name: 'Ada', vip: true }, lines: [] },
      { id: 2, at: null, total: null, tags: [], customer: null, lines: [{ sku: 'x', n: 1 }] },
    ]);
  });
});
