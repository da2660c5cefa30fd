/** Events and batches of somebody who has the ingest key and means ill, sent to the real process with the settings of a stack. */
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { until } from '../until';
import { ask, PUBLIC, STACK } from './stack/traffic';
import { Stage, type Started } from './started';

jest.setTimeout(180_000);

const EDGE = 'source_name=cloudflare.logs.prod';
/** What no line of the log may hold: it is in every event. */
const SECRET = 'text-of-an-event';

const stage = new Stage();
let service: Started;
let base: string;
let folder: string;
/** What was answered 200, by what was sent. */
let stored = 0;
beforeAll(async () => {
  folder = stage.folder();
  service = stage.start(STACK, folder);
  base = await service.ready();
});
afterAll(() => stage.end());

async function post(body: string | Buffer, query = EDGE, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${base}/api/logs?${query}`, {
    method: 'POST',
    headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/json', ...headers },
    body,
  });
  expect(await response.text()).not.toContain(SECRET);
  return response.status;
}

const event = (fields: string): string => `[{"event_message":"${SECRET}"${fields === '' ? '' : `,${fields}`}}]`;
/** Files of gzip one behind the other, which are one file too (RFC 1952, 2.2). */
const GIGABYTE = Buffer.concat(Array<Buffer>(1024).fill(gzipSync(Buffer.alloc(2 ** 20, 0x20))));
const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

it.each([
  ['a line that ends one and begins another', event(String.raw`"a":"x\n{\"event_message\":\"forged\"}\n"`)],
  ['characters of control and NUL', event(String.raw`"id":"\u0000\u001f\u2028"`)],
  ['halves of a character', event(String.raw`"path":"\ud800","metadata":{"\udc00":"\ud800x"}`)],
  [
    'names of the prototype',
    event('"__proto__":{"a":1},"constructor":{"prototype":{}},"metadata":{"__proto__":{"b":1}}'),
  ],
  ['a name twice', event('"id":"a","id":"b","metadata":{"a":1},"metadata":{"a":2}')],
  [
    'numbers beyond any type',
    event(`"a":1e400,"b":-1e-400,"c":${'9'.repeat(400)},"d":-0,"metadata":{"response":{"status_code":1e30}}`),
  ],
  ['times beyond any calendar', event('"timestamp":9e99')],
  ['a time that there is not', event('"timestamp":"2026-02-30T25:61:61Z"')],
  ['a list of lists', event(`"metadata":${nested('[', ']', 500)}`)],
  ['records in records', event(`"metadata":${nested('{"a":', '', 500)}1${'}'.repeat(500)}`)],
  ['records a hundred thousand deep', event(`"metadata":${nested('{"a":', '', 100_000)}1${'}'.repeat(100_000)}`)],
  [
    'a hundred thousand fields',
    event(`"metadata":{${Array.from({ length: 100_000 }, (_, i) => `"f${String(i)}":1`).join()}}`),
  ],
  ['a name of a million letters', event(`"metadata":{"${'n'.repeat(1_000_000)}":1}`)],
  ['a message of eleven million letters', event(`"path":"${'m'.repeat(11_000_000)}"`)],
])('stores or refuses %s, as one event', async (_what, body) => {
  const status = await post(body);
  expect([200, 400, 413]).toContain(status);
  if (status === 200) stored++;
});

it.each([
  ['lists a hundred thousand deep', nested('[', ']', 100_000), [400, 413]],
  ['too many events', `[${'{},'.repeat(100_000)}{}]`, [413]],
  ['four million of them', `[${'{},'.repeat(3_900_000)}{}]`, [413]],
  ['a million values in an event', event(`"metadata":{"a":[${'0,'.repeat(999_999)}0]}`), [413]],
  ['six million numbers', `[${'1,'.repeat(5_900_000)}1]`, [400, 413]],
  ['nothing but space', ' '.repeat(11_900_000), [400]],
  ['what is no UTF-8', Buffer.from([0x5b, 0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x5d]), [400]],
  ['twelve million letters', 'x'.repeat(12_000_001), [413]],
] as const)('refuses %s', async (_what, body, statuses) => {
  expect(statuses).toContain(await post(body));
});

it.each([
  ['an archive in an archive', gzipSync(gzipSync(Buffer.from(event('')))), [400]],
  ['one that unpacks to a gigabyte', GIGABYTE, [413]],
  ['one that ends too early', gzipSync(Buffer.from(event(`"a":"${'x'.repeat(9999)}"`))).subarray(0, 60), [400]],
] as const)('refuses %s', async (_what, body, statuses) => {
  expect(statuses).toContain(await post(body, EDGE, { 'Content-Encoding': 'gzip' }));
});

/** A message as a field of another, in protobuf. */
function field(number: number, message: Uint8Array): Buffer {
  const length: number[] = [];
  let rest = message.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, rest]), message]);
}
/** A list in a list, and so on. */
function nestedLists(levels: number): Buffer {
  let value: Buffer = Buffer.alloc(0);
  for (let i = 0; i < levels; i++) value = field(5, field(1, value));
  return value;
}
/** A request of OTLP: resource and records, of one field each. */
const otlp = (resource: Uint8Array, records: Uint8Array): Buffer =>
  field(1, Buffer.concat([field(1, resource), field(2, records)]));
const EMPTY_RECORD = Buffer.from([0x12, 0]);
const text = (length: number): Buffer => field(1, field(2, field(1, Buffer.alloc(length, 1))));

it.each([
  ['no message', Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), [400]],
  ['a length beyond the end', Buffer.from([0x0a, 0x7f, 0x0a]), [400]],
  ['twelve million bytes of varints', Buffer.alloc(11_900_000, 0x80), [400]],
  ['six million empty resources', Buffer.alloc(11_900_000, Buffer.from([0x0a, 0])), [413]],
  ['more records than may be', otlp(Buffer.alloc(0), Buffer.alloc(200_002, EMPTY_RECORD)), [413]],
  ['a resource that makes each record long', otlp(text(1_000_000), Buffer.alloc(2_000, EMPTY_RECORD)), [413]],
  ['a value a thousand lists deep', otlp(Buffer.alloc(0), field(2, field(5, nestedLists(1_000)))), [400]],
] as const)('refuses %s as a request of OTLP', async (_what, body, statuses) => {
  const response = await fetch(`${base}/v1/logs`, {
    method: 'POST',
    headers: { 'X-API-KEY': PUBLIC, 'Content-Type': 'application/x-protobuf' },
    body,
  });
  expect(statuses).toContain(response.status);
});

it.each(['../../etc', 'raw_edge_logs', '__proto__', 'constructor', '.collector', '%00', 'x'.repeat(800)])(
  'has no file for a source named %s',
  async (name) => {
    expect(await post(event(''), `source_name=${name}`)).toBe(404);
  },
);

it('keeps nothing of bodies whose senders have gone', async () => {
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const head = `POST /api/logs?${EDGE} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${PUBLIC}\r\nContent-Type: application/json\r\nContent-Length: 11000000\r\n\r\n`;
    await new Promise<void>((resolve) => socket.write(head + '['.repeat(100_000), () => resolve()));
    socket.destroy();
  }
  // 20 bodies of 11 MB would be more than all of them may have.
  await until(async () => (await post(event('"a":"after"'))) === 200);
  stored++;
});

it('has gone through all of it in one process, with every event as one row, in no file but its own', async () => {
  expect([service.child.exitCode, service.child.signalCode]).toEqual([null, null]);
  const logs = path.join(folder, 'logs');
  expect(readdirSync(logs).sort()).toEqual(['.collector', 'raw_edge_logs']);
  const [name = '', ...others] = readdirSync(path.join(logs, 'raw_edge_logs'));
  expect([name, others]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d\.ndjson$/), []]);
  // Not by `readline`: in Node 26 it ends a line at U+2028, which JSON may hold.
  const lines = readFileSync(path.join(logs, 'raw_edge_logs', name), 'utf8')
    .split('\n')
    .slice(0, -1);
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ event_message: SECRET, id: expect.anything() as unknown });
  expect(lines).toHaveLength(stored);
  const count = async (): Promise<unknown> =>
    (await ask(base, 'logs.all', { sql: 'select count(*) as n from edge_logs' }))['result'];
  await until(async () => JSON.stringify(await count()) === JSON.stringify([{ n: stored }])).catch(async () =>
    expect(await count()).toEqual([{ n: stored }]),
  );
  expect(service.err + service.out).not.toContain(SECRET);
  expect(readFileSync(path.join(logs, '.collector/journal.ndjson'), 'utf8')).not.toContain(SECRET);
});
