/** What the explorer makes of results: values of fields, charts, requests for other programs. */
import fc from 'fast-check';

import { chartOf, type TimeChart } from '../src/chart-of';
import { valueAt } from '../src/exact-json';
import { fieldsOf, presentIn, spreadOf, topValues, typesOfRows } from '../src/field-values';
import { bucketsOf, ticksOf } from '../src/histogram/buckets';
import { lqlSpans, sqlSpans } from '../src/editor/spans';
import { clauseOf, Patterns } from '../src/patterns';
import { RowFile } from '../src/row-file';
import { fieldExpression, severityExpression, severityOf } from '../src/severity';
import { curlOf, endpointFileOf, fetchOf, postmanOf } from '../src/snippets';
import { rolesOf } from '../../googlesql/src/roles';
import type { NamedType, SqlType } from '../../googlesql/src/types';

const records = (...fields: NamedType[]): SqlType => ({ kind: 'ARRAY', element: { kind: 'STRUCT', fields } });
const TYPES: readonly NamedType[] = [
  { name: 'id', type: { kind: 'STRING' } },
  {
    name: 'metadata',
    type: records({ name: 'response', type: records({ name: 'status_code', type: { kind: 'INT64' } }) }),
  },
];
const row = (status: number | null) => ({ id: 'a', metadata: [{ response: [{ status_code: status }] }] });

it('finds fields by types, or in rows, and counts their values', () => {
  const paths = ['id', 'metadata.response.status_code'];
  expect(fieldsOf(TYPES).map(({ path }) => path)).toEqual(paths);
  expect(fieldsOf(typesOfRows([row(null), row(200)])).map(({ path }) => path)).toEqual(paths);
  const rows = [row(200), row(500), row(200), row(null), { id: 'b', __proto__: null }];
  const names = ['metadata', 'response', 'status_code'];
  expect(topValues(rows, names, 1)).toEqual({ values: [{ value: 200, count: 2 }], present: 3, distinct: 2, total: 5 });
  expect([...presentIn([row(null), {}], fieldsOf(TYPES))]).toEqual(['id']);
  expect(spreadOf(rows, names)).toEqual({ minimum: 200, median: 200, p95: 500, maximum: 500 });
  expect(spreadOf([row(null)], names)).toBeNull();
});

it('reaches values through records, lists of one, pairs and JSON, in rows and by an expression alike', () => {
  const pair = { kind: 'STRUCT' as const, fields: [text('key'), text('value')] };
  const members: SqlType = { kind: 'STRUCT', fields: [text('string_value'), number('int_value')] };
  const columns: NamedType[] = [
    ...TYPES,
    { name: 'attributes', type: { kind: 'ARRAY', element: pair } },
    { name: 'event_params', type: records(text('key'), { name: 'value', type: members }) },
    { name: 'payload', type: { kind: 'JSON' } },
  ];
  const whole = {
    ...row(503),
    attributes: [
      { key: 'a', value: '1' },
      { key: 'http.status', value: '2' },
    ],
    event_params: [
      { key: 'page', value: { string_value: '/', int_value: null } },
      { key: 'ga.id', value: { string_value: null, int_value: 7 } },
    ],
    payload: { 'it\'s "x"': { n: 3 } },
  };
  const cases = [
    [
      ['metadata', 'response', 'status_code'],
      503,
      'q.`metadata`[SAFE_OFFSET(0)].`response`[SAFE_OFFSET(0)].`status_code`',
    ],
    [
      ['attributes', 'http', 'status'],
      '2',
      "(SELECT p.`value` FROM UNNEST(q.`attributes`) AS p WHERE p.`key` = 'http.status' LIMIT 1)",
    ],
    [
      ['event_params', 'ga', 'id', 'int_value'],
      7,
      "(SELECT p.`value`.`int_value` FROM UNNEST(q.`event_params`) AS p WHERE p.`key` = 'ga.id' LIMIT 1)",
    ],
    [
      ['payload', 'it\'s "x"', 'n'],
      3,
      String.raw`COALESCE(JSON_VALUE(q.${'`payload`'}, '$."it\'s \\"x\\""."n"'), JSON_VALUE(q.${'`payload`'}, '$."it\'s \\"x\\".n"'))`,
    ],
  ] as const;
  for (const [path, value, sql] of cases) {
    expect(valueAt(whole, path)).toBe(value);
    expect(fieldExpression(columns, 'q', path)?.sql).toBe(sql);
  }
  // The field list has what can be counted, and takes for empty only what is.
  const shown = fieldsOf(columns, [whole]);
  const present = presentIn([whole], shown);
  expect(shown.map(({ path }) => path).filter((path) => !present.has(path))).toEqual([
    'event_params.page.int_value',
    'event_params.ga.id.string_value',
  ]);
  for (const { names } of shown) expect(fieldExpression(columns, 'q', names)).not.toBeNull();
  expect(valueAt(whole, ['metadata', 'nothing', 'here'])).toBeUndefined();
  expect(fieldExpression(columns, 'q', ['metadata', 'nothing'])).toBeNull();
});

it('tells severity by the role, and by no other field', () => {
  const { severity } = rolesOf(TYPES);
  expect(severityOf(row(503), severity)).toBe('error');
  expect(severityExpression(TYPES, severity, 'q')).toContain("BETWEEN 500 AND 599 THEN 'error'");
  expect(severityExpression(TYPES.slice(0, 1), rolesOf(TYPES.slice(0, 1)).severity, 'q')).toBeNull();
  const pino = rolesOf([{ name: 'level', type: { kind: 'INT64' } }]).severity;
  expect([10, 20, 30, 40, 50, 60, 35].map((level) => severityOf({ level }, pino))).toEqual([
    ...['debug', 'debug', 'info', 'warning', 'error', 'error', null],
  ]);
});

const text = (name: string): NamedType => ({ name, type: { kind: 'STRING' } });
const number = (name: string): NamedType => ({ name, type: { kind: 'INT64' } });
const time: NamedType = { name: 't', type: { kind: 'TIMESTAMP' } };
const MINUTE = 60;
const at = (minutes: number): number => (1_790_000_040 + minutes * MINUTE) * 1e6;

it('draws numbers over their time or by category, and nothing that would be nonsense', () => {
  const bars = [
    { status: 200n, n: 5 },
    { status: 500n, n: 1n },
  ];
  for (const kind of [number, text]) {
    expect(chartOf([kind('status'), number('n')], bars, null)).toEqual({
      kind: 'bars',
      category: 'status',
      measure: 'n',
      bars: [
        { label: '200', value: 5, severity: 'info' },
        { label: '500', value: 1, severity: 'error' },
      ],
    });
  }
  // Rows of one category are no groups, and a number by itself has none.
  expect(chartOf([number('status'), number('n')], [...bars, ...bars], null)).toBeNull();
  expect(chartOf([text('status')], bars, null)).toBeNull();
  expect(chartOf([number('n')], bars, null)).toBeNull();
  expect(
    chartOf(
      [time, number('n')],
      [
        { t: at(0), n: 1 },
        { t: at(0), n: 2 },
      ],
      null,
    ),
  ).toBeNull();
});

it('draws what is missing between equal steps as zero where it is a count, and as a gap where it is none', () => {
  const rows = [0, 1, 4].map((minutes) => ({ t: at(minutes), n: 2 }));
  const bounds = { start: at(-2) / 1000, end: at(6) / 1000 };
  const { times, series } = chartOf([time, number('n')], rows, bounds) as TimeChart;
  expect(times.map((one) => (one - at(0) / 1e6) / MINUTE)).toEqual([-2, -1, 0, 1, 2, 3, 4, 5]);
  expect(series).toEqual([{ name: 'n', values: [0, 0, 2, 2, 0, 0, 2, 0], severity: null }]);
  const averages = rows.map(({ t }) => ({ t, n: 0.5 }));
  const mean: NamedType = { name: 'n', type: { kind: 'FLOAT64' } };
  expect((chartOf([time, mean], averages, null) as TimeChart).series[0]?.values).toEqual([0.5, 0.5, null, null, 0.5]);
  // Months are no equal steps: nothing is put between them.
  const months = ['2026-01-01', '2026-02-01', '2026-03-01'].map((t) => ({ t, n: 1 }));
  expect((chartOf([{ name: 't', type: { kind: 'DATE' } }, number('n')], months, null) as TimeChart).times).toHaveLength(
    3,
  );
});

it('draws a number for each group, the gravest first, and codes by their class where there are many', () => {
  const rows = [
    { t: at(1), status: 500n, n: 2 },
    { t: at(0), status: 200, n: 5 },
    { t: at(1), status: 200, n: 7 },
    { t: at(1), status: null, n: null },
  ];
  const types = [time, number('status'), number('n')];
  expect(chartOf(types, rows, null)).toEqual({
    kind: 'times',
    times: [at(0) / 1e6, at(1) / 1e6],
    series: [
      { name: '500', values: [0, 2], severity: 'error' },
      { name: '200', values: [5, 7], severity: 'info' },
      { name: 'null', values: [0, 0], severity: null },
    ],
    isGrouped: true,
  });
  const names = (codes: readonly number[]): (readonly [string, number | null | undefined])[] =>
    (
      chartOf(
        types,
        codes.map((status, i) => ({ t: at(0), status, n: 12 - i })),
        null,
      ) as TimeChart
    ).series.map(({ name, values }) => [name, values[0]]);
  expect(names([200, 201, 204, 206, 304, 400, 401, 404, 500])).toEqual([
    ...([
      ['5xx', 4],
      ['4xx', 18],
      ['2xx', 42],
      ['3xx', 8],
    ] as const),
  ]);
  const others = names(Array.from({ length: 12 }, (_, i) => i));
  expect(others.map(([name]) => name)).toEqual(['0', '1', '2', '3', '4', '5', '6', 'others']);
  expect(others.at(-1)?.[1]).toBe(5 + 4 + 3 + 2 + 1);
  const two = [time, text('method'), text('path'), number('n')];
  const grouped = chartOf(
    two,
    [
      { t: at(0), method: 'GET', path: '/a', n: 1 },
      { t: at(0), method: 'GET', path: '/b', n: 2 },
    ],
    null,
  );
  expect((grouped as TimeChart).series.map(({ name }) => name)).toEqual(['GET · /b', 'GET · /a']);
});

it('keeps all rows of all templates, whatever they are of, and finds their words again', () => {
  const found = new Patterns();
  const messages = Array.from({ length: 500 }, (_, i) =>
    i % 3 === 0
      ? `user ${i} logged in from 10.0.0.${i % 256}`
      : i % 3 === 1
        ? `connection to "db${i}" lost`
        : `\u202e ${'x '.repeat(i)}`,
  );
  for (const message of messages) found.add(message);
  expect(found.all.reduce((sum, { count }) => sum + count, 0)).toBe(500);
  const logins = found.all.find(({ template }) => template[0] === 'user');
  expect(logins).toMatchObject({ template: ['user', null, 'logged', 'in', 'from', null], count: 167 });
  expect(clauseOf(logins!)).toBe('"logged in from"');
  for (const pattern of found.all) {
    const clause = clauseOf(pattern);
    // What the clause looks for is in the sample.
    if (clause !== null) expect(pattern.sample).toContain(JSON.parse(clause));
  }
});

it('finds each message of a pattern by its clause, whatever blanks stand between the words', () => {
  const words = ['the', 'user', 'named', 'x1', 'has', 'been', 'logged', 'out'];
  const blanks = fc.array(fc.constantFrom(' ', ' ', ' ', '  ', '\t', ' \n'), { minLength: 8, maxLength: 8 });
  const message = blanks.map((all) => words.map((word, i) => `${all[i] ?? ''}${word}`).join(''));
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 3 }), (messages) => {
      const found = new Patterns();
      for (const one of messages) found.add(one);
      expect(found.all).toHaveLength(1);
      const clause = JSON.parse(clauseOf(found.all[0]!) ?? '""') as string;
      for (const one of messages) expect(one).toContain(clause);
    }),
  );
});

it('writes files with the shown columns, times as ISO 8601, and no formulas', async () => {
  const types = [time, text('message'), ...TYPES.slice(1)];
  const one = { t: 1_790_000_040_000_001n, message: '=1+1, "x"', metadata: row(500).metadata };
  const file = async (form: string, columns: readonly string[] | null): Promise<string> => {
    const made = new RowFile(form, types, columns);
    made.add([one]);
    made.add([one]);
    return made.finish('text/plain').text();
  };
  const columns = ['t', 'metadata.response.status_code', 'message'];
  const line = `2026-09-21T14:14:00.000001Z,500,"'=1+1, ""x"""\r\n`;
  expect(await file('csv', columns)).toBe(`t,m.response.status_code,message\r\n${line}${line}`);
  const json: unknown = JSON.parse(await file('json', columns));
  expect(json).toEqual(
    new Array(2).fill({ t: '2026-09-21T14:14:00.000001Z', 'm.response.status_code': 500, message: one.message }),
  );
  const lines = (await file('ndjson', null)).trim().split('\n');
  expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual(
    new Array(2).fill({ t: '2026-09-21T14:14:00.000001Z', message: one.message, metadata: one.metadata }),
  );
});

it('cuts a range into buckets that begin at round times, and no more than asked for', () => {
  const bounds = { start: Date.parse('2026-09-30T10:07:13Z'), end: Date.parse('2026-09-30T13:07:13Z') };
  const { start, step, count } = bucketsOf(bounds, 'utc', 100);
  expect([new Date(start).toISOString(), step, count]).toEqual(['2026-09-30T10:06:00.000Z', 120_000, 91]);
  for (const length of [1, 999, 60_000, 86_400_000, 366 * 86_400_000, 3660 * 86_400_000])
    expect(bucketsOf({ start: bounds.start, end: bounds.start + length }, 'utc', 100).count).toBeLessThanOrEqual(100);
  expect(ticksOf(bounds, 'utc', 6).map((at) => new Date(at).getUTCMinutes())).toEqual([0, 0, 0]);
});

it('colours SQL and LQL by what is written, in order and without a gap in a text that is not finished', () => {
  const text = "SELECT COUNT(*) -- all\nFROM t WHERE x = 'a' AND y = @p AND z = 'open";
  const found = sqlSpans(text).map(({ start, end, colour }) => [text.slice(start, end), colour]);
  expect(found).toEqual([
    ['SELECT', 'keyword'],
    ['COUNT', 'function'],
    ['-- all', 'comment'],
    ['FROM', 'keyword'],
    ['WHERE', 'keyword'],
    ["'a'", 'string'],
    ['AND', 'keyword'],
    ['p', 'parameter'],
    ['AND', 'keyword'],
  ]);
  const line = 'f:edge_logs -m.level:info m.n:>=5 "two words" ok';
  expect(lqlSpans(line).map(({ start, end, colour }) => [line.slice(start, end), colour])).toEqual([
    ['f:', 'keyword'],
    ['edge_logs', 'string'],
    ['-', 'keyword'],
    ['m.level:', 'field'],
    ['info', 'string'],
    ['m.n:', 'field'],
    ['>=', 'keyword'],
    ['5', 'number'],
    ['"two words"', 'string'],
  ]);
});

describe('a request for other programs', () => {
  const request = {
    base: 'https://logs.example.com/sub/',
    endpoint: {
      id: '1',
      name: 'logs.all',
      description: '',
      params: [{ name: 'project', type: 'string', required: true, description: '' }],
      maxRows: 1000,
      cacheTtl: 0,
      sandbox: true,
      redactPii: false,
      tables: ['edge_logs'],
    },
    parameters: new Map([
      ['project', "it's"],
      ['sql', 'SELECT "a"\nFROM edge_logs'],
    ]),
  };

  it('is quoted for a shell and for JavaScript', () => {
    expect(curlOf(request).split(' \\\n  ').slice(0, 2)).toEqual([
      `curl --get -H "X-API-KEY: $KEY" 'https://logs.example.com/sub/api/endpoints/query/logs.all'`,
      `--data-urlencode 'project=it'\\''s'`,
    ]);
    expect(fetchOf(request)).toContain('["sql", "SELECT \\"a\\"\\nFROM edge_logs"],');
  });

  it('is a collection of Postman, and an endpoint file with the SQL', () => {
    const { item } = JSON.parse(postmanOf(request)) as { item: { request: { url: { path: string[] } } }[] };
    expect(item[0]?.request.url.path).toEqual(['sub', 'api', 'endpoints', 'query', 'logs.all']);
    expect(endpointFileOf(request, 'SELECT 1', 'an-id')).toMatch(
      /^\/\*\nid: an-id\n[\s\S]+ {2}project:\n {4}type: string\n {4}required: true\n\*\/\n/,
    );
  });
});
