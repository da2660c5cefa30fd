/** Lines that are left as they are: DuckDB reads the same rows of them as of what the strict reader writes in their place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { ExactLines } from '../src/data/exact-lines';
import { storedValue } from '../src/data/field-sql';
import { ndjsonScan } from '../src/data/file-scan';
import { printLine } from '../src/data/json-line';
import { fittedRow, parsedRow } from '../src/data/strict-row';
import { RowTable } from '../src/follow/hot-relations';
import { quoteName } from '../src/sql';
import type { RestField } from '../../googlesql/src/rest-schema';
import { Random } from '../../../test/dialect/random';
import { fieldsOf } from './fields';

const LEAVES = 's STRING, i INT64, f FLOAT64, b BOOL, t TIMESTAMP, ss STRING*, ii INT64*';
const FIELDS = fieldsOf(
  `timestamp TIMESTAMP!, id STRING!, ${LEAVES}, day DATE, plain RECORD(needed INT64!, ${LEAVES}), list RECORD*(${LEAVES}, inner RECORD*(${LEAVES}))`,
);
const START = '"timestamp":"2026-09-30T12:00:00Z","id":"a"';

const exact = new ExactLines(FIELDS, { timed: true, identified: true, rest: false });
const isExact = (line: string | Buffer): boolean => {
  // Between others, as in a file.
  const bytes = Buffer.from(line);
  return exact.has({
    buffer: Buffer.concat([Buffer.from('x\n'), bytes, Buffer.from('\n{"s":"x"}\n')]),
    start: 2,
    end: 2 + bytes.length,
  });
};

describe('Left as they are', () => {
  test.each([
    `{${START}}`,
    `{ "id" : "a" ,\t"timestamp":"2026-09-30 12:00:00.123456" } \r`,
    `{${START},"s":null,"i":null,"f":null,"b":null,"t":null,"ss":null,"day":null,"plain":null,"list":null}`,
    `{${START},"s":"ä \\" \\\\ \\n \\u00e9 {[","ss":["[","{}",""],"ii":[1,-2],"list":[]}`,
    `{${START},"s":12,"i":-123456789012345678,"f":-1.25,"b":false,"t":"2026-12-31T23:59:59.123456789Z"}`,
    `{${START},"s":true,"i":0,"f":0,"b":true,"t":"2026-12-31 23:59:59+00:00"}`,
    `{${START},"plain":{"needed":1},"list":[{"i":1,"inner":[{"s":"x"},{"s":"y"}]},{"i":2}]}`,
  ])('%s', (line) => expect(isExact(line)).toBe(true));

  test('and fields that the schema does not know are counted', () => {
    exact.takeIgnored();
    expect(isExact(`{${START},"no":[1,{"a":null,"b":[true,"x",-0.5]}],"plain":{"needed":1,"nor":"this"}}`)).toBe(true);
    expect(exact.takeIgnored()).toBe(2);
    expect(isExact(`{${START},"no":1,"i":1.5}`)).toBe(false);
    expect(exact.takeIgnored()).toBe(0);
  });
});

describe('Left to the strict reader', () => {
  test.each(
    [
      ...['', ' ', 'x', '[]', 'null', '{}', '\u0000{}', `\ufeff{${START}}`, ` {${START}}`, `{${START}`, `{${START}} x`],
      ...[`{${START},}`, `{${START}}}`, `{${START},"s":"x}`, `{${START},"s":"\\x"}`, `{${START},"s":"\t"}`],
      ...[`{"id":"a"}`, `{"timestamp":null,"id":"a"}`, `{"timestamp":"2026-09-30T12:00:00Z"}`],
      ...['""', 'null', '5', '"\\u0001abc"'].map((id) => `{"timestamp":"2026-09-30T12:00:00Z","id":${id}}`),
      ...[
        String.raw`i: 1.5 1e3 true "1" 01 - -0 1234567890123456789 {} [1] nul`,
        String.raw`f: 1e3 true "1.5" NaN .5 1. []`,
        String.raw`b: 1 "true" tru {}`,
        String.raw`s: 1.5 -0 1e3 1234567890123456 {} [] ["a"] "\ud83d\ude00" "\u0000" "\u12"`,
        String.raw`t: 5 "epoch" "infinity" "2026-02-29T00:00:00Z" "2026-13-01_00:00:00" "2026-01-01" "2026-01-01T00:00:00+02:00"`,
        String.raw`day: "2026-01-01"`,
        String.raw`ss: [null] "a" ["a",] [{}] ["a"_"b"] ["a"`,
        String.raw`ii: [1.5] [true] [null] 5`,
        String.raw`plain: {} {"needed":null} [{"needed":1}] {"needed":1,"i":0.5} 5`,
        String.raw`list: {} [null] [[]] [{"i":"x"}] [{"inner":{}}]`,
      ].flatMap((line) => {
        const [field = '', ...values] = line.split(' ');
        return values.map((value) => [START, `"${field.slice(0, -1)}":${value.replace('_', ' ')}`]);
      }),
      ...[
        '"s":"a","s":"b"',
        '"s":"a","\\u0073":"b"',
        '"S\u00e9":1',
        '"no":1e999',
        '"no":[1,]',
        '"no":{"a"}',
        '"no":nul',
        '"no":"\\x"',
      ].map((more) => [START, more]),
      [START, `"no":${'['.repeat(100)}${']'.repeat(100)}`],
    ].map((line) => (typeof line === 'string' ? line : `{${line.join(',')}}`)),
  )('%j', (line) => {
    expect(isExact(line)).toBe(false);
  });

  test('bytes that are no UTF-8', () => {
    expect(isExact(Buffer.concat([Buffer.from(`{${START},"s":"`), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]))).toBe(
      false,
    );
  });
});

const SEED = 20261128;
const LINES = 4_000;

test('DuckDB reads the same of a line as of what is written in its place', async () => {
  const random = new Random(SEED);
  const lines: string[] = [];
  for (let left = 20 * LINES; left > 0 && lines.length < LINES; left--) {
    const line = mutated(random, `{${START},${randomMembers(random, FIELDS.slice(2), 0).join(',')}}`);
    if (isExact(line)) lines.push(line);
  }
  expect(lines).toHaveLength(LINES);
  const found = await read(lines);
  const fitting = { lenient: false, ignored: 0, nulled: 0, values: 0 };
  const expected = await read(lines.map((line) => printLine(fittedRow(FIELDS, parsedRow(line), fitting))));
  for (const [i, line] of lines.entries()) expect([line, found[i]]).toEqual([line, expected[i]]);
  const inTail = await insert(lines.map(withLists));
  for (const [i, line] of lines.entries()) expect([line, inTail[i]]).toEqual([line, expected[i]]);
});

test.each([
  [`{${START},"ss":["a"]}`, `{${START},"ss":["a"],"ii":[],"list":[]}`],
  [`{${START},"ss": null ,"ii":[],"list":null}`, `{${START},"ss": [] ,"ii":[],"list":[]}`],
  [
    `{${START},"list":[{},{"s":"é","inner":[{"ss":null}]}],"plain":{"needed":1},"ss":[],"ii":[]}`,
    `{${START},"list":[{"ss":[],"ii":[],"inner":[]},{"s":"é","inner":[{"ss":[],"ii":[]}],"ss":[],"ii":[]}],"plain":{"needed":1,"ss":[],"ii":[]},"ss":[],"ii":[]}`,
  ],
])('Lists that are missing in %s are written as empty ones', (line, expected) => {
  expect(withLists(line)).toBe(expected);
});

function withLists(line: string): string {
  const buffer = Buffer.from(`x\n${line}\n`);
  const place = { buffer, start: 2, end: buffer.length - 1 };
  expect(exact.has(place)).toBe(true);
  return exact.withLists(place);
}

/** Values of all kinds, those that fit the most often. */
const VALUES = Object.fromEntries(
  [
    String.raw`STRING "x" "" "[1]" "{\"a\":1}" "é\u00e9\/\n" "😀" 7 -7 true 1.5 -0 {"a":1} [1] "\ud800"`,
    'INT64 1 -5 0 123456789012345678 9223372036854775807 1.0 1e2 "3" true "x"',
    'FLOAT64 1.5 -2 0.1 -0 12345678901234567890 0.30000000000000004 123456789012345678901234567890.5 1e2 "1" true "NaN"',
    'BOOL true false 1 "true" "t"',
    'TIMESTAMP "2026-09-30T12:00:00Z" "2026-02-28_01:02:03.123456789" "0001-01-01T00:00:00Z" "9999-12-31_23:59:59.999999+00:00" "2024-02-29T00:00:00Z" "epoch" 1790769600 "2026-1-1_00:00:00"',
    'DATE "2026-01-01" null',
  ].map((line) => {
    const [type = '', ...values] = line.split(' ');
    return [type, values.map((value) => value.replace('_', ' '))];
  }),
);

function randomMembers(random: Random, fields: readonly RestField[], depth: number): string[] {
  const members = fields.flatMap((one) => {
    if (random.chance(one.name === 'needed' ? 0.05 : 0.55)) return [];
    const item = (): string =>
      one.type === 'RECORD'
        ? `{${randomMembers(random, one.fields, depth + 1).join(',')}}`
        : random.pick(VALUES[one.type]!.slice(0, random.chance(0.05) ? undefined : 2));
    if (random.chance(0.1)) return [`"${one.name}":null`];
    const value = one.mode === 'REPEATED' ? `[${Array.from({ length: random.int(3) }, item).join(',')}]` : item();
    return [`"${one.name}"${random.chance(0.1) ? ' ' : ''}:${value}`];
  });
  if (random.chance(0.1)) members.push(`"unknown":${random.pick(['1', '"x"', '{"a":[1,null,{}]}'])}`);
  return members.length === 0 ? ['"unknown":null'] : members;
}

/** With other values of all kinds, and now and then a character too many or too few. */
function mutated(random: Random, line: string): string {
  if (!random.chance(0.2)) return line;
  const at = random.int(line.length);
  const character = random.pick(Array.from('{}[]",:\\ 0-.etn\u0007é'));
  return line.slice(0, at) + (random.chance(0.5) ? character : '') + line.slice(at + random.int(2));
}

/** The rows that DuckDB reads, as conversions have it read them. */
function read(lines: readonly string[]): Promise<readonly unknown[]> {
  return inDuckDb(async (connection, folder) => {
    const file = path.join(folder, 'lines.ndjson');
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    const values = FIELDS.map((one) => `${storedValue(one, quoteName(one.name), 'base64')} AS ${quoteName(one.name)}`);
    return textsOf(connection, `SELECT ${values.join(', ')} FROM ${ndjsonScan(file, FIELDS, 0)}`);
  });
}

/** The rows of a tail. */
function insert(lines: readonly string[]): Promise<readonly unknown[]> {
  return inDuckDb(async (connection) => {
    const tail = new RowTable(connection, 'tail', FIELDS, true);
    await tail.create();
    await tail.insert(
      lines.map((text) => ({ text, source: 1 })),
      0,
    );
    const columns = FIELDS.map(({ name }) => quoteName(name));
    return textsOf(connection, `SELECT ${columns.join(', ')} FROM ${tail.relation} ORDER BY rowid`);
  });
}

async function textsOf(connection: DuckDBConnection, query: string): Promise<readonly unknown[]> {
  const reader = await connection.runAndReadAll(`SELECT CAST(to_json(t) AS VARCHAR) FROM (${query}) AS t`);
  return reader.getRows().map(([text]) => text);
}

async function inDuckDb<T>(work: (connection: DuckDBConnection, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'logquay-exact-'));
  const instance = await DuckDBInstance.create(':memory:');
  try {
    const connection = await instance.connect();
    await connection.run(`SET TimeZone = 'UTC'`);
    return await work(connection, folder);
  } finally {
    instance.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}
