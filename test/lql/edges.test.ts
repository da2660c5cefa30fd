import { type LqlCode, LqlError } from '../../packages/googlesql/src/lql/lql-error';
import { readLql } from '../../packages/googlesql/src/lql/read';
import { rulesToJson } from '../../packages/googlesql/src/lql/sql';
import { DEFAULT_NOW } from './case-file';

const TABLES = ['edge_logs'];
const NINE = ['edge_logs', 'postgres_logs', 'auth_logs'];

function codeOf(text: string, tables: readonly string[] = TABLES): LqlCode | null {
  try {
    readLql(text, { tables, now: DEFAULT_NOW });
    return null;
  } catch (error) {
    if (!(error instanceof LqlError)) throw error;
    return error.code;
  }
}

interface RulesJson {
  readonly filters: readonly Readonly<Record<string, unknown>>[];
  readonly select: readonly object[];
  readonly chart: object | null;
}

function rulesOf(text: string, now = DEFAULT_NOW): RulesJson {
  const reading = readLql(text, { tables: TABLES, now });
  if (reading.kind === 'blank') throw new Error('blank');
  return rulesToJson(reading.rules) as RulesJson;
}

/** The value, or the values, of the only filter. */
function operand(text: string, now?: bigint): unknown {
  const [filter, ...others] = rulesOf(text, now).filters;
  expect(others).toEqual([]);
  return filter?.['values'] ?? filter?.['value'];
}

const clauses = (count: number, clause: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => clause(i)).join(' ');
const NESTED = clauses(21, () => 'a').replaceAll(' ', '.');

describe('error codes at the edges', () => {
  const cases: Readonly<Partial<Record<LqlCode, readonly string[]>>> = {
    bad_char: ['\0', '"a\0b"', '\u00ff\0 "', '\ud800', '"x\udc00"'],
    too_long: ['x'.repeat(65_537), 'é'.repeat(32_769)],
    too_many_clauses: [clauses(101, (i) => `w${i}`), clauses(101, () => 's:id')],
    too_many_selects: [clauses(51, (i) => `s:c${i}`)],
    dangling_negation: ['-', 'x -', '-\terror'],
    negated_clause: ['-select:id', '-c:count(*)', '-chart:nonsense', '-from:'],
    bad_word: [
      '--f:x',
      ':',
      ':x',
      'a :b',
      'foo"bar',
      'foo"bar baz"',
      '"a" b"',
      '/f:x',
      'é:x',
      'a\u00a0:b',
      'm."x":1',
      'a~',
      '~~x',
      '~a:b',
      'a\u000bb',
      '\u007f',
      '\u0085',
    ],
    empty_term: ['~', '-~', '~ x', '-""', '-~""', 'm.x:~""', 'm.x:~()', 'm.x:@>~""'],
    unterminated_string: ['"', '~"x', '-"x', '"end\\"', '"a\\\\\\"', 'm.x:(', 'm.x:>"5', 'f:nosuch "'],
    adjacent: [
      '"a"b',
      '-"a"-"b"',
      '~"a"~"b"',
      '"a":1',
      '"f:x"y',
      'm.x:"a"b',
      'm.x:""""',
      'm.x:(a)b',
      'm.x:(a\\)b)',
      'm.x:(a)(b)',
    ],
    bad_path: [
      'm..x:1',
      'm.:1',
      '.:1',
      '1x:1',
      'a.1b:1',
      '-13:47',
      'm.x.: 5',
      '1:',
      `${NESTED}:1`,
      `s:${NESTED}`,
      'c:sum(a,b)',
      'c:sum(m.)',
      'c:max(1x)',
      'c:count(**)',
      's:@x',
      's:m.*',
      's:"id"',
      's:(id)',
      's:m.',
      's:a:b',
      's:-id',
    ],
    empty_value: ['m.x:', 'm.x: 5', 'm.x:~', 'm.x:@>~ y', 'key: value'],
    bad_value: [
      'http://x',
      'foo:bar:baz',
      'm.x:@y',
      'm.x:<>5',
      'm.x:@>>5',
      'm.x:>=~5',
      'm.x:/a',
      'm.x:a,b',
      'm.x:a*',
      'm.x:-',
      'm.x:--5',
      'm.x:+5',
      'm.x:1.2.3',
      'm.x:1..',
      'm.x:..',
      'm.x:1..2..3',
      'm.x:1..2024-03-17',
      'm.x:2024-03-17T10:00',
      'm.x:2024-3-17',
      'm.x:2024-03-17T10:00:00z',
      'm.x:2024-03-17T10:00:00.1234567',
      'm.x:{2024..2025}-01-01',
      'm.x:e\u0301',
      'm.x:a\u00a0b',
      'm.x:last@1h',
      'm.x:true..false',
      'm.x:info..error',
      'metadata.Level:info..error',
      'm.level:info..INFO',
      'm.level:..error',
      'm.level:info...error',
      'm.x:~a.b',
      'm.x:~[a]',
      'm.x:~a..b',
      'm.x:~^a',
    ],
    number_range: [
      'm.x:9223372036854775808',
      'm.x:-9223372036854775809',
      'm.x:@>99999999999999999999',
      'm.x:1..9223372036854775808',
      `m.x:${'9'.repeat(60_000)}`,
      `m.x:${'9'.repeat(400)}.0`,
    ],
    operator_on_range: [
      'm.x:>=1..3',
      'm.x:<2024-03-01..2024-03-02',
      'm.x:~1..3',
      'm.level:>info..error',
      'm.level:@>info..error',
      't:>2024-03-{16..17}',
      't:<2024-03-01..2024-03-02',
      't:>=last@1h',
      't:<yesterday',
      't:>this@week',
    ],
    operator_on_null: ['m.x:>NULL', 'm.x:<=NULL', 'm.x:@>NULL'],
    operator_on_boolean: ['m.x:<false', 'm.x:>=true'],
    bad_timestamp: [
      '-t:',
      't:>',
      't:>= 2024-03-17',
      't:"2024-03-17"',
      't:(today)',
      't:~2024',
      't:@>~x',
      't:@>today',
      't:=2024-03-17',
      't:>NULL',
      't:true',
      't:2024',
      't:171068322',
      't:-1710683222',
      't:1710683222.5',
      't:0000-01-01',
      't:2024-00-10',
      't:2024-04-31',
      't:1900-02-29',
      't:2024-03-17T24:00:00',
      't:2024-03-17T10:60:00',
      't:2024-03-17T10:00',
      't:2024-03-17T10:00:00.',
      't:2024-03-17t10:00:00',
      't:2024-03-17T10:00:00-00:00',
      't:2024-03-17T10:00:00+24:00',
      't:2024-03-17T10:00:00+01:60',
      't:2024-03-17T10:00:00+1:00',
      't:2024-03-17Z',
      't:0001-01-01T00:00:00+01:00',
      't:9999-12-31T23:59:59-00:01',
      't:2024-03-01..',
      't:2024-03-01...2024-03-02',
      't:2024-03-01..2024-03-02..2024-03-03',
      't:2024-03-01..2024-02-30',
      't:2024-03-01..now',
      't:yesterday..today',
      't:2024-03-{01..02}..2024-03-05',
      't:2024-03-{01..02',
      't:2024-{1..12}-01',
      't:{24..25}-01-01',
      't:{0000..2024}-01-01',
      't:2024-03-17T10:00:00.{0..1234567}',
      't:2024-03-17T10:00:00{Z..Z}',
      't:last@',
      't:last@5',
      't:last@1.5h',
      't:last@5 h',
      't:last@1H',
      't:last@2024y',
      't:this@',
      't:this@min',
      't:this@1day',
      't:this@constructor',
      't:NOW',
      't:now()',
      't:now-1h',
      't:tomorrow',
    ],
    mixed_range: ['t:2024-03-01T00:00:00..2024-03-02T00:00:00Z', 't:2024-03-01..1710590400'],
    bad_chart: [
      'c:count',
      'c:count(',
      'c:count(*',
      'c:COUNT(*)',
      'c:p90(m.latency)',
      'c:avg(*)',
      'c:sum(*)',
      'c:p99(*)',
      'c:count(*)x',
      'c:sum(a(b))',
      'c:group_by(t::week)',
      'c:group_by(m.level)',
      'c:group_by(m.x::hour)',
      'c:group_by(t::)',
      'c:group_by()',
      'c:"count(*)"',
    ],
    duplicate_chart: ['c:count(*) c:count(*)', 'c:group_by(t::h) c:count(*) c:group_by(t::h)'],
    bad_select: ['select:', 's:*@'],
    blank_alias: ['s:id@', 's:id@ x'],
    bad_alias: ['s:id@a@b', 's:id@a.b', 's:id@"a"', 's:id@é'],
    duplicate_column: ['s:a@x s:b@x', 's:id s:id@ID', 's:m.level s:metadata_level'],
    bad_from: ['f:a.b', 'f:1a', 'f:(edge_logs)', `f:${'a'.repeat(256)}`],
    unknown_table: [`f:${'a'.repeat(255)}`, 'f:Edge_logs'],
    duplicate_from: ['f:edge_logs from:edge_logs', 'f:nosuch f:edge_logs'],
  };
  test.each(
    Object.entries(cases).flatMap(([code, texts]) =>
      texts.map((text) => ({ text, code, shown: JSON.stringify(text.slice(0, 60)) })),
    ),
  )('$shown is $code', ({ text, code }) => expect(codeOf(text)).toBe(code));

  test('the table has to be chosen among several, and there must be one', () => {
    expect(codeOf('x', NINE)).toBe('table_required');
    expect(codeOf('c:count(*)', NINE)).toBe('table_required');
    expect(codeOf('f:auth_logs x', NINE)).toBeNull();
    expect(codeOf('x', [])).toBe('no_tables');
    expect(codeOf('f:edge_logs', [])).toBe('unknown_table');
    expect(codeOf(' \t\r\n', NINE)).toBeNull();
    expect(codeOf('', [])).toBeNull();
  });
});

describe('what is no error', () => {
  const accepted: readonly string[] = [
    clauses(100, (i) => `w${i}`),
    clauses(50, (i) => `s:c${i}`),
    clauses(60, () => 's:id'),
    'x'.repeat(65_536),
    's:* s:id s:ID',
    'c:count(*) s:id s:ID',
    's:id s:id@x',
    's:m s:t s:timestamp',
    'c:max(*)',
    'c:countd(*)',
    'c:count(t)',
    `${NESTED.slice(2)}:1`,
    `f:edge_logs`,
    'timestamps:x T:x F:x',
    'ff:x cc:x st:x fromx:x',
    'a.f:x s.t:1',
  ];
  test.each(accepted.map((text) => ({ text, shown: text.slice(0, 60) })))('$shown', ({ text }) =>
    expect(codeOf(text)).toBeNull(),
  );
});

describe('how values are read', () => {
  test.each<[string, unknown]>([
    // Message terms are text, with a bare word's escaped quote kept as written.
    ['\\"x\\"', '\\"x\\"'],
    ['\\\\"', '\\\\"'],
    ['-5', '5'],
    ['---', '--'],
    ['\ufeff', '\ufeff'],
    ['\u2028', '\u2028'],
    ['"a\\nb"', 'a\\nb'],
    ['"a\\\\"', 'a\\'],
    ['"f:x -y"', 'f:x -y'],
    ['~"a\\"b"', 'a"b'],
    ['" "', ' '],
    ["it's", "it's"],
    ['(GET', '(GET'],
    ['🚀', '🚀'],
    // Fields.
    ['m.x:007', 7],
    ['m.x:-0', 0],
    ['m.x:-1.50', -1.5],
    ['m.x:9007199254740992', 9007199254740992],
    ['m.x:9007199254740993', { int64: '9007199254740993' }],
    ['m.x:-9007199254740993', { int64: '-9007199254740993' }],
    ['m.x:1e5', '1e5'],
    ['m.x:0x1F', '0x1F'],
    ['m.x:1_000', '1_000'],
    ['m.x:٣', '٣'],
    ['m.x:½', '½'],
    ['m.x:_', '_'],
    ['m.x:True', 'True'],
    ['m.x:nullable', 'nullable'],
    ['m.x:>NULLABLE', 'NULLABLE'],
    ['m.x:"NULL"', 'NULL'],
    ['m.x:(NULL)', 'NULL'],
    ['m.x:"true"', 'true'],
    ['m.x:@>true', true],
    ['m.x:@>~true', 'true'],
    ['m.x:~NULL', 'NULL'],
    ['m.x:~1.5', '1.5'],
    ['m.x:~2024-03-17', '2024-03-17'],
    ['m.x:~a-b', 'a-b'],
    ['m.x:~-', '-'],
    ['m.x:()', ''],
    ['m.x:""', ''],
    ['m.x:(a "b")', 'a "b"'],
    ['m.x:(a\\"b\\\\)', 'a"b\\'],
    ['m.x:today', 'today'],
    ['m.x:2024-99-99', '2024-99-99'],
    ['m.x:>=2024-03-17T10:00:00+25:00', '2024-03-17T10:00:00+25:00'],
    ['m.x:-5..-1', [-5, -1]],
    ['m.x:3..1', [3, 1]],
    ['m.x:1.5..2', [1.5, 2]],
    ['m.level:error..info', ['info', 'notice', 'warning', 'error']],
    ['m.level:debug..emergency', ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']],
    ['m.level:"info..error"', 'info..error'],
    // Timestamps.
    ['t:now', '2024-03-17T13:47:02Z'],
    ['-t:>now', '2024-03-17T13:47:02Z'],
    ['t:1710683222', '2024-03-17T13:47:02Z'],
    ['t:1710683222123', '2024-03-17T13:47:02.123000Z'],
    ['t:1710683222123999', '2024-03-17T13:47:02.123000Z'],
    ['t:0000000000', '1970-01-01T00:00:00Z'],
    ['t:2024-03-17T13:47:02.000001Z', '2024-03-17T13:47:02.000001Z'],
    ['t:2024-03-17T00:00:00+23:59', '2024-03-16T00:01:00Z'],
    ['t:2024-03-17T00:00:00+00:00', '2024-03-17T00:00:00Z'],
    ['t:0001-01-01', '0001-01-01T00:00:00Z'],
    ['t:9999-12-31T23:59:59.999999', '9999-12-31T23:59:59.999999Z'],
    ['t:1969-12-31T23:59:59.9', '1969-12-31T23:59:59.900000Z'],
    ['t:2024-03-17..2024-03-17', ['2024-03-17T00:00:00Z', '2024-03-17T00:00:00Z']],
    ['t:1710590400..1710683222123', ['2024-03-16T12:00:00Z', '2024-03-17T13:47:02.123000Z']],
    ['t:2024-{01..03}-{10..20}', ['2024-01-10T00:00:00Z', '2024-03-20T00:00:00Z']],
    ['t:{2023..2024}-02-28', ['2023-02-28T00:00:00Z', '2024-02-28T00:00:00Z']],
    ['t:2024-03-17T{00..01}:00:00+02:00', ['2024-03-16T22:00:00Z', '2024-03-16T23:00:00Z']],
    ['t:2024-03-17T10:00:00.{5..50}', '2024-03-17T10:00:00.500000Z'],
    ['t:today', ['2024-03-17T00:00:00Z', '2024-03-17T23:59:59.999999Z']],
    ['t:this@second', ['2024-03-17T13:47:02Z', '2024-03-17T13:47:02Z']],
    ['t:this@hours', ['2024-03-17T13:00:00Z', '2024-03-17T13:47:02Z']],
    ['t:this@y', ['2024-01-01T00:00:00Z', '2024-03-17T13:47:02Z']],
    ['t:last@0012m', ['2024-03-17T13:35:00Z', '2024-03-17T13:47:02Z']],
    ['t:last@1h', ['2024-03-17T12:00:00Z', '2024-03-17T13:47:02Z']],
    ['t:last@13mm', ['2023-02-17T00:00:00Z', '2024-03-17T13:47:02Z']],
    ['t:last@2023y', ['0001-03-17T00:00:00Z', '2024-03-17T13:47:02Z']],
    ['t:last@9999w', ['1832-07-29T00:00:00Z', '2024-03-17T13:47:02Z']],
  ])('%s', (text, expected) => expect(operand(text)).toEqual(expected));

  test('shorthands are stored under one spelling', () => {
    const stored = (text: string) => rulesOf(text).filters[0]?.['shorthand'];
    expect(stored('t:>=now')).toBe('now');
    expect(stored('t:last@mm')).toBe('last@1month');
    expect(stored('t:last@0002weeks')).toBe('last@2week');
    expect(stored('t:this@m')).toBe('this@minute');
    expect(stored('t:2024-03-17')).toBeUndefined();
  });

  test('month ends and weeks before and across the epoch', () => {
    const at = (iso: string) => BigInt(Date.parse(iso)) * 1000n;
    expect(operand('t:last@1mm', at('2023-03-31T08:00:00Z'))).toEqual(['2023-02-28T00:00:00Z', '2023-03-31T08:00:00Z']);
    expect(operand('t:last@3mm', at('2024-01-31T08:00:00Z'))).toEqual(['2023-10-31T00:00:00Z', '2024-01-31T08:00:00Z']);
    expect(operand('t:last@4y', at('2024-02-29T08:00:00Z'))).toEqual(['2020-02-29T00:00:00Z', '2024-02-29T08:00:00Z']);
    expect(operand('t:this@week', at('1970-01-01T08:00:00Z'))).toEqual([
      '1969-12-29T00:00:00Z',
      '1970-01-01T08:00:00Z',
    ]);
    expect(operand('t:this@week', at('2024-03-18T00:00:00Z'))).toEqual([
      '2024-03-18T00:00:00Z',
      '2024-03-18T00:00:00Z',
    ]);
    expect(operand('t:now', -1n)).toBe('1969-12-31T23:59:59Z');
  });

  test('a chart alone is per minute, a bucket alone counts rows', () => {
    expect(rulesOf('c:avg(m.latency)').chart).toEqual({ aggregate: 'avg', path: 'metadata.latency', period: 'minute' });
    expect(rulesOf('chart:group_by(timestamp::second)').chart).toEqual({
      aggregate: 'count',
      path: 'timestamp',
      period: 'second',
    });
    expect(rulesOf('c:count(t)').chart).toEqual({ aggregate: 'count', path: 't', period: 'minute' });
    expect(rulesOf('c:max(*) c:group_by(t::m)').chart).toEqual({
      aggregate: 'max',
      path: 'timestamp',
      period: 'minute',
    });
  });

  test('one spelling of a path makes repeats of a selection equal', () => {
    expect(rulesOf('s:m.level s:metadata.level s:m.m.x s:m').select).toEqual([
      { path: 'metadata.level', alias: null, wildcard: false },
      { path: 'metadata.m.x', alias: null, wildcard: false },
      { path: 'm', alias: null, wildcard: false },
    ]);
  });
});
