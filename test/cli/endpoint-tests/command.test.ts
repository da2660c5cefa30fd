import { readFile } from 'node:fs/promises';

import { QueryFolder, uuid } from '../../endpoints/folder';
import { localBigQueryInstalled } from '../../local-bigquery';
import { logquay } from '../command-line';

jest.setTimeout(180_000);

const QUERY = `/*
id: ${uuid(1)}
name: numbers
max_rows: 3
sandbox: true
params:
  least: { type: integer, default: '0' }
*/
WITH numbers AS (SELECT id, n, time, parts FROM raw_numbers WHERE n >= @least)
SELECT id, n, time, parts FROM numbers ORDER BY id
`;

/** Digits beyond a double, a TIMESTAMP inside a record, a text that looks like markup. */
const DATA = `clock: 2026-01-01T00:00:00Z
schema:
  raw_numbers:
    fields:
      - { name: id, type: STRING, mode: REQUIRED }
      - { name: n, type: INTEGER }
      - { name: time, type: TIMESTAMP }
      - { name: parts, type: RECORD, mode: REPEATED, fields: [{ name: time, type: TIMESTAMP }, { name: text, type: STRING }] }
tables:
  raw_numbers:
    - { id: a, n: 9007199254740993, time: 2025-12-31T23:00:00.5Z, parts: [{ time: 2025-12-31T22:00:00Z, text: '<&"\\u0000>' }] }
    - { id: b, n: 2 }
`;

const ROW_A = `{ id: a, n: 9007199254740993, time: 2025-12-31T23:00:00.500000Z, parts: [{ text: '<&"\\u0000>', time: 1767218400000000 }] }`;
const ROW_B = `{ id: b, n: 2, time: null, parts: [] }`;

let folder: QueryFolder;
beforeEach(async () => {
  folder = await QueryFolder.create({ 'numbers.sql': QUERY });
});
afterEach(() => folder.remove());

const file = () => folder.file('numbers.test.yaml');

async function run(tests: string, args: readonly string[] = [], data = DATA) {
  await folder.write('numbers.test.yaml', `${data}tests:\n${tests}`);
  return logquay(['test', ...args, folder.path]);
}

it('compares whole rows, with every digit, timestamps in any spelling and members in any order', async () => {
  const { code, out } = await run(`  - { name: all, rows: [${ROW_A}, ${ROW_B}], count: 2, truncated: false }`);
  expect(out).toEqual([file(), '  ok     all', '1 passed, 0 failed (duckdb)']);
  expect(code).toBe(0);
});

it('shows a diff of rows, and which columns differ', async () => {
  const wrong = ROW_A.replace('993,', '992,').replace('23:00:00.5', '23:00:00.6');
  const { code, out } = await run(`  - { name: all, rows: [${wrong}, ${ROW_B}] }`);
  expect(code).toBe(1);
  const parts = String.raw`"parts":[{"time":"2025-12-31T22:00:00Z","text":"<&\"\\u0000>"}]`;
  expect(out).toEqual([
    file(),
    '  FAILED all',
    '         rows: expected 2, came 2, 1 of them alike',
    `           - {"id":"a","n":9007199254740992,"time":"2025-12-31T23:00:00.6Z",${parts}}`,
    `           + {"id":"a","n":9007199254740993,"time":"2025-12-31T23:00:00.5Z",${parts}}`,
    '             {"id":"b","n":2,"time":null,"parts":[]}',
    '           n: expected 9007199254740992, came 9007199254740993',
    '           time: expected "2025-12-31T23:00:00.6Z", came "2025-12-31T23:00:00.5Z"',
    '0 passed, 1 failed (duckdb)',
  ]);
});

it.each([
  ['a missing row', `rows: [${ROW_A}]`, 'rows: expected 1, came 2'],
  ['the order', `rows: [${ROW_B}, ${ROW_A}]`, 'rows: expected 2, came 2, 1 of them alike'],
  ['a column left out', `rows: [{ id: a }, ${ROW_B}]`, 'n: expected no such column, came 9007199254740993'],
  ['the count', 'count: 3', 'count: expected 3, came 2'],
  [
    'a type',
    "columns: { id: STRING, n: FLOAT64, time: TIMESTAMP, parts: 'ARRAY<STRUCT<time TIMESTAMP, text STRING>>' }",
    '+ n INT64',
  ],
  ['a column to compare', 'rows: [], only: [nope]', 'only: the result has no column nope'],
  ['an error', 'error: invalidQuery', 'expected the error invalidQuery, came a result of 2 rows'],
  ['nothing expected', 'params: {}', 'it expects nothing'],
])('fails by %s', async (_, expectation, message) => {
  const { code, out } = await run(`  - { name: one, ${expectation} }`);
  expect(out.join('\n')).toContain(message);
  expect([code, out.at(-1)]).toEqual([1, '0 passed, 1 failed (duckdb)']);
});

it('compares an error by what is named of it', async () => {
  const request = 'sql: "SELECT id,\\n  nope FROM numbers"';
  const right = `  - { name: right, ${request}, error: { reason: unknownField, line: 2, column: 3, near: nope, message: nope } }`;
  const wrong = `  - { name: wrong, ${request}, error: { reason: unknownField, line: 1, message: other } }`;
  const result = `  - { name: result, ${request}, count: 1 }`;
  const { code, out } = await run([right, wrong, result].join('\n'));
  expect(code).toBe(1);
  expect(out[1]).toBe('  ok     right');
  expect(out.slice(2, 7)).toEqual([
    '  FAILED wrong',
    '         error.line: expected 1, came 2',
    '         error.message: expected a text with "other"',
    expect.stringMatching(/^ {9}came the error unknownField \(line 2, column 3\): /),
    '  FAILED result',
  ]);
});

it('gives a test a clock and tables of its own', async () => {
  const tests = `  - { name: file, sql: SELECT COUNT(*) AS n FROM numbers, rows: [{ n: 2 }] }
  - { name: own rows, tables: { raw_numbers: [] }, sql: SELECT COUNT(*) AS n FROM numbers, rows: [{ n: 0 }] }
  - { name: from a file, tables: { raw_numbers: { file: more.ndjson } }, sql: SELECT n FROM numbers, rows: [{ n: 7 }] }
  - { name: own clock, clock: 2027-02-03T04:05:06Z, sql: SELECT CURRENT_TIMESTAMP() AS now, rows: [{ now: 2027-02-03T04:05:06Z }] }`;
  await folder.write('more.ndjson', '{"id":"z","n":7}\n');
  const { out } = await run(tests);
  expect(out.at(-1)).toBe('4 passed, 0 failed (duckdb)');
});

it('holds keys to their pins and rights', async () => {
  const tests = `  - { name: pinned, key: { pins: { least: '3' } }, rows: [${ROW_A}] }
  - { name: other value, key: { pins: { least: '3' } }, params: { least: 1 }, error: accessDenied }
  - { name: other endpoint, key: { endpoints: [elsewhere] }, error: notFound }
  - { name: redacted, key: { redact: true }, sql: SELECT 1 AS one, error: accessDenied }
  - { name: with the right, key: { redact: true, allow_sql: true }, sql: SELECT '1.2.3.4' AS ip, rows: [{ ip: REDACTED }] }`;
  const { out } = await run(tests);
  expect(out.at(-1)).toBe('5 passed, 0 failed (duckdb)');
});

describe('--update', () => {
  const TESTS = `  # Kept.
  - { name: rows, rows: [] }
  - name: nothing yet
    sql: SELECT n FROM numbers ORDER BY n
  - { name: others, count: 9, columns: { a: INT64 } }
  - { name: becomes an error, sql: SELECT nope FROM numbers, rows: [], order: any }
  - { name: becomes rows, sql: SELECT id FROM numbers WHERE n = 2, error: invalidQuery }
  - { name: place, sql: SELECT nope FROM numbers, error: { reason: unknownField, column: 1 } }
  - { name: right, count: 2 } # stays
`;

  it('writes what came, after which every test passes, and leaves the rest alone', async () => {
    const { code, out } = await run(TESTS, ['--update']);
    expect([code, out.at(-1)]).toEqual([0, '7 passed, 0 failed, 6 updated (duckdb)']);
    const text = await readFile(file(), 'utf8');
    expect(text).toContain('# Kept.');
    expect(text).toContain('# stays');
    expect(text).toMatch(/becomes an error, sql: SELECT nope FROM numbers, error: unknownField \}/);
    expect(text).toContain('{ reason: unknownField, column: 8 }');
    expect(text).toContain('9007199254740993');
    const again = await logquay(['test', folder.path]);
    expect(again.out.at(-1)).toBe('7 passed, 0 failed (duckdb)');
    await logquay(['test', '--update', folder.path]);
    expect(await readFile(file(), 'utf8')).toBe(text);
  });
});

describe('for CI', () => {
  const TESTS = `  - { name: 'good # \\ one', count: 2 }\n  - { name: '<bad> & "worse"', rows: [${ROW_A}] }`;

  it('prints TAP', async () => {
    const { code, out } = await run(TESTS, ['--format', 'tap']);
    expect(code).toBe(1);
    expect(out.slice(0, 3)).toEqual(['TAP version 14', '1..2', `ok 1 - ${file()}: good \\# \\\\ one`]);
    const points = out.filter((line) => /^(not )?ok /.test(line));
    expect(points).toHaveLength(2);
    expect(points[1]).toBe(`not ok 2 - ${file()}: <bad> & "worse"`);
    // A block of YAML belongs to each.
    expect(out.filter((line) => line === '  ---')).toHaveLength(2);
    expect(out.filter((line) => line === '  ...')).toHaveLength(2);
    expect(out).toContain('    rows: expected 1, came 2, 1 of them alike');
  });

  it('prints the XML of JUnit', async () => {
    await folder.write('broken.test.yaml', 'tests: 1\n');
    const { code, out } = await run(TESTS, ['--format', 'junit']);
    expect(code).toBe(1);
    expect(out[0]).toBe('<?xml version="1.0" encoding="UTF-8"?>');
    expect(out[1]).toBe('<testsuites name="logquay test (duckdb)" tests="3" failures="2">');
    const xml = out.join('\n');
    expect(xml).toContain('name="&lt;bad&gt; &amp; &quot;worse&quot;"');
    expect(xml).toContain('<error>');
    // Outside of tags nothing but text that is escaped: every tag that opens closes.
    const open: string[] = [];
    for (const [, close, name = '', self] of xml.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
      if (close === '/') expect(open.pop()).toBe(name);
      else if (self !== '/') open.push(name);
    }
    expect(open).toEqual([]);
    expect(xml.replace(/<[^<>]*>/g, '')).not.toMatch(/[<>]|&(?!(lt|gt|amp|quot);)/);
  });
});

describe('faults', () => {
  it.each([
    ['bad YAML', 'tests: [', /numbers\.test\.yaml:\d+: bad YAML/],
    ['a member that there is not', 'tests:\n  - { name: a, count: 1, row: [] }', /:2: unknown: row/],
    ['a reason that there is not', 'tests:\n  - name: a\n    error: oops', /:3: error is a reason/],
    ['a contradiction', 'tests:\n  - { name: a, count: 1, error: notFound }', /:2: test "a": an error comes without/],
    ['a table without columns', 'tables: { mine: [] }\ntests:\n  - { name: a, count: 1 }', /table mine has no columns/],
    [
      'a file of rows that is missing',
      'tables: { raw_edge_logs: { file: x.ndjson } }\ntests:\n  - { name: a, count: 1 }',
      /x\.ndjson: cannot be read \(ENOENT\)/,
    ],
    [
      'rows that do not fit',
      'tables: { raw_edge_logs: [{ id: 1 }] }\ntests:\n  - { name: a, count: 1 }',
      /The tables cannot be loaded/,
    ],
  ])('%s', async (_, yaml, message) => {
    await folder.write('numbers.test.yaml', yaml);
    const { code, out } = await logquay(['test', folder.path]);
    expect(out.join('\n')).toMatch(message);
    expect([code, out.at(-1)]).toEqual([1, '0 passed, 1 failed (duckdb)']);
  });

  it('no tests at all', async () => {
    const { code, out, notes } = await logquay(['test', folder.path]);
    expect([code, out]).toEqual([1, []]);
    expect(notes.join()).toContain('no files of tests');
  });

  // Skipped where the local BigQuery is not installed, which is said then; never in CI.
  const onBigQuery = localBigQueryInstalled || process.env['CI'] ? it : it.skip;
  onBigQuery('rows that do not fit, on BigQuery', async () => {
    const { code, out } = await run(
      '  - { name: a, count: 1 }',
      ['--engine', 'bigquery'],
      `${DATA}    - { id: c, n: many }\n`,
    );
    expect(code).toBe(1);
    expect(out.join('\n')).toMatch(/FAILED .*n/);
  });
});
