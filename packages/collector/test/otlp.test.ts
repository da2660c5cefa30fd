/** Records of OpenTelemetry as rows: what the exporters' own encoders make of any value, in protobuf as in JSON. */
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import fc from 'fast-check';

import { DECLARED_TABLES } from '../../../src/engines/log-schema';
import type { Batches, BatchFault } from '../src/batch';
import { type OtlpInput, readOtlp } from '../src/otlp';

const ARRIVED = '2026-11-22T12:00:00.000Z';

function read(body: Uint8Array | string, more: Partial<OtlpInput> = {}): Batches | BatchFault {
  const encoding = typeof body === 'string' ? 'json' : 'protobuf';
  const fields = DECLARED_TABLES.get('otel_logs') ?? null;
  const input = { encoding, fields, project: null, projectAttribute: null, arrived: ARRIVED, ...more } as const;
  return readOtlp({ ...input, body: Buffer.from(body) });
}

function linesOf(body: Uint8Array | string, more: Partial<OtlpInput> = {}): string[] {
  const batches = read(body, more);
  if ('fault' in batches) throw new Error(JSON.stringify(batches));
  return Buffer.from(batches.batches[0]?.lines ?? [])
    .toString()
    .split('\n')
    .slice(0, -1);
}

type Row = Readonly<Record<string, unknown>>;
const rowsOf = (...given: Parameters<typeof linesOf>): Row[] =>
  linesOf(...given).map((line) => JSON.parse(line) as Row);

/** One request with these records. */
const request = (records: readonly object[], resource: object = {}): string =>
  JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 's' }, logRecords: records }] }] });
const attribute = (key: string, value: object): object => ({ key, value });

type Emitted = Parameters<ReturnType<LoggerProvider['getLogger']>['emit']>[0];

/** What the exporters would send of these records. */
function exported(
  records: readonly Emitted[],
  resource: Record<string, string>,
): { protobuf: Uint8Array; json: string } {
  const memory = new InMemoryLogRecordExporter();
  const processors = [new SimpleLogRecordProcessor({ exporter: memory })];
  const provider = new LoggerProvider({ resource: resourceFromAttributes(resource), processors });
  for (const record of records) provider.getLogger('scope').emit(record);
  const logs = memory.getFinishedLogRecords();
  const json = Buffer.from(JsonLogsSerializer.serializeRequest(logs) ?? []).toString();
  return { protobuf: ProtobufLogsSerializer.serializeRequest(logs) ?? new Uint8Array(), json };
}

describe('a record', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 8 });
  // The SDK takes no attribute without a name.
  const named = texts.filter((name) => name !== '');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      texts,
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      // The JSON encoder of the SDK sends null for what JSON has no number for.
      fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
      fc.uint8Array({ maxLength: 5 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(texts, tie('value'), { maxKeys: 3 }),
    ),
  }));
  /** What a value becomes in JSON. */
  const asJson = (any: unknown): unknown => {
    if (any instanceof Uint8Array) return Buffer.from(any).toString('base64');
    if (Array.isArray(any)) return any.map(asJson);
    if (typeof any !== 'object' || any === null) return Object.is(any, -0) ? 0 : any;
    return Object.fromEntries(Object.entries(any).map(([key, one]) => [key, asJson(one)]));
  };

  it('is the same row from both encodings, whatever values it has', () => {
    fc.assert(
      fc.property(fc.dictionary(named, value, { maxKeys: 4 }), value, (attributes, body) => {
        const given = { attributes, body, severityText: 'Warn' } as Emitted;
        const record = { ...given, timestamp: new Date(1_795_341_600_123) };
        const { protobuf, json } = exported([record], { 'service.name': 'shop' });
        const [row = {}, ...others] = rowsOf(protobuf);
        expect(linesOf(json)).toEqual(linesOf(protobuf));
        expect(others).toEqual([]);
        expect(row).toMatchObject({
          timestamp: '2026-11-22T10:00:00.123000Z',
          severity_text: 'Warn',
          service_name: 'shop',
          scope_name: 'scope',
        });
        const stored = asJson(attributes) as Row;
        expect(row['log_attributes'] ?? {}).toEqual(JSON.parse(JSON.stringify(stored)));
        const text = asJson(body);
        const expected =
          text === null || text === '' ? undefined : typeof text === 'string' ? text : JSON.stringify(text);
        expect(row['body']).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps integers of 64 bits, numbers that JSON has not, nulls and names of any kind', () => {
    const body = request([
      {
        timeUnixNano: '18446744073709551615',
        attributes: [
          attribute('least', { intValue: '-9223372036854775808' }),
          attribute('most', { intValue: 1 }),
          attribute('nan', { doubleValue: 'NaN' }),
          attribute('zero', { doubleValue: -0.0 }),
          attribute('none', {}),
          attribute('__proto__', { kvlistValue: { values: [attribute('constructor', { bytesValue: '/w==' })] } }),
          attribute('', { arrayValue: {} }),
          attribute('twice', { intValue: 1 }),
          attribute('twice', { intValue: 2 }),
        ],
      },
    ]).replace('"most","value":{"intValue":1}', '"most","value":{"intValue":9223372036854775807}');
    const [line = ''] = linesOf(body.replace('"doubleValue":0}', '"doubleValue":-0.0}'));
    expect(line).toContain(
      '"log_attributes":{"least":-9223372036854775808,"most":9223372036854775807,"nan":"NaN","zero":-0.0,"none":null,' +
        '"__proto__":{"constructor":"/w=="},"":[],"twice":2}',
    );
    expect(line).toContain('"timestamp":"2554-07-21T23:34:33.709551Z"');
  });

  it.each([
    [{ timeUnixNano: '1795341600123456789', observedTimeUnixNano: 5 }, '2026-11-22T10:00:00.123456Z'],
    [{ timeUnixNano: 0, observedTimeUnixNano: '1795341600123456789' }, '2026-11-22T10:00:00.123456Z'],
    [{}, '2026-11-22T12:00:00.000Z'],
  ])('has its time, else when it was observed, else when it arrived: %j', (record, timestamp) => {
    expect(rowsOf(request([record]))[0]).toMatchObject({ timestamp });
  });

  it.each([
    [{ severityNumber: 9 }, { severity_number: 9, severity_text: 'INFO' }],
    [
      { severityNumber: 24, severityText: '' },
      { severity_number: 24, severity_text: 'FATAL4' },
    ],
    [
      { severityNumber: 17, severityText: 'err' },
      { severity_number: 17, severity_text: 'err' },
    ],
    [{ severityNumber: 99 }, { severity_number: 99, severity_text: undefined }],
    [{ severityNumber: 0 }, { severity_number: undefined, severity_text: undefined }],
  ])('has its severity, by the name of its number where it has no text: %j', (record, columns) => {
    expect({ severity_text: undefined, severity_number: undefined, ...rowsOf(request([record]))[0] }).toMatchObject(
      columns,
    );
  });

  it('has ids in hexadecimal, and none where they are invalid', () => {
    const ids = (traceId: string, spanId: string): unknown => {
      const { trace_id = null, span_id = null } = rowsOf(request([{ traceId, spanId }]))[0] ?? {};
      return [trace_id, span_id];
    };
    expect(ids('5B8EFFF798038103D269B633813FC60C', 'EEE19B7EC3C1B174')).toEqual([
      '5b8efff798038103d269b633813fc60c',
      'eee19b7ec3c1b174',
    ]);
    for (const id of ['', '0'.repeat(32), '0'.repeat(16), 'xyz', 'W47/95gDgQPSabYzgT/GDA==']) {
      expect(ids(id, id)).toEqual([null, null]);
    }
  });
});

describe('the project', () => {
  const named = (...projects: string[]): object => ({
    attributes: projects.map((project) => attribute('tenant.id', { stringValue: project })),
  });

  it('is what the resource says, where an attribute is named for it', () => {
    expect(rowsOf(request([{}], named('abc')))[0]).not.toHaveProperty('project');
    expect(rowsOf(request([{}], named('abc')), { projectAttribute: 'tenant.id' })[0]).toMatchObject({ project: 'abc' });
    expect(rowsOf(request([{}]), { projectAttribute: 'tenant.id' })[0]).not.toHaveProperty('project');
  });

  it("is the key's, whatever any resource or record says", () => {
    const victim = { stringValue: 'victim' };
    const record = {
      project: 'victim',
      body: { kvlistValue: { values: [attribute('project', victim)] } },
      attributes: [attribute('project', victim), attribute('tenant.id', victim)],
    };
    const scopeLogs = [{ scope: { name: 's', attributes: [attribute('project', victim)] }, logRecords: [record] }];
    const resources = [named('victim'), named('abc', 'victim'), {}, { attributes: [attribute('project', victim)] }];
    const body = JSON.stringify({
      resourceLogs: resources.map((resource) => ({ resource, project: 'victim', scopeLogs })),
    });
    const rows = rowsOf(body, { project: 'abc', projectAttribute: 'tenant.id' });
    expect(rows.map(({ project }) => project)).toEqual(['abc', 'abc', 'abc', 'abc']);
    for (const row of rows) expect(row['resource_attributes']).toMatchObject({ 'tenant.id': 'abc' });
  });

  it('makes two batches of the same bytes', () => {
    const digestOf = (project: string | null): unknown => {
      const batches = read(request([{}]), { project });
      return 'fault' in batches ? null : batches.batches[0]?.digest;
    };
    expect(new Set([digestOf(null), digestOf('abc'), digestOf('def'), digestOf('abc')]).size).toBe(3);
  });
});

describe('a request', () => {
  const { protobuf } = exported(
    Array.from({ length: 3 }, (_, i) => ({ body: { a: [i, 'x', { b: null }] }, attributes: { key: 'value' } })),
    { 'service.name': 'shop' },
  );

  it('of any bytes is read or refused, and never more than refused', () => {
    const changed = fc
      .array(fc.tuple(fc.nat(protobuf.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const bytes = Buffer.from(protobuf);
        for (const [at, byte] of changes) bytes[at] = byte;
        return bytes;
      });
    const cut = fc.nat(protobuf.length).map((end) => protobuf.subarray(0, end));
    fc.assert(
      fc.property(fc.oneof(changed, cut, fc.uint8Array({ maxLength: 40 })), (bytes) => {
        const batches = read(bytes);
        if ('fault' in batches) expect(batches.fault).toBe('malformed');
        else for (const line of linesOf(bytes)) JSON.parse(line);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['[]', 'the body must be an object'],
    ['{', 'it is not JSON'],
    ['{"resourceLogs":{}}', 'resourceLogs must be a list'],
    [
      request([{}, { timeUnixNano: 'now' }]),
      'resourceLogs[0].scopeLogs[0].logRecords[1].timeUnixNano must be an integer',
    ],
    [request([{ timeUnixNano: '18446744073709551616' }]), 'timeUnixNano must be an integer'],
    [request([{ severityText: 7 }]), 'severityText must be a text'],
    [request([{ attributes: [{ key: 'k', value: { boolValue: 'yes' } }] }]), 'attributes[0].boolValue must be'],
    [request([5 as unknown as object]), 'logRecords[0] must be an object'],
  ])('%s is refused, with the place', (body, what) => {
    expect(read(body)).toEqual({ fault: 'malformed', what: expect.stringContaining(what) });
  });

  it('has bounds of depth, of records, of values and of the rows that it makes', () => {
    const nested = (levels: number): string =>
      request([{ body: 'X' }]).replace('"X"', `${'{"arrayValue":{"values":['.repeat(levels)}{}${']}}'.repeat(levels)}`);
    expect(rowsOf(nested(32))[0]).toMatchObject({ body: `${'['.repeat(32)}null${']'.repeat(32)}` });
    expect(read(nested(33))).toMatchObject({ fault: 'malformed', what: expect.stringContaining('nested') });
    expect(read(nested(20_000))).toMatchObject({ fault: 'malformed' });
    // Each level is a field of the one around it.
    let deep = Buffer.alloc(0);
    for (let i = 0; i < 2_000; i++) deep = wrapped(i % 2 === 0 ? 1 : 5, deep);
    expect(read(wrapped(1, wrapped(2, wrapped(2, wrapped(5, deep)))))).toMatchObject({ fault: 'malformed' });
    expect(read(request(Array<object>(100_001).fill({})))).toEqual({ fault: 'too_many' });
    expect(read(Buffer.alloc(2_000_004, Buffer.from([0x0a, 0x00])))).toEqual({ fault: 'too_many_values' });
    const long = attribute('long', { stringValue: 'x'.repeat(1_000_000) });
    expect(read(request(Array<object>(50).fill({}), { attributes: [long] }))).toEqual({ fault: 'too_long' });
  });

  it('rejects a record whose row is longer than a line may be, and stores the others', () => {
    const body = request([{ body: { stringValue: '\u0001'.repeat(2_900_000) } }, {}]);
    expect(read(body)).toMatchObject({ batches: [{ events: 1, refused: 1 }] });
  });
});

/** A message as a field of another. */
function wrapped(field: number, message: Uint8Array): Buffer<ArrayBuffer> {
  const length: number[] = [];
  let rest = message.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...length, rest]), message]);
}
