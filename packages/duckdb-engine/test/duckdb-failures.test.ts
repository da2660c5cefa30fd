import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/engine/database';
import { DuckDbEngine, openDuckDbEngine } from '../src/engine/engine';
import { failure } from '../src/engine/failures';
import type { Log } from '../src/engine/log';
import { rowsOf } from './data-folder';
import { within } from './queries';

const logged: unknown[] = [];
const log: Log = {
  info: () => undefined,
  warn: (...words) => void logged.push(words),
  error: (...words) => void logged.push(words),
};

beforeEach(() => logged.splice(0));

test.each([
  [
    'Binder Error: Referenced column "s3cret" not found\nLINE 1: SELECT \'s3cret\'',
    { fault: 'invalidQuery', span: null },
    'Binder Error',
  ],
  ['Parser Error: syntax error at or near "s3cret"', { fault: 'invalidQuery', span: null }, 'Parser Error'],
  ['IO Error: s3cret', { reason: 'backendError' }, 'IO Error'],
  ['s3cret', { reason: 'backendError' }, 'unknown'],
])('of %j the log holds the kind, and nobody the words', (message, expected, kind) => {
  const answer = failure(new Error(message), log, 'SELECT 1', false);
  expect(answer).toMatchObject(expected);
  expect(answer.message).not.toContain('s3cret');
  expect(logged).toEqual([[{ kind, query: 'e004ebd5b553' }, expect.any(String)]]);
  expect(JSON.stringify(logged)).not.toContain('s3cret');
});

const CAST = 'A value cannot be cast to the requested type';
const UNKNOWN = 'The query failed on a value while it ran';

test.each([
  ['Invalid Input Error: logquay:division', 'Division by zero'],
  ['Invalid Input Error: logquay:raised\n\nLINE 1: ...', 'The query raised an error with ERROR()'],
  // What no failure of ours is called is not one, be it a member of every object.
  ['Invalid Input Error: logquay:constructor', UNKNOWN],
  ['Invalid Input Error: logquay:toString', UNKNOWN],
  ['Invalid Input Error: logquay:__proto__', UNKNOWN],
  ['Invalid Input Error: logquay:hasOwnProperty', UNKNOWN],
  // Values, which rows hold and callers write, choose nothing.
  ["Conversion Error: Could not convert string 'logquay:constructor' to INT64", CAST],
  ["Conversion Error: Could not convert string 'logquay:division' to INT64", CAST],
  [
    "Conversion Error: Could not convert string 'division by zero' to INT64 when casting from source column time zone",
    CAST,
  ],
  ["Conversion Error: Could not convert string 'malformed json' to INT64", CAST],
  ["Conversion Error: Could not convert string 'Out of Memory Error: failed to allocate bad_alloc' to INT64", CAST],
  ["Conversion Error: Could not convert string '\nFATAL Error' to INT64", CAST],
  ['Syntax Error: Like pattern must not end with escape character!', UNKNOWN],
  ['Invalid Input Error: missing ): (unknown timezone', 'A regular expression is not valid'],
  ['Invalid Input Error: missing ]: [scalar subquery logquay:rows', 'A regular expression is not valid'],
  ["Not implemented Error: Unknown TimeZone 'logquay:division, division by zero'!", 'A time zone is not known'],
  [
    'Invalid Input Error: Malformed JSON at byte 0 of input: unexpected.  Input: "unknown timezone"',
    'A text is not valid JSON',
  ],
  ['Conversion Error: invalid timestamp field format: "unknown timezone"', 'A date or time is not valid'],
  ['Invalid Input Error: Could not parse string "division by zero" according to', 'A date or time is not valid'],
  ["Conversion Error: Type VARCHAR with value 'x can't be cast because' can't be cast to the destination type", CAST],
  [
    "Conversion Error: Type DOUBLE with value 1e+300 can't be cast because the value is out of range",
    'A number is out of range',
  ],
  ['Out of Range Error: Overflow in addition of INT64 (9223372036854775807 + 5)!', 'A number is out of range'],
  ['Invalid Input Error: Something new: division by zero', UNKNOWN],
])('%s', (message, words) => {
  expect(failure(new Error(message), log, 'SELECT 1', false)).toMatchObject({
    fault: 'invalidQuery',
    message: words,
    span: null,
  });
  expect(logged).toEqual([]);
});

test('a failure of our own has its place in the text', () => {
  const message = 'Invalid Input Error: logquay:division@7-16\n\nLINE 1: ...';
  expect(failure(new Error(message), log, '', false)).toMatchObject({
    message: 'Division by zero',
    span: { start: 7, end: 16 },
  });
  const forged = "Conversion Error: Could not convert string 'logquay:division@7-16' to INT64";
  expect(failure(new Error(forged), log, '', false)).toMatchObject({ message: CAST, span: null });
});

test('what DuckDB cannot plan for its depth is refused in words that help, and is no error of ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-failures-'));
  const engine = await openDuckDbEngine({ declared: LOG_SCHEMA, dataDir: null, cacheDir: folder, now: null, log });
  try {
    const table = { name: 't', columns: [{ name: 'id', type: { kind: 'STRING' as const } }] };
    const joins = Array.from({ length: 400 }, (_, i) => `join t as t${i} using (id)`).join(' ');
    await expect(engine.inspect(`select 1 as n from t ${joins}`, [table], [], within())).rejects.toMatchObject({
      fault: 'resourcesExceeded',
      message: expect.stringContaining('nests too deeply') as string,
    });
    expect(logged).toEqual([]);
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
});

test('a query whose tables are replaced however often it is tried is to come again, and then succeeds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-failures-'));
  const options = { declared: LOG_SCHEMA, dataDir: null, cacheDir: folder, now: null, log };
  const database = await openDatabase(options);
  const engine = new DuckDbEngine(database, options);
  try {
    const [table] = [...database.data.tables.values()];
    const sql = `SELECT COUNT(*) > 0 AS x FROM \`${table!.schema.name}\``;
    database.data.lose();
    await expect(rowsOf(engine, sql)).rejects.toMatchObject({
      reason: 'backendUnavailable',
      message: 'The tables are being replaced.',
      details: { retryAfter: 1 },
    });
    await database.data.replace([...database.data.tables.values()]);
    expect(await rowsOf(engine, sql)).toEqual([{ x: true }]);
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
});

test('what is thrown on the way out of queries that end with the engine is no failure', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-failures-'));
  const engine = await openDuckDbEngine({ declared: LOG_SCHEMA, dataDir: null, cacheDir: folder, now: null, log });
  const left = Array.from({ length: 20 }, () => engine.inspect('SELECT 1 AS one', [], [], within()));
  const ends = Promise.allSettled(left);
  await engine.close();
  const errors = (await ends).flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error).toMatchObject({ name: 'AbortError' });
  expect(logged).toEqual([]);
  rmSync(folder, { recursive: true });
});
