import fc from 'fast-check';
import { readLql } from '@logquay/googlesql/lql';
import {
  levelOf,
  LEVELS,
  type NamedType,
  pathText,
  rolesOf,
  segmentsOf,
  type SqlType,
  type TimeUnit,
} from '@logquay/googlesql/types';

const scalar = (kind: 'STRING' | 'INT64' | 'FLOAT64' | 'TIMESTAMP' | 'DATETIME' | 'JSON'): SqlType => ({ kind });
const [text, int, float, time, civil, json] = (
  ['STRING', 'INT64', 'FLOAT64', 'TIMESTAMP', 'DATETIME', 'JSON'] as const
).map(scalar) as [SqlType, SqlType, SqlType, SqlType, SqlType, SqlType];
const record = (fields: Record<string, SqlType>): SqlType => ({ kind: 'STRUCT', fields: columns(fields) });
const list = (element: SqlType): SqlType => ({ kind: 'ARRAY', element });
const columns = (fields: Record<string, SqlType>): NamedType[] =>
  Object.entries(fields).map(([name, type]) => ({ name, type }));

/** Columns as loggers and pipelines write them; what is expected is `path`, with unit or scale. */
const SHAPES: readonly [
  name: string,
  columns: Record<string, SqlType>,
  units: Record<string, TimeUnit>,
  roles: readonly [time: string | null, message: string | null, severity: string | null],
][] = [
  ['pino', { level: int, time: int, pid: int, msg: text }, { time: 'ms' }, ['time ms', 'msg', 'level pino']],
  ['bunyan', { name: text, level: int, msg: text, time, v: int }, {}, ['time', 'msg', 'level pino']],
  ['winston', { level: text, message: text, timestamp: time }, {}, ['timestamp', 'message', 'level words']],
  ['zap', { level: text, ts: float, msg: text }, { ts: 's' }, ['ts s', 'msg', 'level words']],
  ['serilog', { '@t': time, '@mt': text, '@m': text, '@l': text }, {}, ['@t', '@m', '@l words']],
  ['structlog', { event: text, level: text, timestamp: time }, {}, ['timestamp', 'event', 'level words']],
  [
    'ECS',
    { '@timestamp': time, message: text, log: record({ level: text, logger: text }) },
    {},
    ['@timestamp', 'message', 'log.level words'],
  ],
  [
    'Cloud Logging',
    { receive_timestamp: time, timestamp: time, severity: text, text_payload: text, json_payload: json },
    {},
    ['timestamp', 'text_payload', 'severity words'],
  ],
  ['its JSON', { timestamp: time, json_payload: json }, {}, ['timestamp', 'json_payload.message', null]],
  [
    'its export',
    { timestamp: time, severity: text, jsonPayload: record({ message: text }) },
    {},
    ['timestamp', 'jsonPayload.message', 'severity words'],
  ],
  [
    'OpenTelemetry',
    { observed_timestamp: time, timestamp: time, severity_number: int, body: text, trace_id: text },
    {},
    ['timestamp', 'body', 'severity_number otel'],
  ],
  [
    'GA4',
    { event_date: text, event_timestamp: int, event_name: text, user_first_touch_timestamp: int },
    { event_timestamp: 'us', user_first_touch_timestamp: 'us' },
    ['event_timestamp us', 'event_name', null],
  ],
  [
    'journald',
    { __REALTIME_TIMESTAMP: int, MESSAGE: text, PRIORITY: text },
    { __REALTIME_TIMESTAMP: 'us' },
    ['__REALTIME_TIMESTAMP us', 'MESSAGE', 'PRIORITY syslog'],
  ],
  ['CloudTrail', { eventTime: time, eventName: text }, {}, ['eventTime', 'eventName', null]],
  ['docker', { log: text, stream: text, time }, {}, ['time', 'log', null]],
  ['nginx', { time_local: time, request: text, status: int }, {}, ['time_local', 'request', 'status http']],
  [
    'Supabase',
    { timestamp: time, event_message: text, metadata: list(record({ response: list(record({ status_code: int })) })) },
    {},
    ['timestamp', 'event_message', 'metadata.response.status_code http'],
  ],
  ['a DATETIME', { a: civil, n: int }, {}, ['a', null, null]],
  ['numbers that are no times', { time: int, n: float }, {}, [null, null, null]],
  ['two times of no known name', { a: time, b: time }, {}, [null, null, null]],
];

test.each(SHAPES)('the roles of %s', (_, given, units, expected) => {
  const { time, message, severity } = rolesOf(columns(given), {}, new Map(Object.entries(units)));
  const shown = (path?: readonly string[], more?: string | null): string | null =>
    path === undefined ? null : [path.join('.'), more].filter(Boolean).join(' ');
  expect([shown(time?.path, time?.unit), shown(message?.path), shown(severity?.path, severity?.scale)]).toEqual(
    expected,
  );
});

test('what is set counts where the columns have it, and infers nothing else', () => {
  const given = columns({ at: int, timestamp: time, a: record({ b: text }), attributes: json, level: text });
  const set = {
    time: { path: ['at'], unit: 'ms' as const },
    message: ['a', 'B'],
    severity: ['attributes', 'http.status'],
    trace: ['nosuch'],
  };
  expect(rolesOf(given, set)).toEqual({
    time: { path: ['at'], type: int, unit: 'ms' },
    message: { path: ['a', 'b'], type: text },
    severity: { path: ['attributes', 'http.status'], type: json, scale: 'http' },
    trace: null,
  });
  expect(rolesOf(given, { time: { path: ['a', 'b'], unit: 'ms' } }).time?.path).toEqual(['timestamp']);
});

test('a path is read back as it was written, in filters, selections and charts', () => {
  const known = fc.constantFrom(
    'a',
    's',
    't',
    'select',
    'm_x',
    '@timestamp',
    'app.k8s.io/name',
    '404',
    'user-agent',
    'x:y',
    'é',
  );
  const name = fc.oneof(known, fc.stringMatching(/^[^`"\\\s\p{Cc}]{1,8}$/u));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (segments) => {
      fc.pre(!(segments[0] === 'm' && segments.length > 1));
      const path = pathText(segments);
      expect(segmentsOf(path)).toEqual(segments);
      const inCall = /[()]/.test(path) ? '' : ` c:max(${path})`;
      const reading = readLql(`${path}:1 s:${path}@x${inCall}`, { tables: ['logs'], now: 0n });
      if (reading.kind === 'blank') throw new Error('blank');
      const { filters, select, chart } = reading.rules;
      expect([filters[0]?.path, select[0]?.path, inCall === '' ? path : chart?.path]).toEqual([path, path, path]);
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('levels of the scales are in one order', () => {
  for (const [scale, values] of [
    ['words', ['TRACE', 'Information', 'notice', 'warn', 'SEVERE', 'fatal', 'alert', 'emerg']],
    ['otel', [1, 8, 9, 12, 13, '17', 21, 24]],
    ['pino', [10, 20, 30, '40', 50, 60]],
    ['syslog', ['7', 6, 5, 4, 3, 2, 1, 0]],
    ['http', [200, 302, 404, 503, 599]],
  ] as const) {
    const ranks = values.map((value) => LEVELS.indexOf(levelOf(scale, value) ?? 'debug'));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    expect(levelOf(scale, values.at(-1))).not.toBeNull();
  }
  for (const [scale, value] of [
    ['pino', 35],
    ['otel', 0],
    ['syslog', 8],
    ['http', 600],
    ['words', 'nothing'],
    ['words', null],
  ] as const) {
    expect(levelOf(scale, value)).toBeNull();
  }
});
