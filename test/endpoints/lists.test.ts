import type { Endpoint } from '../../src/endpoints/endpoint';
import { readParameters } from '../../src/endpoints/parameters';
import { type RawEntry, readJsonBody, readUrlEncoded } from '../../src/endpoints/raw-entries';
import { ServiceError } from '../../src/errors';
import type { PinnedValue } from '../../src/keys/key';
import { readDefinition } from '../../src/endpoints/definition';
import { storedQuery } from './folder';

function definitionOf(declaration: string): ReturnType<typeof readDefinition> {
  const sql = 'WITH c AS (SELECT x FROM UNNEST(@p) AS x) SELECT * FROM c';
  return readDefinition(Buffer.from(storedQuery(1, 'x', `params:\n  p: ${declaration}`, sql)));
}

function endpointOf(declaration: string): Endpoint {
  const { endpoint, faults } = definitionOf(declaration);
  if (endpoint === null) throw new Error(JSON.stringify(faults));
  return endpoint;
}

const valuesOf = (declaration: string, raw: readonly RawEntry[], pins = new Map<string, PinnedValue>()): unknown =>
  readParameters(endpointOf(declaration), raw, pins, 0n)[0]?.value;

function refusal(declaration: string, raw: readonly RawEntry[], pins = new Map<string, PinnedValue>()): ServiceError {
  try {
    valuesOf(declaration, raw, pins);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const url = readUrlEncoded;
const body = (json: string): RawEntry[] => readJsonBody(`{"p":${json}}`);

const STRINGS = '{ type: "string[]" }';
const INTEGERS = '{ type: "integer[]", min: 0, max: 9 }';

describe('values', () => {
  it.each<[string, string, readonly RawEntry[], readonly string[]]>([
    ['one in a URL', STRINGS, url('p=a'), ['a']],
    ['several, in their order and as often as they come', STRINGS, url('p=b&q=1&p=a&p=b'), ['b', 'a', 'b']],
    ['with commas, which mean nothing', STRINGS, url('p=a,b'), ['a,b']],
    ['a JSON list', STRINGS, body('["b", "a\\u00e9", "]", "b"]'), ['b', 'aé', ']', 'b']],
    ['one alone in JSON', STRINGS, body('"a"'), ['a']],
    ['empty ones left out', STRINGS, url('p=&p=a&p='), ['a']],
    ['empty ones of JSON left out', STRINGS, body('["", "a"]'), ['a']],
    [
      'numbers of JSON by their digits',
      '{ type: "integer[]" }',
      body('[9007199254740993, "007", -1]'),
      ['9007199254740993', '7', '-1'],
    ],
    ['numbers', '{ type: "number[]" }', body('[1e2, 0.50]'), ['100', '0.5']],
    ['booleans', '{ type: "boolean[]" }', body('[true, "false"]'), ['true', 'false']],
    [
      'instants in one form',
      '{ type: "timestamp[]" }',
      url('p=2026-09-30&p=2026-09-30T02:00:00%2B02:00'),
      ['2026-09-30T00:00:00.000000Z', '2026-09-30T00:00:00.000000Z'],
    ],
    ['days', '{ type: "date[]" }', url('p=2026-09-30'), ['2026-09-30']],
    ['choices', '{ type: "enum[]", values: [a, b] }', url('p=b&p=a'), ['b', 'a']],
  ])('%s', (_, declaration, raw, expected) => {
    expect(valuesOf(declaration, raw)).toEqual(expected);
  });

  it('are bound as an array of their type', () => {
    const types = ['string', 'integer', 'number', 'boolean', 'timestamp', 'date'].map(
      (type) => readParameters(endpointOf(`{ type: "${type}[]" }`), [], new Map(), 0n)[0],
    );
    expect(types).toEqual(
      ['STRING', 'INT64', 'FLOAT64', 'BOOL', 'STRING', 'STRING'].map((type) => ({
        name: 'p',
        type: `ARRAY<${type}>`,
        value: [],
      })),
    );
  });

  it.each<[string, readonly RawEntry[]]>([
    ['nothing', url('q=1')],
    ['empty', url('p=')],
    ['null', body('null')],
    ['no values', body('[]')],
    ['an empty value', body('[""]')],
  ])('%s is absent', (_, raw) => {
    expect(valuesOf(STRINGS, raw)).toEqual([]);
    expect(valuesOf('{ type: "integer[]", default: [500, 007] }', raw)).toEqual(['500', '7']);
    expect(refusal('{ type: "string[]", required: true, description: Which. }', raw)).toMatchObject({
      reason: 'invalidParameter',
      message: 'Parameter "p" is required. It is of type string[]: Which.',
    });
  });
});

describe('refusals', () => {
  it.each<[string, string, readonly RawEntry[], RegExp]>([
    [
      'a value of another type',
      INTEGERS,
      url('p=1&p=x'),
      /^Each value of parameter "p" must be a whole number from 0 to 9, not "x"\.$/,
    ],
    ['a value out of range', INTEGERS, body('[1, 10]'), /whole number from 0 to 9, not "10"/],
    ['a choice that is not there', '{ type: "enum[]", values: [a, b] }', url('p=a&p=c'), /one of a, b, not "c"/],
    [
      'null in a list',
      STRINGS,
      body('["a", null]'),
      /Each value of parameter "p" must be a string in a JSON body, not a null/,
    ],
    ['a number for a text', STRINGS, body('[1]'), /must be a string in a JSON body, not a number/],
    ['a list in a list', STRINGS, body('[["a"]]'), /not an array/],
    ['an object', STRINGS, body('[{"a": "]"}]'), /not an object/],
    ['an object for the list', STRINGS, body('{}'), /not an object/],
    ['a value of more than 4 KiB', STRINGS, body(JSON.stringify(['x'.repeat(4097)])), /at most 4096 bytes/],
    [
      'more than 1,000 values',
      STRINGS,
      body(JSON.stringify(Array(1001).fill('x'))),
      /^Parameter "p" must be a list of at most 1000 values\.$/,
    ],
    [
      'more than 64 KiB',
      STRINGS,
      body(JSON.stringify(Array(17).fill('x'.repeat(4096)))),
      /list of at most 65536 bytes/,
    ],
    ['a JSON member twice', STRINGS, readJsonBody('{"p":["a"],"p":["b"]}'), /given more than once/],
    ['a JSON member and the URL', STRINGS, [...url('p=a'), ...body('"b"')], /given more than once/],
  ])('%s', (_, declaration, raw, message) => {
    const { reason, message: said, details } = refusal(declaration, raw);
    expect([reason, details.parameter]).toEqual(['invalidParameter', 'p']);
    expect(said).toMatch(message);
  });

  it('a list for one value', () => {
    expect(refusal('{ type: string }', body('["a"]')).message).toBe(
      'Parameter "p" must be a string in a JSON body, not an array.',
    );
  });

  it('takes what is just within the bounds', () => {
    expect(valuesOf(STRINGS, body(JSON.stringify(Array(1000).fill('x'))))).toHaveLength(1000);
    expect(valuesOf(STRINGS, body(JSON.stringify(Array(16).fill('x'.repeat(4096)))))).toHaveLength(16);
  });

  it('a JSON list of any length costs as much as the longest list that is allowed', () => {
    const [entry] = body(`[${'1,'.repeat(100_000)}1]`);
    expect(entry?.value).toMatchObject({ kind: 'array' });
    expect(entry?.value.kind === 'array' && entry.value.items.length).toBe(1001);
    expect(readJsonBody(`{"p":[${'1,'.repeat(2_000)}1],"q":"after"}`)[1]).toMatchObject({
      name: 'q',
      value: { text: 'after' },
    });
  });
});

it('the lists of a body are bounded together, whatever they are', () => {
  const lists = (count: number): string =>
    `{${Array.from({ length: count }, (_, i) => `"p${i}":[${'1,'.repeat(499)}1]`).join()}}`;
  expect(readJsonBody(lists(20))).toHaveLength(20);
  expect(() => readJsonBody(lists(21))).toThrow('The lists of a body have at most 10000 values together.');
});

describe('pins', () => {
  const pin = (value: PinnedValue): Map<string, PinnedValue> => new Map([['p', value]]);

  it('fix the list: the caller sends it, or nothing', () => {
    for (const raw of [[], url('p=a&p=b'), body('["a","b"]'), body('null'), body('[]')]) {
      expect(valuesOf(STRINGS, raw, pin(['a', 'b']))).toEqual(['a', 'b']);
    }
    expect(valuesOf(STRINGS, url('p=a'), pin('a'))).toEqual(['a']);
    expect(valuesOf('{ type: "integer[]" }', body('[7, "08"]'), pin(['07', '8']))).toEqual(['7', '8']);
  });

  it.each<[string, readonly RawEntry[]]>([
    ['a part', url('p=a')],
    ['another order', url('p=b&p=a')],
    ['more', url('p=a&p=b&p=c')],
    ['a repetition', url('p=a&p=b&p=b')],
    ['another value', url('p=a&p=c')],
    ['one text', url('p=a,b')],
    ['null among them', body('["a","b",null]')],
    ['a list of them', body('[["a","b"]]')],
    ['an object', body('{}')],
  ])('refuse %s without a word of the values', (_, raw) => {
    const error = refusal(STRINGS, raw, pin(['a', 'b']));
    expect(error.reason).toBe('accessDenied');
    expect(error.message).toBe('This key fixes the parameter "p" to another value.');
  });

  it('that do not fit fix nothing to nothing', () => {
    expect(refusal('{ type: "integer[]" }', [], pin(['x'])).reason).toBe('accessDenied');
    expect(refusal(STRINGS, [], pin([])).reason).toBe('accessDenied');
    expect(refusal('{ type: string }', [], pin(['a'])).reason).toBe('accessDenied');
  });
});

describe('declarations', () => {
  it.each([
    ['{ type: "regex[]" }', /type must be one of .*string\[\]/],
    ['{ type: "string[][]" }', /type must be one of/],
    ['{ type: "string[]", values: [a] }', /only an enum has values/],
    ['{ type: "enum[]" }', /an enum needs values/],
    ['{ type: "integer[]", min: 5, default: [6, 4] }', /the default must be a whole number from 5/],
    ['{ type: "string[]", min: 5 }', /a string has no bounds/],
    ['{ type: string, default: [a, b] }', /the default of a string is no list/],
    ['{ type: "string[]", required: true, default: [a] }', /a required parameter never takes its default/],
    ['{ type: string[] }', /bad YAML.*Between braces the type of a list is quoted/],
  ])('%s is a fault', (declaration, message) => {
    const { endpoint, faults } = definitionOf(declaration);
    expect(endpoint).toBeNull();
    expect(faults.map(({ reason, hint = '' }) => `${reason} ${hint}`).join('\n')).toMatch(message);
  });

  it('a default is what is written, and a text alone is a list of one', () => {
    expect(endpointOf('{ type: "string[]", default: [007, yes, 1.50] }').parameters[0]?.default).toEqual([
      '007',
      'yes',
      '1.50',
    ]);
    expect(endpointOf('{ type: "string[]", default: 007 }').parameters[0]?.default).toEqual(['007']);
    expect(endpointOf('{ type: "string[]", default: [] }').parameters[0]?.default).toBeNull();
    expect(endpointOf('\n    type: integer[]\n    default: [1]').parameters[0]).toMatchObject({
      type: 'integer',
      list: true,
    });
  });
});
