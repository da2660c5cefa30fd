import fc from 'fast-check';
import { MalformedRow, rowWriter } from '../../src/engines/bigquery/row-writer';
import { parseRestSchema } from '../../src/googlesql/rest-schema';

interface Field {
  readonly name: string;
  readonly type: string;
  readonly mode?: string;
  readonly fields?: readonly Field[];
}

function writer(fields: readonly Field[], hideBytes = false): (row: unknown) => string {
  return rowWriter(parseRestSchema({ fields }, 'test'), { hideBytes, isoTimestamps: false });
}

/** One column of a type, one value. */
function written(type: string, value: unknown, hideBytes = false): string {
  const text = writer([{ name: 'x', type }], hideBytes)({ f: [{ v: value }] });
  expect(() => JSON.parse(text) as unknown).not.toThrow();
  return text.slice('{"x":'.length, -1);
}

describe('a value', () => {
  test.each([
    ['INTEGER', '42', '42'],
    ['INTEGER', '-7', '-7'],
    ['INT64', '9223372036854775807', '9223372036854775807'],
    ['INT64', '-9223372036854775808', '-9223372036854775808'],
    ['INTEGER', 5, '5'],
    ['TIMESTAMP', '1790769600000001', '1790769600000001'],
    ['TIMESTAMP', '-62135596800000000', '-62135596800000000'],
    ['TIMESTAMP', '0', '0'],
    ['TIMESTAMP', '2026-09-30T11:20:00.5Z', '1790767200500000'],
    ['FLOAT', '1.5', '1.5'],
    ['FLOAT64', '-0.0', '0'],
    ['FLOAT', '1E+20', '100000000000000000000'],
    ['FLOAT', '4.9E-324', '5e-324'],
    ['FLOAT', 'NaN', '"NaN"'],
    ['FLOAT', 'nan', '"NaN"'],
    ['FLOAT', 'Infinity', '"Infinity"'],
    ['FLOAT', 'inf', '"Infinity"'],
    ['FLOAT', '-inf', '"-Infinity"'],
    ['FLOAT', '-Infinity', '"-Infinity"'],
    ['NUMERIC', '1.10', '"1.10"'],
    ['BIGNUMERIC', '123456789012345678901234567890.5', '"123456789012345678901234567890.5"'],
    ['BOOLEAN', 'true', 'true'],
    ['BOOL', 'false', 'false'],
    ['BOOL', 'False', 'false'],
    ['BOOL', true, 'true'],
    ['STRING', '', '""'],
    ['STRING', 'a "b" \\ \n\u0001', '"a \\"b\\" \\\\ \\n\\u0001"'],
    ['STRING', 'München 😀', '"München 😀"'],
    ['STRING', 'lone \ud800', '"lone \\ud800"'],
    ['BYTES', 'YWI=', '"YWI="'],
    ['DATE', '2026-09-30', '"2026-09-30"'],
    ['TIME', '11:20:00', '"11:20:00"'],
    ['DATETIME', '2026-09-30T11:20:00.500000', '"2026-09-30T11:20:00.500000"'],
    ['DATETIME', '2026-09-30 11:20:00', '"2026-09-30T11:20:00"'],
    ['GEOGRAPHY', 'POINT(1 2)', '"POINT(1 2)"'],
    ['INTERVAL', '0-0 1 0:0:0', '"0-0 1 0:0:0"'],
    ['JSON', '{"a":[1,12345678901234567890]}', '{"a":[1,12345678901234567890]}'],
    ['JSON', '"text"', '"text"'],
    ['JSON', 'null', 'null'],
    ['JSON', '{\n\t"a\\n": 1\r\n}', '{  "a\\n": 1  }'],
  ])('%s %j is %s', (type, value, expected) => {
    expect(written(type, value)).toBe(expected);
  });

  test.each(['STRING', 'INT64', 'FLOAT', 'BOOL', 'TIMESTAMP', 'JSON', 'BYTES', 'NUMERIC', 'DATE', 'DATETIME', 'TIME'])(
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
    const write = writer(
      [
        { name: 'b', type: 'BYTES' },
        { name: 'l', type: 'BYTES', mode: 'REPEATED' },
        {
          name: 'r',
          type: 'RECORD',
          fields: [
            { name: 'b', type: 'BYTES' },
            { name: 's', type: 'STRING' },
          ],
        },
      ],
      true,
    );
    const row = { f: [{ v: 'YQ==' }, { v: [{ v: 'YQ==' }] }, { v: { f: [{ v: 'YQ==' }, { v: 'YQ==' }] } }] };
    expect(write(row)).toBe('{"b":null,"l":[null],"r":{"b":null,"s":"YQ=="}}');
  });
});

describe('a RANGE', () => {
  const cell = (element: string, value: unknown, isoTimestamps = false): string => {
    const fields = [{ name: 'r', type: 'RANGE', rangeElementType: { type: element } }];
    const write = rowWriter(parseRestSchema({ fields }, 'test'), { hideBytes: false, isoTimestamps });
    return write({ f: [{ v: value }] });
  };

  test('has ends as values of their type are', () => {
    expect(cell('DATE', '[2026-09-30, UNBOUNDED)')).toBe('{"r":"[2026-09-30, UNBOUNDED)"}');
    expect(cell('DATETIME', '[UNBOUNDED, 2026-09-30 01:02:03)')).toBe('{"r":"[UNBOUNDED, 2026-09-30T01:02:03)"}');
    expect(cell('TIMESTAMP', '[-62135596800000000, 253402300799999999)')).toBe(
      '{"r":"[-62135596800000000, 253402300799999999)"}',
    );
    expect(cell('TIMESTAMP', '[0, UNBOUNDED)', true)).toBe('{"r":"[1970-01-01T00:00:00.000000Z, UNBOUNDED)"}');
    expect(cell('DATE', null)).toBe('{"r":null}');
  });

  test.each(['', '[2026-09-30)', '(2026-09-30, UNBOUNDED)', 7])('%p is malformed', (value) => {
    expect(() => cell('DATE', value)).toThrow(MalformedRow);
  });
});

describe('records and lists', () => {
  const write = writer([
    { name: 'id', type: 'STRING' },
    {
      name: 'm"',
      type: 'RECORD',
      mode: 'REPEATED',
      fields: [
        { name: 'n', type: 'INTEGER' },
        { name: 'tags', type: 'STRING', mode: 'REPEATED' },
        { name: 'inner', type: 'STRUCT', fields: [{ name: 'at', type: 'TIMESTAMP' }] },
      ],
    },
  ]);

  test('nest', () => {
    const inner = { f: [{ v: '1' }] };
    const record = { f: [{ v: '1' }, { v: [{ v: 'a' }, { v: 'b' }] }, { v: inner }] };
    expect(write({ f: [{ v: 'x' }, { v: [{ v: record }, { v: record }] }] })).toBe(
      '{"id":"x","m\\"":[{"n":1,"tags":["a","b"],"inner":{"at":1}},{"n":1,"tags":["a","b"],"inner":{"at":1}}]}',
    );
  });

  test('a missing list is empty, a missing record is null', () => {
    expect(write({ f: [{ v: null }, { v: null }] })).toBe('{"id":null,"m\\"":[]}');
    expect(write({ f: [{ v: null }, { v: [{ v: { f: [{ v: null }, { v: null }, { v: null }] } }] }] })).toBe(
      '{"id":null,"m\\"":[{"n":null,"tags":[],"inner":null}]}',
    );
  });

  test('keep the order of the fields, whatever they are called', () => {
    const names = ['b', '2', '1', '__proto__', 'constructor', 'toJSON', 'a'];
    const odd = writer([
      ...names.map((name) => ({ name, type: 'INTEGER' })),
      {
        name: 'r',
        type: 'RECORD',
        mode: 'REPEATED',
        fields: [
          { name: '7', type: 'JSON' },
          { name: '0', type: 'INTEGER' },
        ],
      },
    ]);
    const inner = (json: string, digits: string) => ({ v: { f: [{ v: json }, { v: digits }] } });
    const list = [inner('{"x":1}', '9007199254740993'), inner('[]', '-9007199254740993')];
    expect(odd({ f: [...names.map((_, i) => ({ v: String(i) })), { v: list }] })).toBe(
      '{"b":0,"2":1,"1":2,"__proto__":3,"constructor":4,"toJSON":5,"a":6,' +
        '"r":[{"7":{"x":1},"0":9007199254740993},{"7":[],"0":-9007199254740993}]}',
    );
  });

  test('exact digits stand where they belong, in the next row too', () => {
    const exact = writer([
      { name: 'i', type: 'INTEGER', mode: 'REPEATED' },
      { name: 's', type: 'STRING' },
      { name: 'j', type: 'JSON' },
      { name: 't', type: 'TIMESTAMP' },
    ]);
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
      const text = writer(fields)(rest);
      expect(JSON.parse(text)).toEqual(json);
      expect(text).not.toMatch(/[\n\r]/);
    }),
  );
});
