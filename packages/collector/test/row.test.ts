/** Events in every form that shippers of Logflare send, as rows. */
import { LOG_SCHEMA } from '../../../src/engines/log-schema';
import fc from 'fast-check';

import { columnName, shapeOf } from '../src/shape';
import { rowOf } from '../src/row';
import { parseLine } from '../../duckdb-engine/src/data/json-line';

const ARRIVED = '2026-11-22T12:00:00.000Z';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A number as it comes out of a body. */
const long = (digits: string): unknown => (parseLine(`[${digits}]`) as unknown[])[0];

function row(table: string, event: unknown): Record<string, unknown> {
  const stored = rowOf(event, { table, shape: shapeOf(LOG_SCHEMA.get(table) ?? null) }, ARRIVED);
  if (stored === null) throw new Error('not an event');
  return stored;
}

describe('an event', () => {
  it('has its message under either name, an id, a project and metadata in lists', () => {
    const event = { message: 'GET /', metadata: { request: { method: 'GET', headers: { host: 'h' } } } };
    expect(row('raw_edge_logs', event)).toEqual({
      timestamp: ARRIVED,
      id: expect.stringMatching(UUID),
      event_message: 'GET /',
      project: 'default',
      metadata: [{ request: [{ method: 'GET', headers: [{ host: 'h' }] }] }],
    });
    expect(row('t', { event_message: 'x', id: 'given' })).toMatchObject({ id: 'given', event_message: 'x' });
    expect(row('t', { event_message: { a: 1 } }).event_message).toBe('{"a":1}');
    const digits = '12345678901234567890';
    expect(row('t', { event_message: { a: [long(digits)] } }).event_message).toBe(`{"a":[${digits}]}`);
    expect(row('t', { event_message: long(digits) }).event_message).toBe(digits);
    expect(row('t', {}).id).not.toBe(row('t', {}).id);
  });

  it('without metadata has an empty record where its table has records there', () => {
    expect(row('raw_auth_logs', { message: 'started' }).metadata).toEqual([{}]);
    expect(row('raw_auth_logs', { message: 'started', metadata: { msg: '' } }).metadata).toEqual([{}]);
    expect(row('t', { message: 'started' })).not.toHaveProperty('metadata');
  });

  it.each([null, 7, 'text', [1], true])('is not %j', (value) => {
    expect(rowOf(value, { table: 't', shape: null }, ARRIVED)).toBeNull();
  });

  it.each([
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000000Z'],
    ['2026-11-22T10:00:00.123456789Z', '2026-11-22T10:00:00.123456Z'],
    ['2026-11-22T11:00:00+01:00', '2026-11-22T10:00:00.000000Z'],
    [1_795_341_600, '2026-11-22T10:00:00.000000Z'],
    [1_795_341_600_123, '2026-11-22T10:00:00.123000Z'],
    [1_795_341_600_123_456, '2026-11-22T10:00:00.123456Z'],
    [1_795_341_600_123_456_000, '2026-11-22T10:00:00.123456Z'],
    [long('1795341600123456999'), '2026-11-22T10:00:00.123456Z'],
    ['1795341600123456999', '2026-11-22T10:00:00.123456Z'],
    [long('1795341600.1234569'), '2026-11-22T10:00:00.123456Z'],
    [long('-1795341600123456001'), '1913-02-09T13:59:59.876543Z'],
    ['yesterday', ARRIVED],
    ['', ARRIVED],
    [null, ARRIVED],
    [{}, ARRIVED],
    [1e300, ARRIVED],
  ])('of the time %j is at %s', (timestamp, expected) => {
    expect(row('t', { timestamp }).timestamp).toBe(expected);
  });

  it.each([
    ['raw_realtime_logs', { project: 'abc' }, { project: 'abc' }],
    ['raw_storage_logs', { metadata: { project: 'abc' } }, { project: 'abc' }],
    ['raw_function_edge_logs', { metadata: { project_ref: 'abc' } }, { project_ref: 'abc' }],
    ['raw_function_logs', { project: 'abc' }, { project_ref: 'abc' }],
    ['raw_realtime_logs', { project: 'outer', metadata: [{ project: 'inner' }] }, { project: 'inner' }],
    ['raw_realtime_logs', {}, { project: 'default' }],
  ])('in %s has its project where the stored queries look: %j', (table, event, metadata) => {
    expect(row(table, event).metadata).toMatchObject([metadata]);
  });

  it('has its project at the top where queries look there', () => {
    expect(row('raw_postgres_logs', { project: 'abc' }).project).toBe('abc');
    expect(row('raw_postgres_logs', { metadata: { project: 'abc' } }).project).toBe('abc');
    expect(row('raw_storage_logs', { metadata: { project: 'abc' } }).project).toBe('abc');
  });

  it("has the owner's project in every place where queries look, whatever it says itself", () => {
    const texts = fc.constantFrom('victim', 'http://victim/rest/v1', '/rest/v1', 'VICTIM');
    const name = fc.constantFrom(
      ...[
        'project',
        'Project',
        'PROJECT',
        'project_ref',
        'Project_Ref',
        'project-ref',
        'metadata',
        'Metadata',
        'request',
        'url',
      ],
      ...['path', 'host', 'message', 'timestamp', 'Timestamp', 'id', '__proto__'],
    );
    const { event } = fc.letrec((tie) => ({
      event: fc.dictionary(
        name,
        fc.oneof({ maxDepth: 4 }, texts, tie('event'), fc.array(tie('event'), { maxLength: 3 })),
      ),
    }));
    /** Values of a field in a record or in all records of a list. */
    const of = (value: unknown, field: string): unknown[] =>
      [value]
        .flat()
        .flatMap((one) => (typeof one === 'object' && one !== null ? [(one as Record<string, unknown>)[field]] : []));
    fc.assert(
      fc.property(fc.constantFrom('app_logs', ...LOG_SCHEMA.keys()), event, (table, sent) => {
        // As it comes out of a body: a member named __proto__ is one like any other.
        const parsed: unknown = JSON.parse(JSON.stringify(sent));
        const stored = rowOf(parsed, { table, shape: shapeOf(LOG_SCHEMA.get(table) ?? null) }, ARRIVED, 'abc') ?? {};
        expect(stored['project']).toBe('abc');
        // The engine has one column of names that differ in case alone.
        const columns = Object.keys(stored).map((column) => column.toLowerCase());
        expect(new Set(columns).size).toBe(columns.length);
        for (const field of ['project', 'project_ref', 'Project', 'Project_Ref', 'PROJECT']) {
          for (const value of [stored[field], ...of(stored['metadata'], field)])
            expect([undefined, 'abc']).toContain(value);
        }
        if (table !== 'raw_edge_logs') return;
        for (const request of of(stored['metadata'], 'request')) {
          for (const url of of(request, 'url')) expect(url ?? 'http://abc/').toMatch(/^http:\/\/abc\//);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('loses what does not fit its declared field, and nothing else', () => {
    const metadata = {
      status: 'not a number',
      duration: '12',
      error: { code: 500 },
      level: 7,
      args: 'one',
      auth_event: 'no record',
      unknown_field: { a: { b: 1 } },
    };
    expect(row('raw_auth_logs', { event_message: 'x', metadata }).metadata).toEqual([
      {
        duration: '12',
        error: '{"code":500}',
        level: '7',
        args: ['one'],
        unknown_field: [{ a: [{ b: 1 }] }],
      },
    ]);
  });

  it.each([{ id: 1 }, [1, 'a'], {}, [], [[{ a: [null, ''] }]], 'text', 7, false])(
    'has a field that is declared JSON as it is: %j',
    (extra) => {
      const json = { type: 'JSON', mode: 'NULLABLE', fields: [] } as const;
      const shape = shapeOf(['extra', 'message'].map((name) => ({ name, ...json })));
      const event = { extra, event_message: extra };
      expect(rowOf(event, { table: 't', shape }, ARRIVED)).toMatchObject({ extra, message: extra });
    },
  );

  it('leaves out what is empty and cuts what is too deep', () => {
    const metadata = { a: null, b: '', c: {}, d: [], e: { f: null }, g: [null, '', {}], h: [[1]], i: false, j: 0 };
    expect(row('t', { metadata }).metadata).toEqual([{ h: ['[1]'], i: false, j: 0 }]);
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = { a: deep };
    expect(() => JSON.stringify(row('t', { metadata: deep, other: 1 }))).not.toThrow();
    expect(row('t', { metadata: deep, other: 1 }).other).toBe(1);
  });

  it('is no way to a prototype', () => {
    const stored = row('t', JSON.parse('{"__proto__":{"polluted":1},"metadata":{"__proto__":{"polluted":1},"a":1}}'));
    expect(stored.metadata).toEqual([{ a: 1 }]);
    expect(Object.getPrototypeOf(stored)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('a line of a gateway', () => {
  const LINE =
    '172.18.0.1 - - [22/Nov/2026:10:00:00 +0000] "GET /rest/v1/todos?select=* HTTP/1.1" 200 12 "-" "curl/8.5.0"';

  it('gives method, path, query, status and URL where VRL has none', () => {
    // What Vector 0.53 sends: `parse_nginx_log` has neither method nor path.
    const metadata = {
      request: { headers: { cf_connecting_ip: '172.18.0.1' }, method: null, path: null },
      response: { status_code: 200 },
    };
    expect(row('raw_edge_logs', { event_message: LINE, project: 'abc', metadata }).metadata).toEqual([
      {
        request: [
          {
            method: 'GET',
            path: '/rest/v1/todos',
            search: '?select=*',
            protocol: 'HTTP/1.1',
            url: 'http://abc/rest/v1/todos?select=*',
            headers: [{ cf_connecting_ip: '172.18.0.1', user_agent: 'curl/8.5.0' }],
          },
        ],
        response: [{ status_code: 200 }],
      },
    ]);
  });

  it('keeps what is there, and adds a URL alone to a path', () => {
    const request = { method: 'GET', path: '/auth/v1/token?x=1', host: 'localhost:8000' };
    const stored = row('raw_edge_logs', { event_message: 'an error', metadata: { request } });
    expect(stored.metadata).toEqual([{ request: [{ ...request, url: 'http://localhost:8000/auth/v1/token?x=1' }] }]);
    const whole = { ...request, url: 'https://abc.supabase.co/auth' };
    expect(row('raw_edge_logs', { event_message: LINE, metadata: { request: whole } }).metadata).toEqual([
      { request: [whole] },
    ]);
  });

  it('is read in linear time, and only where it is one', () => {
    for (const text of ['', 'x'.repeat(1e6), '1 - - ['.repeat(1e5), `1 - - [a] "${'A'.repeat(1e6)}`]) {
      const stored = row('raw_edge_logs', { event_message: text });
      expect(stored.metadata).toEqual([{}]);
    }
    expect(row('raw_auth_logs', { event_message: LINE }).metadata).toEqual([{}]);
  });
});

describe('a line of Postgres', () => {
  const severity = (event: object): unknown => row('raw_postgres_logs', event).metadata;

  it('has a severity where the shipper has found none: that of the line, or LOG', () => {
    // What Vector sends of a line on which the stack's VRL fails.
    expect(severity({ event_message: '\tSELECT * FROM todo;' })).toEqual([{ parsed: [{ error_severity: 'LOG' }] }]);
    const message = '2026-11-22 10:00:06.000 UTC [88] FATAL:  LOG: too many connections';
    expect(severity({ message })).toEqual([{ parsed: [{ error_severity: 'FATAL' }] }]);
    const metadata = { host: 'db', parsed: { user_name: 'postgres', error_severity: null } };
    expect(severity({ message: 'LOGS: x', metadata })).toEqual([
      { host: 'db', parsed: [{ user_name: 'postgres', error_severity: 'LOG' }] },
    ]);
  });

  it('keeps the one that is there', () => {
    const metadata = { parsed: [{ error_severity: 'ERROR' }] };
    expect(severity({ message: 'LOG:  x', metadata })).toEqual([metadata]);
  });
});

it.each([
  ['plain_1', 'plain_1'],
  ['user-agent', '_user_agent'],
  ['1st', '_1st'],
  ['1-st', '_1_st'],
  ['a.b', '_a_b'],
  ['a-b.c', '__a_b_c'],
  ['ü', '__'],
  ['_TABLE_x', '__TABLE_x'],
  ['_TABLE_x-y', '___TABLE_x_y'],
  ['x'.repeat(130), `_${'x'.repeat(128)}`],
])('the column of the field %s is %s, as in Logflare', (field, column) => {
  expect(columnName(field)).toBe(column);
});
