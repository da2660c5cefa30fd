import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { readDefinition } from '../../src/endpoints/definition';

import { storedQuery, uuid } from './folder';

const read = (text: string | Buffer) => readDefinition(Buffer.from(text));
const faultsOf = (text: string) => read(text).faults.map(({ line, reason }) => `${String(line)}: ${reason}`);

describe('a sound file', () => {
  it('gives every setting', () => {
    const text = `
/* id: ${uuid(1).toUpperCase()}
name: a.b
description: >-
  What it
  answers.
max_rows: 10000
export: 500000
mcp: true
tail: 10
cache_ttl: 900
cache_warming: 300
sandbox: true
redact_pii: true
max_bytes_billed: 9007199254740993
timeout: 7
log:
  time: { column: at, unit: ms }
  message: payload.\`the text\`
  severity: "@l"
params:
  project: { type: string, required: true, description: Who. }
  level: { type: enum, values: [1hr, 007, on], default: 007 }
  n: { type: integer, default: 5, min: -3, max: 10 }
  x: { type: number, default: 1.50 }
*/
with One as (select @project as p, @level as l), two as (select @n, @x from One, raw_x)
select * from two;
`;
    const { endpoint, faults } = read(text);
    expect(faults).toEqual([]);
    const { query, ...rest } = endpoint ?? { query: null };
    expect(query?.kind).toBe('query');
    const none = {
      list: false,
      description: '',
      default: null,
      defaultLookback: null,
      values: null,
      minimum: null,
      maximum: null,
    };
    expect(rest).toEqual({
      id: uuid(1),
      name: 'a.b',
      file: '',
      description: 'What it answers.',
      maxRows: 10000,
      ordered: false,
      exportRows: 500_000,
      mcp: true,
      toolName: 'endpoint_a_b',
      cacheTtl: 900,
      cacheWarming: 300,
      sandbox: true,
      redactPii: true,
      strictParams: false,
      maxBytesBilled: 9007199254740993n,
      timeout: 7000,
      log: {
        time: { path: ['at'], unit: 'ms' },
        message: ['payload', 'the text'],
        severity: ['@l'],
        trace: undefined,
      },
      parameters: [
        { ...none, name: 'project', type: 'string', required: true, description: 'Who.' },
        { ...none, name: 'level', type: 'enum', required: false, values: ['1hr', '007', 'on'], default: '007' },
        { ...none, name: 'n', type: 'integer', required: false, default: '5', minimum: -3, maximum: 10 },
        { ...none, name: 'x', type: 'number', required: false, default: '1.50' },
      ],
      sql: text,
      cteTables: ['One', 'two'],
      revision: createHash('sha256').update(text).digest('hex'),
    });
  });

  it('has defaults for what it leaves out, and offsets of its tree are offsets into it', () => {
    const text = '\ufeff' + storedQuery(1, 'x', 'cache_ttl:\nparams:');
    const { endpoint } = read(text);
    expect(endpoint).toMatchObject({
      description: '',
      maxRows: 1000,
      cacheTtl: 0,
      cacheWarming: 0,
      sandbox: false,
      redactPii: false,
      maxBytesBilled: null,
      timeout: null,
      parameters: [],
      cteTables: [],
    });
    expect(endpoint?.sql.slice(endpoint.query.span.start, endpoint.query.span.end)).toBe('SELECT 1 AS one');
  });

  it.each(['logs.all', 'usage.api-counts'])('is %s', (name) => {
    const { endpoint, faults } = readDefinition(readFileSync(`queries/${name}.sql`));
    expect(faults).toEqual([]);
    expect(endpoint).toMatchObject({ name, maxRows: 1000, sandbox: true, redactPii: false });
    expect(endpoint?.cteTables).toEqual(
      name === 'logs.all'
        ? 'edge_logs postgres_logs function_edge_logs function_logs auth_logs realtime_logs storage_logs postgrest_logs pgbouncer_logs'.split(
            ' ',
          )
        : ['dates', 'chart_counts'],
    );
    expect([endpoint?.cacheTtl, endpoint?.cacheWarming]).toEqual(name === 'logs.all' ? [0, 0] : [900, 300]);
  });

  it.each([
    [
      'an @ in a string or comment',
      "SELECT '@nobody', \"@nobody\", r'@nobody', `@x`.y -- @nobody\nFROM t AS `@x` # @nobody",
    ],
    ['a CTE that another CTE reads', 'WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a) SELECT * FROM b, a'],
    ['a CTE hidden by one inside', 'WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b), b AS (SELECT 2) SELECT * FROM b'],
    ['an array of an alias named like a CTE', 'WITH m AS (SELECT t.x FROM raw AS t, t.m) SELECT * FROM m'],
    ['a system variable', 'SELECT @@time_zone'],
    ['a table of another data set named like a CTE elsewhere', 'WITH a AS (SELECT 1 AS x) SELECT * FROM other.a'],
  ])('may hold %s', (_what, sql) => {
    expect(faultsOf(storedQuery(1, 'x', '', sql))).toEqual([]);
  });
});

/** What is wrong, the file's text, its faults. */
type FaultCase = readonly [string, string, readonly unknown[]];

describe('a fault has its line', () => {
  const head = `/*\nid: ${uuid(1)}\nname: x\n`;
  const cases: readonly FaultCase[] = [
    ['no head', 'SELECT 1', ['1: the file must begin with a block comment that holds the settings as YAML']],
    [
      'an open comment',
      '/* id: 1',
      [expect.stringMatching(/^1: the file must begin/), expect.stringMatching(/^1: the SQL does not parse: /)],
    ],
    ['bad YAML', `${head}max_rows: [1\n*/\nSELECT 1`, [expect.stringMatching(/^[45]: bad YAML: /)]],
    [
      'a tab as indentation',
      `${head}params:\n\tproject: {type: string}\n*/\nSELECT @project`,
      [expect.stringMatching(/^5: bad YAML: /)],
    ],
    ['a setting given twice', `${head}name: y\n*/\nSELECT 1`, [expect.stringMatching(/^4: bad YAML: .*unique/)]],
    [
      'a parameter declared twice',
      `${head}params:\n  a: {type: string}\n  a: {type: string}\n*/\nSELECT @a`,
      [expect.stringMatching(/^6: bad YAML: .*unique/)],
    ],
    ['a list', '/*\n- 1\n*/\nSELECT 1', ['2: the settings must be a map']],
    ['nothing', '/**/\nSELECT 1', ['1: the settings must be a map']],
    [
      'an unknown setting',
      `${head}max_row: 1\nparms: {}\n*/\nSELECT 1`,
      ['4: unknown setting "max_row"', '5: unknown setting "parms"'],
    ],
    [
      'an unknown setting of a parameter',
      `${head}params:\n  a:\n    type: string\n    defualt: x\n*/\nSELECT @a`,
      ['7: unknown setting "defualt" (parameter "a")'],
    ],
    ['no id and no name', '/*\nmax_rows: 5\n*/\nSELECT 1', ['2: id is required', '2: name is required']],
    ['an id that is no UUID', '/*\nid: 12\nname: x\n*/\nSELECT 1', ['2: id must be a text']],
    [
      'an id of other form',
      '/*\nname: x\nid: 0b0f6c1e5a0e4c579a412f1d0c7e8a11\n*/\nSELECT 1',
      ['3: id must be a UUID'],
    ],
    [
      'a name that is a UUID',
      `/*\nid: ${uuid(1)}\nname: ${uuid(2)}\n*/\nSELECT 1`,
      [expect.stringMatching(/^3: name must not be a UUID/)],
    ],
    [
      'a name with other characters',
      `/*\nid: ${uuid(1)}\nname: .a b\n*/\nSELECT 1`,
      [expect.stringMatching(/^3: name must be of letters/)],
    ],
    ['max_rows of 0', `${head}max_rows: 0\n*/\nSELECT 1`, ['4: max_rows must be a whole number from 1 to 10000']],
    [
      'max_rows of 10001',
      `${head}max_rows: 10001\n*/\nSELECT 1`,
      ['4: max_rows must be a whole number from 1 to 10000'],
    ],
    ['max_rows of 1.5', `${head}max_rows: 1.5\n*/\nSELECT 1`, ['4: max_rows must be a whole number from 1 to 10000']],
    [
      'max_rows in words',
      `${head}max_rows: many\n*/\nSELECT 1`,
      ['4: max_rows must be a whole number from 1 to 10000'],
    ],
    [
      'a negative ttl',
      `${head}cache_ttl: -1\n*/\nSELECT 1`,
      [expect.stringMatching(/^4: cache_ttl \(seconds\) must be a whole number/)],
    ],
    ['sandbox in words', `${head}sandbox: on\n*/\nSELECT 1`, ['4: sandbox must be true or false']],
    ['warming without a cache', `${head}cache_warming: 5\n*/\nSELECT 1`, ['4: cache_warming needs a cache_ttl']],
    [
      'warming as long as the ttl',
      `${head}cache_ttl: 300\ncache_warming: 300\n*/\nSELECT 1`,
      ['5: cache_warming must be shorter than cache_ttl'],
    ],
    ['sandbox without a CTE', `${head}sandbox: true\n*/\nSELECT 1`, ['4: sandbox needs at least one CTE to read']],
    [
      'sandbox with a name out of reach',
      `${head}sandbox: true\n*/\nWITH \`a-b\` AS (SELECT 1)\nSELECT 1`,
      [expect.stringMatching(/^6: sandbox: a CTE is named/)],
    ],
    [
      'SQL that does not parse',
      `${head}*/\nSELECT 1,\nFROM WHERE x`,
      [expect.stringMatching(/^6: the SQL does not parse: .+$/)],
    ],
    ['no SQL', `${head}*/\n`, [expect.stringMatching(/^\d: the SQL does not parse: /)]],
    ['two statements', `${head}*/\nSELECT 1;\nSELECT 2`, [expect.stringMatching(/^6: the SQL does not parse: /)]],
    [
      'another statement',
      `${head}*/\nDELETE FROM t WHERE TRUE`,
      [expect.stringMatching(/^5: the SQL does not parse: /)],
    ],
    [
      'a CTE defined twice',
      `${head}*/\nWITH a AS (SELECT 1),\nA AS (SELECT 2)\nSELECT 1`,
      ['6: the CTE A is defined twice'],
    ],
    [
      'a CTE named like the table it reads',
      `${head}*/\nWITH t AS (\nSELECT * FROM T) SELECT * FROM t`,
      [expect.stringMatching(/^6: the CTE T is named like a table/)],
    ],
    [
      'a CTE named like the table of a data set it reads',
      `${head}*/\nWITH t AS (SELECT * FROM \`p.d.t\`) SELECT 1`,
      [expect.stringMatching(/^5: the CTE t is named like a table/)],
    ],
    [
      'a CTE named like a table read before it',
      `${head}*/\nWITH a AS (SELECT * FROM b),\nb AS (SELECT 1) SELECT 1`,
      [expect.stringMatching(/^5: the CTE b is named like a table/)],
    ],
    [
      'an undeclared @name',
      `${head}*/\nSELECT @a,\n@b, @a`,
      ['5: @a has no declaration under params', '6: @b has no declaration under params'],
    ],
    [
      'an undeclared @name in a CTE',
      `${head}*/\nWITH c AS (SELECT 1\nFROM t WHERE x = @a) SELECT 1`,
      ['6: @a has no declaration under params'],
    ],
    [
      'an @name in other case',
      `${head}params:\n  project: {type: string}\n*/\nSELECT @Project`,
      [
        '5: parameter "project": the SQL has no @project',
        '7: @Project has no declaration under params (declared is project: write it alike)',
      ],
    ],
    ['a positional parameter', `${head}*/\nSELECT ?`, ['5: ? cannot be bound: name the parameter with @']],
    [
      'a declaration without @name',
      `${head}params:\n  a: {type: string}\n*/\nSELECT '@a' -- @a`,
      ['5: parameter "a": the SQL has no @a'],
    ],
    ...['sql', 'lql', 'dry_run', 'SQL'].map(
      (name) =>
        [
          `a parameter named ${name}`,
          `${head}params:\n  ${name}: {type: string}\n*/\nSELECT @${name}`,
          [expect.stringMatching(/^5: .* is reserved on every endpoint$/)],
        ] as const,
    ),
    [
      'a parameter name that cannot be',
      `${head}params:\n  a-b: {type: string}\n*/\nSELECT 1`,
      [expect.stringMatching(/^5: parameter "a-b": a name is of letters/), expect.stringMatching(/^5: .*has no @a-b$/)],
    ],
    [
      'two names that differ in case',
      `${head}params:\n  a: {type: string}\n  A: {type: string}\n*/\nSELECT @a, @A`,
      [expect.stringMatching(/^6: parameter "A": differs from "a" only in case/)],
    ],
    ['no type', `${head}params:\n  a: {required: true}\n*/\nSELECT @a`, ['5: type is required (parameter "a")']],
    [
      'no declaration at all',
      `${head}params:\n  a:\n*/\nSELECT @a`,
      [expect.stringMatching(/^5: a parameter is declared as a map/)],
    ],
    [
      'an unknown type',
      `${head}params:\n  a: {type: text}\n*/\nSELECT @a`,
      [expect.stringMatching(/^5: type must be one of string, integer/)],
    ],
    ...['integer', 'number', 'boolean'].map(
      (type) =>
        [
          `an optional ${type} without a default`,
          `${head}params:\n  a: {type: ${type}}\n*/\nSELECT @a`,
          [`5: parameter "a": an optional ${type} has no empty form: make it required or give it a default`],
        ] as const,
    ),
    [
      'an empty default',
      `${head}params:\n  a: {type: integer, default: ''}\n*/\nSELECT @a`,
      [expect.stringMatching(/no empty form/)],
    ],
    [
      'a default that is required',
      `${head}params:\n  a: {type: string, required: true, default: x}\n*/\nSELECT @a`,
      [expect.stringMatching(/^5: .*never takes its default/)],
    ],
    [
      'a default outside of its enum',
      `${head}params:\n  a: {type: enum, values: [x, y],\n      default: z}\n*/\nSELECT @a`,
      ['6: parameter "a": the default must be one of x, y'],
    ],
    [
      'a default of another type',
      `${head}params:\n  a: {type: integer, default: 1.5}\n*/\nSELECT @a`,
      [expect.stringMatching(/^5: parameter "a": the default must be a whole number/)],
    ],
    [
      'a default out of bounds',
      `${head}params:\n  a: {type: integer, default: 11, max: 10}\n*/\nSELECT @a`,
      [expect.stringMatching(/the default must be a whole number from -9223372036854775808 to 10$/)],
    ],
    [
      'a default date that does not exist',
      `${head}params:\n  a: {type: date, default: 2026-02-29}\n*/\nSELECT @a`,
      [expect.stringMatching(/the default must be a date that exists/)],
    ],
    [
      'a default that is no pattern',
      `${head}params:\n  a: {type: regex, default: '(?=x)'}\n*/\nSELECT @a`,
      [expect.stringMatching(/the default must be an RE2 regular expression/)],
    ],
    [
      'an enum without values',
      `${head}params:\n  a: {type: enum}\n*/\nSELECT @a`,
      ['5: parameter "a": an enum needs values'],
    ],
    [
      'an enum of nothing',
      `${head}params:\n  a: {type: enum, values: []}\n*/\nSELECT @a`,
      ['5: parameter "a": an enum needs values'],
    ],
    [
      'an enum with a value twice',
      `${head}params:\n  a: {type: enum, values: [x, x]}\n*/\nSELECT @a`,
      ['5: parameter "a": a value is listed twice'],
    ],
    [
      'an enum with an empty value',
      `${head}params:\n  a: {type: enum, values: [x, '']}\n*/\nSELECT @a`,
      [expect.stringMatching(/cannot have an empty value/)],
    ],
    [
      'values of no enum',
      `${head}params:\n  a: {type: string, values: [x]}\n*/\nSELECT @a`,
      ['5: parameter "a": only an enum has values'],
    ],
    [
      'bounds of a text',
      `${head}params:\n  a: {type: string, max: 3}\n*/\nSELECT @a`,
      ['5: parameter "a": a string has no bounds'],
    ],
    [
      'bounds that leave nothing',
      `${head}params:\n  a: {type: number, required: true, min: 3, max: 2}\n*/\nSELECT @a`,
      ['5: parameter "a": min is greater than max'],
    ],
    [
      'roles that are no paths',
      `${head}log:\n  time: { column: a, unit: m }\n  mesage: a\n  severity: a..b\n  trace: 5\n*/\nSELECT 1`,
      [
        '5: time must be a column, or for a column of numbers { column: NAME, unit: UNIT } (log)',
        '6: unknown setting "mesage" (log)',
        '7: severity must be a column, or the path to a field: names with dots between (log)',
        '8: trace must be a column, or the path to a field: names with dots between (log)',
      ],
    ],
    [
      'bounds that no double holds',
      `${head}params:\n  a: {type: integer, required: true, max: 9007199254740993}\n*/\nSELECT @a`,
      [expect.stringMatching(/^5: .*within 2\^53$/)],
    ],
  ];
  it.each(cases)('%s', (_what, text, expected) => {
    expect(faultsOf(text)).toEqual(expected);
  });

  it('all of them at once, in the order of their lines', () => {
    const text = `/*\nid: nope\nname: x\nfoo: 1\nmax_rows: 0\n*/\nWITH t AS (SELECT * FROM t)\nSELECT @a FROM`;
    expect(faultsOf(text)).toEqual([
      '2: id must be a UUID',
      '4: unknown setting "foo"',
      '5: max_rows must be a whole number from 1 to 10000',
      expect.stringMatching(/^8: the SQL does not parse/),
    ]);
  });

  it('bytes that are no UTF-8', () => {
    expect(readDefinition(Buffer.concat([Buffer.from(storedQuery(1, 'x')), Buffer.from([0xff])])).faults).toEqual([
      { line: 1, column: 1, reason: 'the file is not UTF-8' },
    ]);
  });
});

test('the tree of a stored query is parsed when it is used, and held only while it is among those last used', () => {
  const padding = ' '.repeat(60_000);
  const texts = Array.from({ length: 10 }, (_, n) =>
    storedQuery(n + 1, `n${String(n)}`, '', `SELECT 1 AS one,${padding}2 AS two`),
  );
  const [first, ...others] = texts.map((text) => read(text).endpoint);
  const tree = first?.query;
  expect(tree?.kind).toBe('query');
  expect(first?.query).toBe(tree);
  for (const other of others) expect(other?.query.kind).toBe('query');
  expect(first?.query).not.toBe(tree);
  expect(first?.query).toEqual(tree);
});
