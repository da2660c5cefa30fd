import type { Endpoint, ParameterDeclaration } from '../../src/endpoints/endpoint';
import { readParameters } from '../../src/endpoints/parameters';
import { type RawEntry, readJsonBody, readUrlEncoded } from '../../src/endpoints/raw-entries';
import { readConsumerRequest } from '../../src/endpoints/reserved-parameters';
import { ServiceError } from '../../src/errors';
import { readDefinition } from '../../src/endpoints/definition';

import { storedQuery } from './folder';

const NO_PINS = new Map<string, string>();

function endpointOf(declaration: string, sandbox = true): Endpoint {
  const text = storedQuery(
    1,
    'x',
    `sandbox: ${String(sandbox)}\nparams:\n  p: ${declaration}`,
    'WITH c AS (SELECT @p AS p) SELECT * FROM c',
  );
  const { endpoint, faults } = readDefinition(Buffer.from(text));
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

function failure(action: () => unknown): ServiceError {
  try {
    action();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const read = (declaration: string, raw: readonly RawEntry[], pins = NO_PINS) =>
  readParameters(endpointOf(declaration), raw, pins, 0n)[0];
const url = (query: string) => readUrlEncoded(query);
const sent = (text: string): RawEntry[] => [{ name: 'p', value: { kind: 'text', text } }];
const valueOf = (declaration: string, text: string) => read(declaration, sent(text))?.value;
const refusal = (declaration: string, text: string) => failure(() => read(declaration, sent(text)));

const TIMESTAMP = '{type: timestamp}';
const REQUIRED = (type: ParameterDeclaration['type']) => `{type: ${type}, required: true}`;

describe('timestamps', () => {
  it.each([
    ['2026-09-30', '2026-09-30T00:00:00.000000Z'],
    ['2026-09-30T11:00', '2026-09-30T11:00:00.000000Z'],
    ['2026-09-30T11:00:05', '2026-09-30T11:00:05.000000Z'],
    ['2026-09-30 11:00:05', '2026-09-30T11:00:05.000000Z'],
    ['2026-09-30t11:00:05z', '2026-09-30T11:00:05.000000Z'],
    ['2026-09-30T11:00:00.000Z', '2026-09-30T11:00:00.000000Z'],
    ['2026-09-30T11:00:00.1Z', '2026-09-30T11:00:00.100000Z'],
    ['2026-09-30T11:00:00,123456Z', '2026-09-30T11:00:00.123456Z'],
    ['2026-09-30T11:00:00+02:00', '2026-09-30T09:00:00.000000Z'],
    ['2026-09-30T11:00:00 02:00', '2026-09-30T09:00:00.000000Z'],
    ['2026-09-30T11:00:00.5-0330', '2026-09-30T14:30:00.500000Z'],
    ['2026-09-30T11:00:00 05', '2026-09-30T06:00:00.000000Z'],
    ['2026-09-30T11:00:00-00:00', '2026-09-30T11:00:00.000000Z'],
    ['2026-10-01T01:00:00+02:00', '2026-09-30T23:00:00.000000Z'],
    ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999999Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['0099-06-01', '0099-06-01T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.000001Z', '1969-12-31T23:59:59.000001Z'],
  ])('%s is %s', (text, expected) => {
    expect(read(TIMESTAMP, sent(text))).toEqual({ name: 'p', type: 'STRING', value: expected });
  });

  it.each([
    'yesterday',
    '1790766000',
    '2026',
    '2026-09',
    '2026-9-30',
    '20260930',
    '2026-02-29',
    '1900-02-29',
    '2100-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-01-32',
    '0000-01-01',
    '2026-09-30T24:00:00Z',
    '2026-09-30T23:60:00Z',
    '2026-09-30T23:59:60Z',
    '2026-09-30T11',
    '2026-09-30T11:00:00.Z',
    '2026-09-30T11:00:00.1234567Z',
    '2026-09-30T11:00:00.000000000Z',
    '2026-09-30Z',
    '2026-09-30T',
    '2026-09-30T11:00:00+24:00',
    '2026-09-30T11:00:00+02:60',
    '2026-09-30T11:00:00+2',
    '2026-09-30T11:00:00 UTC',
    ' 2026-09-30',
    '2026-09-30 ',
    '2026-09-30T11:00:00Z\n',
    '+2026-09-30',
    '12026-09-30',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '２０２６-09-30',
    "2026-09-30' OR '1'='1",
  ])('%s is invalid', (text) => {
    const error = refusal(TIMESTAMP, text);
    expect(error.reason).toBe('invalidParameter');
    expect(error.details).toEqual({ parameter: 'p', allowed: expect.arrayContaining(['YYYY-MM-DD']) as unknown });
    expect(error.message).toContain('Parameter "p" must be an ISO 8601 timestamp');
  });
});

describe('integers', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['007', '7'],
    ['-5', '-5'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('%s is %s', (text, expected) => {
    expect(read(REQUIRED('integer'), sent(text))).toEqual({ name: 'p', type: 'INT64', value: expected });
  });

  it.each([
    '1.0',
    '1e3',
    '0x10',
    '1_000',
    '+1',
    ' 1',
    '1 ',
    '--1',
    '-',
    '١',
    '9223372036854775808',
    '-9223372036854775809',
    'NaN',
    '1n',
  ])('%s is invalid', (text) => {
    expect(refusal(REQUIRED('integer'), text).details).toEqual({
      parameter: 'p',
      allowed: ['-9223372036854775808..9223372036854775807'],
    });
  });
});

describe('numbers', () => {
  it.each([
    ['1', '1'],
    ['1.50', '1.5'],
    ['-0', '0'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['1e3', '1000'],
    ['+1E-7', '1e-7'],
    ['1e300', '1e+300'],
    ['0.1', '0.1'],
  ])('%s is %s', (text, expected) => {
    expect(read(REQUIRED('number'), sent(text))).toEqual({ name: 'p', type: 'FLOAT64', value: expected });
  });

  it.each(['NaN', 'Infinity', '-inf', '1e999', '1,5', '0x1', '1e', '.', ' 1', '1f', '--1'])('%s is invalid', (text) => {
    expect(refusal(REQUIRED('number'), text).details.parameter).toBe('p');
  });
});

it.each([
  ['integer', '-2', '3', ['-3', '4']],
  ['number', '0.5', '2', ['0.49', '2.0001']],
] as const)('an %s keeps within its bounds', (type, min, max, beyond) => {
  const bounded = `{type: ${type}, required: true, min: ${min}, max: ${max}}`;
  expect([valueOf(bounded, min), valueOf(bounded, max)]).toEqual([min, max]);
  for (const text of beyond) expect(refusal(bounded, text).details.allowed).toEqual([`${min}..${max}`]);
});

describe('booleans, dates, enums, strings', () => {
  it('read exactly their values', () => {
    expect(read(REQUIRED('boolean'), sent('true'))).toEqual({ name: 'p', type: 'BOOL', value: 'true' });
    expect(valueOf(REQUIRED('boolean'), 'false')).toBe('false');
    for (const text of ['True', 'TRUE', '1', 'yes', 'on', 't'])
      expect(refusal(REQUIRED('boolean'), text).details.allowed).toEqual(['true', 'false']);
    expect(read('{type: date}', sent('2024-02-29'))).toEqual({ name: 'p', type: 'STRING', value: '2024-02-29' });
    for (const text of ['2023-02-29', '2024-2-9', '2024-02-29T00:00:00Z', '0000-01-01'])
      expect(refusal('{type: date}', text).details.allowed).toEqual(['YYYY-MM-DD']);
    const level = '{type: enum, values: [error, fatal]}';
    expect(read(level, sent('fatal'))).toEqual({ name: 'p', type: 'STRING', value: 'fatal' });
    for (const text of ['fatal '.repeat(9), `fatal,${'x'.repeat(4000)}`, "error' OR 'a long text' IS NOT NULL --"])
      expect(refusal(level, text).details.allowed).toEqual(['error', 'fatal']);
    const error = refusal(level, 'Fatal');
    expect(error.details).toEqual({ parameter: 'p', allowed: ['error', 'fatal'] });
    expect(error.message).toBe('Parameter "p" must be one of error, fatal, not "Fatal".');
    for (const text of [' x ', "'; DROP TABLE t; --", '😀', '\t\r\n', '{{projectId}}'])
      expect(valueOf('{type: string}', text)).toBe(text);
  });

  it('are at most 4 KiB long, counted in bytes', () => {
    expect(valueOf('{type: string}', 'ä'.repeat(2048))).toHaveLength(2048);
    for (const text of ['a'.repeat(4097), 'ä'.repeat(2048) + 'a']) {
      const error = refusal('{type: string}', text);
      expect([error.reason, error.details.parameter]).toEqual(['invalidParameter', 'p']);
      expect(error.message.length).toBeLessThan(300);
    }
  });

  it('are Unicode text that every engine can hold', () => {
    for (const text of ['a\ud800', '\udc00b', 'a\0b'])
      expect(refusal('{type: string}', text).reason).toBe('invalidParameter');
  });
});

describe('regular expressions', () => {
  it.each([
    'default',
    '^https?://.*\\.example\\.com$',
    '(?i)abc',
    '(?P<n>a)',
    '\\p{Greek}\\pN',
    '[[:alpha:]]',
    'a{1000}',
    '\\Qa(?<b\\E',
    '[(?<a>]',
    '[]a(?<b>]',
    '[[:digit:](?<n>]',
    '\\(?<b>',
    '()',
    '|',
  ])('%s is taken as it is', (text) => {
    expect(read(REQUIRED('regex'), sent(text))).toEqual({ name: 'p', type: 'STRING', value: text });
  });

  it.each([
    '(',
    '[a',
    '*',
    'a**',
    '(?=a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?>a)',
    'a++',
    '\\',
    'a{1001}',
    '(?<n>a)',
    '[a](?<n>b)',
    '\\p{Emoji}',
    '\\P{^LC}',
    '\\p{Nonsense}',
    '\\Z',
    '\\u0041',
    'a{1000}'.repeat(100),
  ])('%s is refused before it runs', (text) => {
    const error = refusal(REQUIRED('regex'), text);
    expect(error.reason).toBe('invalidParameter');
    expect(error.message).toContain('Parameter "p" must be an RE2 regular expression (');
  });
});

describe('absent values', () => {
  const nothing: readonly (readonly [string, readonly RawEntry[]])[] = [
    ['nothing', []],
    ['an empty text', url('p=')],
    ['a bare name', url('p')],
    ['null', readJsonBody('{"p":null}')],
    ['an empty JSON string', readJsonBody('{"p":""}')],
  ];
  it.each(nothing)('%s takes the default, or is empty, or is refused', (_what, raw) => {
    expect(read('{type: timestamp}', raw)).toEqual({ name: 'p', type: 'STRING', value: '' });
    expect(read('{type: string}', raw)?.value).toBe('');
    expect(read('{type: integer, default: 007}', raw)).toEqual({ name: 'p', type: 'INT64', value: '7' });
    expect(read('{type: boolean, default: true}', raw)).toEqual({ name: 'p', type: 'BOOL', value: 'true' });
    expect(read('{type: timestamp, default: 2026-01-01}', raw)?.value).toBe('2026-01-01T00:00:00.000000Z');
    const error = failure(() => read('{type: enum, values: [a, b], required: true, description: Which one.}', raw));
    expect(error.reason).toBe('invalidParameter');
    expect(error.message).toBe('Parameter "p" is required. It is of type enum: Which one.');
    expect(error.details).toEqual({ parameter: 'p', allowed: ['a', 'b'] });
  });

  it('undeclared ones are ignored, whatever they are', () => {
    const raw = [
      ...url('ref=x&ref=y&key=last-hour-stats&P=1'),
      ...readJsonBody('{"q":{"a":[1]},"__proto__":[]}'),
      ...sent('v'),
    ];
    expect(readParameters(endpointOf('{type: string}'), raw, NO_PINS, 0n)).toEqual([
      { name: 'p', type: 'STRING', value: 'v' },
    ]);
  });

  it('given twice they are refused, empty ones too', () => {
    for (const raw of [
      url('p=1&p=1'),
      url('p=&p='),
      url('p=1&%70=1'),
      [...url('p=1'), ...readJsonBody('{"p":null}')],
      readJsonBody('{"p":1,"\\u0070":1}'),
    ]) {
      const error = failure(() => read('{type: string}', raw));
      expect([error.reason, error.details.parameter]).toEqual(['invalidParameter', 'p']);
      expect(error.message).toContain('more than once');
    }
  });
});

describe('a JSON body', () => {
  const body = (declaration: string, json: string) => read(declaration, readJsonBody(`{"p":${json}}`))?.value;

  it('gives strings as a URL does, and numbers by their digits', () => {
    expect(body(REQUIRED('integer'), '9007199254740993')).toBe('9007199254740993');
    expect(body(REQUIRED('integer'), '"9007199254740993"')).toBe('9007199254740993');
    expect(body(REQUIRED('integer'), '-0')).toBe('0');
    expect(body(REQUIRED('number'), '1.50e2')).toBe('150');
    expect(body(REQUIRED('boolean'), 'true')).toBe('true');
    expect(body(REQUIRED('boolean'), '"false"')).toBe('false');
    expect(body('{type: string}', '"a\\u00e4\\n"')).toBe('aä\n');
  });

  it.each([
    ['integer', '1.0'],
    ['integer', '1e3'],
    ['integer', '9223372036854775808'],
    ['integer', 'true'],
    ['integer', '[1]'],
    ['integer', '{}'],
    ['number', 'true'],
    ['number', '1e999'],
    ['boolean', '1'],
    ['boolean', '"True"'],
    ['string', '1'],
    ['string', 'true'],
    ['string', '["a"]'],
    ['string', '{"a":1}'],
    ['timestamp', '1790766000'],
    ['date', '20260930'],
    ['regex', '1'],
  ] as const)('%s does not take %s', (type, json) => {
    const error = failure(() => body(REQUIRED(type), json));
    expect([error.reason, error.details.parameter]).toEqual(['invalidParameter', 'p']);
  });

  it('is one JSON object', () => {
    for (const text of [
      '',
      ' ',
      '[]',
      '"p"',
      'null',
      '1',
      '{',
      '{"p":1,}',
      "{'p':1}",
      '{"p":01}',
      '{} {}',
      '{"a":NaN}',
      '[{"p":1}]',
    ]) {
      expect(failure(() => readJsonBody(text)).reason).toBe('invalidParameter');
    }
  });

  it('is read member by member, in order', () => {
    expect(
      readJsonBody(
        ' {\n"a" : "x\\"}{" , "b":[{"a":"]"},"\\\\"],"c":{"d":{"e":"}"}} ,"d":-1.50E+10,"e":true , "f":false,"g":null,"":"\\ud83d\\ude00"}\t',
      ),
    ).toMatchObject([
      { name: 'a', value: { kind: 'text', text: 'x"}{' } },
      { name: 'b', value: { kind: 'array' } },
      { name: 'c', value: { kind: 'object' } },
      { name: 'd', value: { kind: 'number', text: '-1.50E+10' } },
      { name: 'e', value: { kind: 'boolean', text: 'true' } },
      { name: 'f', value: { kind: 'boolean', text: 'false' } },
      { name: 'g', value: { kind: 'null' } },
      { name: '', value: { kind: 'text', text: '😀' } },
    ]);
    expect(readJsonBody('{}')).toEqual([]);
    expect(readJsonBody(`{"a":${'['.repeat(99)}${']'.repeat(99)}}`)).toMatchObject([
      { name: 'a', value: { kind: 'array', items: [{ kind: 'array', items: [] }] } },
    ]);
  });

  it('has bounds on its depth and its members, whatever they are', () => {
    const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`;
    expect(() => readJsonBody(deep)).toThrow('The body nests more than 100 levels.');
    const members = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"p${i}":[1,2]`).join()}}`;
    expect(readJsonBody(members(256))).toHaveLength(256);
    expect(() => readJsonBody(members(257))).toThrow('A request has at most 256 parameters.');
    expect(readJsonBody(JSON.stringify({ a: '{[,'.repeat(500), b: ['"]', '\\'] }))).toHaveLength(2);
  });
});

describe('a query string', () => {
  it('has a bound on its parameters, whatever they are called', () => {
    expect(url('a&'.repeat(256))).toHaveLength(256);
    expect(url('&'.repeat(1000))).toEqual([]);
    expect(() => url('a&'.repeat(257))).toThrow('A request has at most 256 parameters.');
  });

  it('is decoded as UTF-8 with blanks for plus signs', () => {
    expect(
      url('a=1%202+3&b=%C3%A4%F0%9F%98%80&c&=x&&d==%3D&e=%2B').map(({ name, value }) => [
        name,
        'text' in value ? value.text : null,
      ]),
    ).toEqual([
      ['a', '1 2 3'],
      ['b', 'ä😀'],
      ['c', ''],
      ['', 'x'],
      ['d', '=='],
      ['e', '+'],
    ]);
    expect(url('')).toEqual([]);
  });

  it.each([
    'x=%',
    'x=%2',
    'x=%zz',
    '%=1',
    'x=%u0041',
    'x=%C3',
    'x=%FF',
    'x=%ED%A0%80',
    'x=100%&p=1',
    'undeclared%G1=1',
  ])('%s is refused', (query) => {
    expect(failure(() => url(query)).reason).toBe('invalidParameter');
  });
});

describe('pins', () => {
  const pin = (value: string) => new Map([['p', value]]);

  it('let the caller send that value or none', () => {
    for (const raw of [[], url('p='), url('p=abc'), readJsonBody('{"p":"abc"}'), readJsonBody('{"p":null}')]) {
      expect(read('{type: string, required: true}', raw, pin('abc'))?.value).toBe('abc');
    }
  });

  it.each(['p=abd', 'p=ABC', 'p=abc%20', 'p=.*'])('%s is 403', (query) => {
    const error = failure(() => read('{type: string}', url(query), pin('abc')));
    expect([error.reason, error.details.parameter]).toEqual(['accessDenied', 'p']);
    expect(error.message).not.toContain('abc');
  });

  it('refuse another type, another body value and two values', () => {
    for (const json of ['{"p":["abc"]}', '{"p":{"abc":1}}', '{"p":true}'])
      expect(failure(() => read('{type: string}', readJsonBody(json), pin('abc'))).reason).toBe('accessDenied');
    expect(
      failure(() => read('{type: string}', [...url('p=abc'), ...readJsonBody('{"p":"abc"}')], pin('abc'))).reason,
    ).toBe('invalidParameter');
  });

  it('compare what values mean', () => {
    expect(read(REQUIRED('integer'), url('p=07'), pin('7'))?.value).toBe('7');
    expect(read(REQUIRED('integer'), readJsonBody('{"p":7}'), pin('7'))?.value).toBe('7');
    expect(read(TIMESTAMP, url('p=2026-01-01T01:00:00%2B01:00'), pin('2026-01-01'))?.value).toBe(
      '2026-01-01T00:00:00.000000Z',
    );
    expect(failure(() => read(REQUIRED('integer'), url('p=x'), pin('7'))).reason).toBe('accessDenied');
    expect(failure(() => read(REQUIRED('integer'), [], pin('seven'))).reason).toBe('accessDenied');
  });

  it('are found as text where the parameter is a regular expression', () => {
    expect(read(REQUIRED('regex'), [], pin('a.b*(c|d)[e]{2}^$\\+?'))?.value).toBe(
      'a\\.b\\*\\(c\\|d\\)\\[e\\]\\{2\\}\\^\\$\\\\\\+\\?',
    );
    expect(read(REQUIRED('regex'), url('p=a.b'), pin('a.b'))?.value).toBe('a\\.b');
    expect(read(REQUIRED('regex'), url('p=('), pin('('))?.value).toBe('\\(');
    expect(failure(() => read(REQUIRED('regex'), url('p=a%5C.b'), pin('a.b'))).reason).toBe('accessDenied');
    expect(failure(() => read(REQUIRED('regex'), url('p=axb'), pin('a.b'))).reason).toBe('accessDenied');
  });
});

describe('reserved parameters', () => {
  const endpoint = endpointOf('{type: string}');
  const consumer = (raw: readonly RawEntry[], of = endpoint) => readConsumerRequest(of, raw);

  it('are read beside the declared ones', () => {
    expect(consumer([])).toEqual({ query: null, dryRun: false });
    expect(consumer(url('sql=select+1&p=x'))).toEqual({ query: { language: 'sql', text: 'select 1' }, dryRun: false });
    expect(consumer(url('lql=f:x&sql=select+1')).query?.language).toBe('sql');
    expect(consumer(url('lql=f:x&sql=&dry_run=true'))).toEqual({
      query: { language: 'lql', text: 'f:x' },
      dryRun: true,
    });
    expect(consumer(readJsonBody('{"sql":"select 1","lql":null,"dry_run":true}'))).toEqual({
      query: { language: 'sql', text: 'select 1' },
      dryRun: true,
    });
    for (const raw of [
      url('dry_run='),
      url('dry_run=false'),
      readJsonBody('{"dry_run":false}'),
      readJsonBody('{"dry_run":null}'),
    ])
      expect(consumer(raw).dryRun).toBe(false);
  });

  it.each([
    ['dry_run', url('dry_run=1')],
    ['dry_run', url('dry_run=True')],
    ['dry_run', readJsonBody('{"dry_run":1}')],
    ['dry_run', readJsonBody('{"dry_run":[]}')],
    ['dry_run', url('dry_run=true&dry_run=true')],
    ['sql', url('sql=a&sql=a')],
    ['sql', [...url('sql=a'), ...readJsonBody('{"sql":"a"}')]],
    ['sql', readJsonBody('{"sql":1}')],
    ['lql', readJsonBody('{"lql":["a"]}')],

    ['sql', readJsonBody('{"sql":"\\ud800"}')],
    ['sql', url(`sql=${'a'.repeat(65_537)}`)],
    ['lql', url(`lql=${'%C3%A4'.repeat(32_769)}`)],
  ] as const)('%s is refused (%#)', (parameter, raw) => {
    const error = failure(() => consumer(raw));
    expect([error.reason, error.details.parameter]).toEqual(['invalidParameter', parameter]);
  });

  it('take 64 KiB', () => {
    expect(consumer(url(`sql=${'a'.repeat(65_536)}`)).query?.text).toHaveLength(65_536);
  });

  it('are refused where the endpoint takes none', () => {
    const plain = endpointOf('{type: string}', false);
    for (const parameter of ['sql', 'lql'])
      expect(failure(() => consumer(url(`${parameter}=x`), plain)).details.parameter).toBe(parameter);
    expect(consumer(url('sql=&lql'), plain).query).toBeNull();
  });
});
