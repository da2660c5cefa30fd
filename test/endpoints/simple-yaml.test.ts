import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import { parseDocument } from 'yaml';

import { keepsWritten, keepWrittenScalars, PARSING } from '../../src/endpoints/settings';
import { readSimpleYaml } from '../../src/endpoints/simple-yaml';

/** What the package for all of YAML gives; null: it finds faults. */
function byPackage(text: string): unknown {
  const document = parseDocument(text, PARSING);
  if (document.errors.length + document.warnings.length > 0) return null;
  keepWrittenScalars(document);
  return document.toJS();
}

/** As JSON that tells a whole number from a text, with keys in their order. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? { whole: String(one) } : one));
}

function expectAlike(text: string): boolean {
  const simple = readSimpleYaml(text, keepsWritten);
  if (simple === null) return false;
  expect([text, shown(simple)]).toEqual([text, shown(byPackage(text))]);
  return true;
}

const key = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.constantFrom('id', 'name', 'params', 'params', 'default', 'values', 'type', 'min', 'max', 'max_rows'),
  },
  fc.constantFrom('null', 'True', 'constructor', 'toString', '__proto__', 'y', 'a b', '1', '"q"', '<<', '?', '-'),
);

const odd = fc.oneof(
  fc.constantFrom(
    '1',
    '0',
    '007',
    '-1',
    '+1',
    '1.5',
    '1.',
    '.5',
    '1e5',
    '1E5',
    '12e-3',
    '0x1F',
    '0o17',
    '0b1',
    '1_000',
  ),
  fc.constantFrom('12345678e10', '9223372036854775808', '.inf', '.nan', '~', 'null', 'Null', 'NULL', 'nUll', 'yes'),
  fc.constantFrom(
    'true',
    'True',
    'TRUE',
    'tRue',
    'false',
    'FALSE',
    'off',
    '24h',
    '15min',
    '7d',
    '1 2',
    '1, 2',
    '1e',
    '1o7',
  ),
  fc.constantFrom('1e3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e94', '00000000-0000-4000-8000-000000000001', '2024-01-01'),
  fc.constantFrom(
    '2024-01-01T00:00:00Z',
    '12:30',
    'a',
    'a b',
    'a: b',
    'a:',
    'a:b',
    'a #b',
    'a#b',
    '#b',
    "it's",
    'a"b"',
  ),
  fc.constantFrom(
    '"a: b"',
    "'a # b'",
    '"a\\n"',
    "'it''s'",
    '"a',
    '"a" b',
    '""',
    "''",
    '" a "',
    'a, b',
    '[a',
    'a]',
    '}',
  ),
  fc.constantFrom(
    'string[]',
    'é ß',
    'a\u00a0',
    '\u00a0a',
    '漢字',
    '😀',
    '&a',
    '*a',
    '!!str 1',
    '!x',
    '@a',
    '%a',
    '`a`',
  ),
  fc.constantFrom('|', '>', '>-', '>+', '|-', '>2-', '---', '...', '- a', '? a', '-', ':', 'a\tb', 'a\r', '\ufeffa'),
);

const plain = fc.constantFrom(
  'a',
  'a b',
  '1',
  '24',
  '0',
  'true',
  'false',
  '15min',
  '"a: b"',
  "'#'",
  'string',
  'é 漢',
  'a-b',
);

const scalar = fc.oneof({ weight: 15, arbitrary: plain }, { weight: 1, arbitrary: odd });

const list = fc
  .array(scalar, { maxLength: 3 })
  .chain((items) => fc.constantFrom(`[${items.join(', ')}]`, `[${items.join(',')}]`, `[ ${items.join(' , ')} ]`));

const inline = fc.oneof({ weight: 4, arbitrary: scalar }, list);

const braces = fc
  .array(fc.tuple(key, inline), { maxLength: 3 })
  .map((pairs) => pairs.map(([name, value]) => `${name}: ${value}`))
  .chain((pairs) => fc.constantFrom(`{ ${pairs.join(', ')} }`, `{${pairs.join(',')}}`, `{ ${pairs.join(', ')}, }`));

/** Entries indented so far, by what is indented further where there are more levels. */
function entries(indent: number, levels: number): fc.Arbitrary<string[]> {
  const start = fc.oneof(
    { weight: 40, arbitrary: fc.constant(' '.repeat(indent)) },
    fc.constantFrom('', ' ', '   ', '    '),
  );
  const end = fc.oneof({ weight: 40, arbitrary: fc.constant('') }, fc.constantFrom(' ', ' # c', '\n', '\n  ', '\n- a'));
  const folded = fc
    .array(scalar, { minLength: 1, maxLength: 3 })
    .map((texts) => ['>-', ...texts].join(`\n${' '.repeat(indent + 2)}`));
  const nested = entriesBelow(indent, levels).map((lines) => `\n${lines.join('\n')}`);
  const value = fc.oneof(inline, braces, folded, ...(levels === 0 ? [] : [nested]));
  const entry = fc
    .tuple(start, key, value, end)
    .map(([before, name, text, after]) => `${before}${name}: ${text}${after}`);
  return fc.array(entry, { minLength: 1, maxLength: 3 });
}

function entriesBelow(indent: number, levels: number): fc.Arbitrary<string[]> {
  return levels === 0 ? fc.constant([]) : entries(indent + 2, levels - 1);
}

describe('settings of simple shapes', () => {
  it('reads the stored queries that come with the service', () => {
    const folder = join(__dirname, '../../queries');
    const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const text = /\/\*([^]*?)\*\//.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? '';
      expect([file, expectAlike(text)]).toEqual([file, true]);
    }
  });

  it.each([
    'id: 1e3c9b52-7a60-4d0e-8a5f-6d1f0b7c2e94\n\nparams:\n  a: { type: enum, values: [x, "y", 1, true], default: 1 }\n',
    'params:\n    a:\n      default: 24\n      min: 24\n      values: [1, false]\n    b: {type: string, required: true}\nmcp: true',
    'description: >-\n  one\n  two: # three\n\nname: a',
    'other:\n  a:\n    default: 1',
    'description: ""\nmax_rows: 10',
    'params:\n  a:\n    values: { b: 0 }',
    'name: 15min\ndescription: "a: b"',
  ])('reads %j', (text) => {
    expect(expectAlike(text)).toBe(true);
  });

  it.each([
    ['', 'a', '- a', 'a: b\na: c', 'a:', 'a: b\n  c', 'a: b\n c: d', 'a:\n  b: c\n d: e', ' a: b', 'a: 1.5', 'a: null'],
    ['a: >-\n  b\n\n  c', 'a: >-\n  b \n', 'a: >-\n  b\n   c', 'a: >-\nb: c', 'a: "b\\n"', 'a: b # c', 'a: b\r\nc: d'],
    ['__proto__: a', 'a: {b: c', 'a: {b: c, b: d}', 'a: [b, ]', 'a: [b: c]', 'a:\n  b:\n    c:\n      d: e', 'a:\tb'],
  ])('leaves other shapes to the package', (...texts) => {
    for (const text of texts) expect([text, readSimpleYaml(text, keepsWritten)]).toEqual([text, null]);
  });

  it('gives what the package gives', () => {
    let read = 0;
    const texts = entries(0, 3);
    fc.assert(
      fc.property(texts, fc.constantFrom('', '\n', '\n '), (lines, end) => {
        if (expectAlike(lines.join('\n') + end)) read++;
      }),
      { numRuns: Number(process.env['SIMPLE_YAML_RUNS'] ?? 5_000) },
    );
    expect(read).toBeGreaterThan(500);
  });
});
