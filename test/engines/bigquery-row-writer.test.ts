import fc from 'fast-check';
import { MalformedRow, rowWriter, timestampMicros } from '../../src/engines/bigquery/row-writer';
import { parseRestSchema, type RestField } from '../../packages/googlesql/src/rest-schema';
import { fieldsOf } from '../../packages/duckdb-engine/test/fields';

interface Field {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  readonly fields?: readonly Field[];
}

const writerOf = (fields: readonly RestField[], hideBytes = false): ((row: unknown) => string) =>
  rowWriter(fields, { hideBytes, isoTimestamps: false });

/** One column of a type, one value. */
function written(type: string, value: unknown, hideBytes = false): string {
  const text = writerOf(fieldsOf(`x ${type}`), hideBytes)({ f: [{ v: value }] });
  expect(() => JSON.parse(text) as unknown).not.toThrow();
  return text.slice('{"x":'.length, -1);
}

describe('a value', () => {
  // As BigQuery writes it, and where they differ, as we do.
  test.each(
    String.raw`
    INTEGER 42
    INTEGER -7
    INT64 9223372036854775807
    INT64 -9223372036854775808
    TIMESTAMP 1790769600000001
    TIMESTAMP -62135596800000000
    TIMESTAMP 0
    TIMESTAMP 2026-09-30T11:20:00.5Z → 1790767200500000
    FLOAT 1.5
    FLOAT64 -0.0 → 0
    FLOAT 1E+20 → 100000000000000000000
    FLOAT 4.9E-324 → 5e-324
    FLOAT NaN → "NaN"
    FLOAT nan → "NaN"
    FLOAT Infinity → "Infinity"
    FLOAT inf → "Infinity"
    FLOAT -inf → "-Infinity"
    FLOAT -Infinity → "-Infinity"
    NUMERIC 1.10 → "1.10"
    BIGNUMERIC 123456789012345678901234567890.5 → "123456789012345678901234567890.5"
    BOOLEAN true
    BOOL false
    BOOL False → false
    STRING  → ""
    STRING München 😀 → "München 😀"
    BYTES YWI= → "YWI="
    DATE 2026-09-30 → "2026-09-30"
    TIME 11:20:00 → "11:20:00"
    DATETIME 2026-09-30T11:20:00.500000 → "2026-09-30T11:20:00.500000"
    DATETIME 2026-09-30 11:20:00 → "2026-09-30T11:20:00"
    GEOGRAPHY POINT(1 2) → "POINT(1 2)"
    INTERVAL 0-0 1 0:0:0 → "0-0 1 0:0:0"
    JSON {"a":[1,12345678901234567890]}
    JSON "text"
    JSON null`
      .split(/\n\s*/)
      .slice(1),
  )('%s', (line) => {
    const [, type = '', value = '', expected = value] = /^(\w+) (.*?)(?: → (.*))?$/.exec(line) ?? [];
    expect(written(type, value)).toBe(expected);
  });

  test.each([
    ['INTEGER', 5, '5'],
    ['BOOL', true, 'true'],
    ['STRING', 'a "b" \\ \n\u0001', '"a \\"b\\" \\\\ \\n\\u0001"'],
    ['STRING', 'lone \ud800', '"lone \\ud800"'],
    ['JSON', '{\n\t"a\\n": 1\r\n}', '{  "a\\n": 1  }'],
  ])('%s %j is %s', (type, value, expected) => {
    expect(written(type, value)).toBe(expected);
  });

  test.each('STRING INT64 FLOAT BOOL TIMESTAMP JSON BYTES NUMERIC DATE DATETIME TIME'.split(' '))(
    '%s null is null, missing too',
    (type) => {
      expect(written(type, null)).toBe('null');
      expect(written(type, undefined)).toBe('null');
    },
  );

  test.each([
    ['INTEGER', '1.5'],
    ['INTEGER', ''],
    ['INTEGER', '007'],
    ['INTEGER', '1,"injected":2'],
    ['INTEGER', 1e21],
    ['INTEGER', {}],
    ['FLOAT', ''],
    ['FLOAT', ' 1'],
    ['FLOAT', '0x10'],
    ['FLOAT', 'one'],
    ['BOOL', '1'],
    ['TIMESTAMP', 'yesterday'],
    ['JSON', '{"a":'],
    ['JSON', ''],
    ['STRING', {}],
    ['STRING', ['a']],
    ['DATETIME', {}],
  ])('%s %j is malformed', (type, value) => {
    expect(() => written(type, value)).toThrow(MalformedRow);
  });

  test('hidden bytes are null at any depth, other types stay', () => {
    const write = writerOf(fieldsOf('b BYTES, l BYTES*, r RECORD(b BYTES, s STRING)'), true);
    const row = { f: [{ v: 'YQ==' }, { v: [{ v: 'YQ==' }] }, { v: { f: [{ v: 'YQ==' }, { v: 'YQ==' }] } }] };
    expect(write(row)).toBe('{"b":null,"l":[null],"r":{"b":null,"s":"YQ=="}}');
  });
});

describe('a RANGE', () => {
  const cell = (element: string, value: unknown, isoTimestamps = false): string => {
    const fields = [{ name: 'r', type: 'RANGE', rangeElementType: { type: element } }];
    const write = rowWriter(parseRestSchema({ fields }, 'test'), { hideBytes: false, isoTimestamps });
    return write({ f: [{ v: value }] }).slice('{"r":'.length, -1);
  };

  test('has ends as values of their type are', () => {
    expect(cell('DATETIME', '[UNBOUNDED, 2026-09-30 01:02:03)')).toBe('"[UNBOUNDED, 2026-09-30T01:02:03)"');
    expect(cell('TIMESTAMP', '[0, UNBOUNDED)', true)).toBe('"[1970-01-01T00:00:00.000000Z, UNBOUNDED)"');
    expect(cell('DATE', null)).toBe('null');
  });

  test.each(['', '[2026-09-30)', '(2026-09-30, UNBOUNDED)', 7])('%p is malformed', (value) => {
    expect(() => cell('DATE', value)).toThrow(MalformedRow);
  });
});

describe('records and lists', () => {
  const write = writerOf(fieldsOf('id STRING, m RECORD*(n INTEGER, tags STRING*, inner STRUCT(at TIMESTAMP))'));

  test('a missing list is empty, a missing record is null', () => {
    expect(write({ f: [{ v: null }, { v: null }] })).toBe('{"id":null,"m":[]}');
    expect(write({ f: [{ v: null }, { v: [{ v: { f: [{ v: null }, { v: null }, { v: null }] } }] }] })).toBe(
      '{"id":null,"m":[{"n":null,"tags":[],"inner":null}]}',
    );
  });

  test('keep the order of the fields, whatever they are called', () => {
    const names = ['b', '2', '1', '__proto__', 'constructor', 'toJSON', 'a'];
    const odd = writerOf(
      fieldsOf(`${names.map((name) => `${name} INTEGER`).join(', ')}, r RECORD*(7 JSON, 0 INTEGER)`),
    );
    const inner = (json: string, digits: string) => ({ v: { f: [{ v: json }, { v: digits }] } });
    const list = [inner('{"x":1}', '9007199254740993'), inner('[]', '-9007199254740993')];
    expect(odd({ f: [...names.map((_, i) => ({ v: String(i) })), { v: list }] })).toBe(
      '{"b":0,"2":1,"1":2,"__proto__":3,"constructor":4,"toJSON":5,"a":6,' +
        '"r":[{"7":{"x":1},"0":9007199254740993},{"7":[],"0":-9007199254740993}]}',
    );
  });

  test('exact digits stand where they belong, in the next row too', () => {
    const exact = writerOf(fieldsOf('i INTEGER*, s STRING, j JSON, t TIMESTAMP'));
    const row = (digits: string) => ({
      f: [{ v: [{ v: digits }, { v: '1' }] }, { v: digits }, { v: `"$1 ${digits}"` }, { v: digits }],
    });
    for (const digits of ['9223372036854775807', '-9223372036854775808', '253402300799999999']) {
      expect(exact(row(digits))).toBe(`{"i":[${digits},1],"s":"${digits}","j":"$1 ${digits}","t":${digits}}`);
    }
  });

  test.each([
    ['not a row', 'text'],
    ['null', null],
    ['too few cells', { f: [{ v: 'x' }] }],
    ['too many cells', { f: [{ v: 'x' }, { v: [] }, { v: 'y' }] }],
    ['not a cell', { f: [null, { v: [] }] }],
    ['not a list', { f: [{ v: 'x' }, { v: 'y' }] }],
    ['not an element', { f: [{ v: 'x' }, { v: ['y'] }] }],
    ['not a record', { f: [{ v: 'x' }, { v: [{ v: 'y' }] }] }],
  ])('%s is malformed', (_, row) => {
    expect(() => write(row)).toThrow(MalformedRow);
  });
});

/** What the writer must agree with: the plain conversion of a random row of a random schema. */
interface Sample {
  readonly field: Field;
  readonly rest: unknown;
  readonly json: unknown;
}

const scalar: fc.Arbitrary<Omit<Sample, 'field'> & { type: string }> = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => ({ type: 'STRING', rest: text, json: text })),
  fc.maxSafeInteger().map((number) => ({ type: 'INTEGER', rest: String(number), json: number })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => ({
    type: 'FLOAT',
    rest: String(number),
    json: Object.is(number, -0) ? 0 : number,
  })),
  fc.boolean().map((value) => ({ type: 'BOOLEAN', rest: String(value), json: value })),
  fc
    .jsonValue()
    .map((value) => ({ type: 'JSON', rest: JSON.stringify(value), json: JSON.parse(JSON.stringify(value)) })),
  fc.constant({ type: 'STRING', rest: null, json: null }),
);

const { row } = fc.letrec<{ row: { fields: Field[]; rest: unknown; json: unknown }; cell: Sample }>((tie) => ({
  row: fc.array(tie('cell'), { minLength: 1, maxLength: 4 }).map((cells) => ({
    fields: cells.map(({ field }, i) => ({ ...field, name: `c${i}` })),
    rest: { f: cells.map(({ rest }) => ({ v: rest })) },
    json: Object.fromEntries(cells.map(({ json }, i) => [`c${i}`, json])),
  })),
  cell: fc.oneof(
    { maxDepth: 3 },
    scalar.map(({ type, rest, json }) => ({ field: { name: '', type }, rest, json })),
    fc.tuple(scalar, fc.nat({ max: 3 })).map(([{ type, rest, json }, count]) => ({
      field: { name: '', type, mode: 'REPEATED' },
      rest: Array.from({ length: count }, () => ({ v: rest })),
      json: Array.from({ length: count }, () => json),
    })),
    tie('row').map((inner) => ({
      field: { name: '', type: 'RECORD', fields: inner.fields },
      rest: inner.rest,
      json: inner.json,
    })),
  ),
}));

test('any row of any schema is the JSON of its values, in order and on one line', () => {
  fc.assert(
    fc.property(row, ({ fields, rest, json }) => {
      const text = writerOf(parseRestSchema({ fields }, 'test'))(rest);
      expect(JSON.parse(text)).toEqual(json);
      expect(text).not.toMatch(/[\n\r]/);
    }),
  );
});

describe('a TIMESTAMP', () => {
  test.each(
    `
    1790767200000000 → 1790767200000000
    -1 → -1
    1.7907672E9 → 1790767200000000
    1790767200.123456 → 1790767200123456
    1790767200.1234569 → 1790767200123456
    1.790767200123456E9 → 1790767200123456
    1.5e-3 → 1500
    1e-9 → 0
    -1.5 → -1500000
    0.0 → 0
    2026-09-30T11:20:00Z → 1790767200000000
    2026-09-30T11:20:00.123456Z → 1790767200123456
    2026-09-30T11:20:00.123456000Z → 1790767200123456
    2026-09-30T11:20:00 → 1790767200000000
    2026-09-30 11:20:00 UTC → 1790767200000000
    2026-09-30 11:20:00.5+00 → 1790767200500000
    2026-09-30 13:20:00+02:00 → 1790767200000000
    2026-09-30T05:50:00-0530 → 1790767200000000
    1969-12-31T23:59:59.999999Z → -1
    0001-01-01T00:00:00Z → -62135596800000000
    9999-12-31 23:59:59.999999+00 → 253402300799999999
    0099-03-01T00:00:00Z → -59037897600000000`
      .split(/\n\s*/)
      .slice(1),
  )('%s', (line) => {
    const [text = '', micros = ''] = line.split(' → ');
    expect(timestampMicros(text)).toBe(BigInt(micros));
  });

  test.each([
    '',
    'now',
    '2026-09-30',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-09-30T24:00:00Z',
    '2026-09-30T11:60:00Z',
    '1e400',
    '1.5.5',
  ])('%j is malformed', (text) => {
    expect(() => timestampMicros(text)).toThrow(MalformedRow);
  });
});
