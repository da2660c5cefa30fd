/** What the explorer makes of results: values of fields, charts, requests for other programs. */
import { chartOf, type TimeChart } from '../src/chart-of';
import { fieldsOf, topValues } from '../src/field-values';
import { bucketsOf, ticksOf } from '../src/histogram/buckets';
import { lqlSpans, sqlSpans } from '../src/editor/spans';
import { severityExpression } from '../src/severity';
import { curlOf, endpointFileOf, fetchOf, postmanOf } from '../src/snippets';
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
  expect(fieldsOf(TYPES, []).map(({ path }) => path)).toEqual(paths);
  expect(fieldsOf(null, [row(200)]).map(({ path }) => path)).toEqual(paths);
  const rows = [row(200), row(500), row(200), row(null), { id: 'b', __proto__: null }];
  expect(topValues(rows, ['metadata', 'response', 'status_code'], 1)).toEqual({
    values: [{ value: 200, count: 2 }],
    present: 3,
    distinct: 2,
    total: 5,
  });
});

it('tells severity by the fields that there are', () => {
  expect(severityExpression(TYPES, 'q')).toContain(
    'q.`metadata`[SAFE_OFFSET(0)].`response`[SAFE_OFFSET(0)].`status_code`',
  );
  expect(severityExpression(TYPES.slice(0, 1), 'q')).toBeNull();
});

it('draws numbers over their time or by category, and nothing else', () => {
  const at = [1_790_000_000_000_000, 1_790_000_060_000_000];
  const times = at.map((t, i) => ({ t, n: i, name: 'x' }));
  expect(chartOf(['t', 'n', 'name'], null, times)).toEqual({
    kind: 'times',
    times: [1_790_000_000, 1_790_000_060],
    series: [{ name: 'n', values: [0, 1] }],
    isGrouped: false,
  });
  const counts: NamedType[] = [
    { name: 'status', type: { kind: 'STRING' } },
    { name: 'n', type: { kind: 'INT64' } },
  ];
  const bars = [
    { status: '200', n: 5 },
    { status: '500', n: 1n },
  ];
  expect(chartOf(['status', 'n'], counts, bars)).toMatchObject({
    kind: 'bars',
    measure: 'n',
    bars: [{ value: 5 }, { value: 1 }],
  });
  expect(chartOf(['status'], counts, bars)).toBeNull();
});

it('draws a number for each group where rows share a time', () => {
  const [first, second] = [1_790_000_000_000_000, 1_790_000_060_000_000];
  const rows = [
    { t: second, status: 500n, n: 2 },
    { t: first, status: 200, n: 5 },
    { t: second, status: 200, n: 7 },
    { t: second, status: null, n: null },
  ];
  const types: NamedType[] = [
    { name: 't', type: { kind: 'TIMESTAMP' } },
    { name: 'status', type: { kind: 'INT64' } },
    { name: 'n', type: { kind: 'INT64' } },
  ];
  expect(chartOf(['t', 'status', 'n'], types, rows)).toEqual({
    kind: 'times',
    times: [1_790_000_000, 1_790_000_060],
    series: [
      { name: '200', values: [5, 7] },
      { name: '500', values: [0, 2] },
      { name: 'null', values: [0, 0] },
    ],
    isGrouped: true,
  });
  const many = Array.from({ length: 12 }, (_, i) => ({ t: first, status: i, n: 12 - i }));
  const { series } = chartOf(['t', 'status', 'n'], types, many) as TimeChart;
  expect(series.map(({ name }) => name)).toEqual(['0', '1', '2', '3', '4', '5', '6', 'others']);
  expect(series.at(-1)?.values).toEqual([5 + 4 + 3 + 2 + 1]);
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
