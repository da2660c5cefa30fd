/** How often the text of one request is read: once, whatever the walls do with it. */
import type { Engine } from '../../src/engines/contract';
import { lex } from '../../src/googlesql/lexer';
import { openLql } from '../../src/lql/read';
import { Gate } from '../../src/sandbox/gate';
import type { StoredQuery } from '../../src/sandbox/stored-query';
import { parse } from '../../src/lql/parse';
import { parseQuery } from '../../src/googlesql/parser';

jest.mock('../../src/googlesql/lexer', () => {
  const actual = jest.requireActual<{ lex: typeof lex }>('../../src/googlesql/lexer');
  return { ...actual, lex: jest.fn(actual.lex) };
});
jest.mock('../../src/lql/parse', () => {
  const actual = jest.requireActual<{ parse: typeof parse }>('../../src/lql/parse');
  return { ...actual, parse: jest.fn(actual.parse) };
});

const SQL = 'WITH t AS (SELECT id, n FROM raw) SELECT id FROM t';
const STORED: StoredQuery = {
  id: 'e',
  revision: '1',
  sql: SQL,
  query: parseQuery(SQL),
  cteTables: ['t'],
  parameters: [],
};

/** An engine whose tables have columns and whose wall lets everything through: it is the reading that is counted. */
const engine = {
  kind: 'bigquery',
  target: 'test',
  describe: () =>
    Promise.resolve([
      { name: 'id', type: { kind: 'STRING' } },
      { name: 'n', type: { kind: 'INT64' } },
    ]),
  inspect: () => Promise.resolve(),
} as unknown as Engine;

const gate = new Gate(engine);
const lexed = (): string[] => jest.mocked(lex).mock.calls.map(([sql]) => sql);

beforeEach(() => jest.clearAllMocks());
afterAll(() => gate.close());

test.each([
  ['a query', 'select id from t where n > 1'],
  ['one with a subquery and a CTE of its own', 'with u as (select n from t) select (select max(n) from u) as m from t'],
  ['one that is refused for its names', 'select nope from t'],
])('%s is lexed and parsed once', async (_name, text) => {
  await gate.admit(STORED, text).catch(() => null);
  expect(lexed()).toEqual([text]);
});

test('a query in its fenced form is lexed and parsed once', async () => {
  const text = 'select 1 / n as x from t';
  await gate.admit(STORED, text, { fenced: true });
  expect(lexed().filter((sql) => sql === text)).toHaveLength(1);
});

test('a lenient one is lexed as sent, for its casts, and as rewritten', async () => {
  await gate.admit(STORED, 'select n::text as x from t');
  expect(lexed()).toEqual([
    'select n::text as x from t',
    'select n::text as x from t',
    'select CAST(n AS STRING) as x from t',
  ]);
});

test('LQL is read once, and so is its SQL', async () => {
  const lql = openLql('s:id n:>1', { tables: ['t'], now: 0n });
  const translation = lql?.translate([{ name: 'id', type: { kind: 'STRING' } }]);
  await gate.admit(STORED, translation?.sql ?? '', { from: 'lql' });
  expect(parse).toHaveBeenCalledTimes(1);
  expect(lexed()).toEqual([translation?.sql]);
});
