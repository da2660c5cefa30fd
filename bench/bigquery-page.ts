/**
 * A service that answers every query with one page of 1000 nested log rows, in a process of its own: what is measured is
 * the client's side alone. Prints its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ROWS = 1000;

type Cell = { readonly v: string | null | readonly Cell[] | { readonly f: readonly Cell[] } };

const scalar = (name: string, type = 'STRING') => ({ name, type, mode: 'NULLABLE' });
const records = (name: string, fields: readonly object[]) => ({ name, type: 'RECORD', mode: 'REPEATED', fields });
const cell = (v: Cell['v']): Cell => ({ v });
const record = (...values: readonly (string | null | Cell)[]): Cell =>
  cell([cell({ f: values.map((value) => (typeof value === 'object' && value !== null ? value : cell(value))) })]);

const SCHEMA = {
  fields: [
    scalar('id'),
    scalar('timestamp', 'TIMESTAMP'),
    scalar('event_message'),
    records('metadata', [
      records('request', [
        ...['method', 'path', 'search', 'url', 'host', 'protocol'].map((name) => scalar(name)),
        records('headers', [
          ...['user_agent', 'x_real_ip', 'cf_ray', 'referer', 'x_client_info', 'cf_ipcountry'].map((name) =>
            scalar(name),
          ),
          scalar('content_length', 'INTEGER'),
        ]),
        records('cf', [
          scalar('asn', 'INTEGER'),
          ...['asOrganization', 'city', 'country', 'colo', 'continent', 'httpProtocol', 'timezone', 'tlsVersion'].map(
            (name) => scalar(name),
          ),
          scalar('score', 'FLOAT'),
          scalar('verifiedBot', 'BOOLEAN'),
        ]),
      ]),
      records('response', [
        scalar('status_code', 'INTEGER'),
        scalar('origin_time', 'INTEGER'),
        records('headers', [...['cf_ray', 'content_type', 'date', 'cf_cache_status'].map((name) => scalar(name))]),
      ]),
    ]),
  ],
};

function row(i: number): Cell['v'] {
  const ray = `${(1e15 + i * 7919).toString(16)}-MUC`;
  const ip = `203.0.113.${i % 256}`;
  const url = `https://default.api.example.com/rest/v1/todos?select=*&order=id.asc&id=eq.${i}`;
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  const headers = record(
    agent,
    ip,
    ray,
    i % 3 === 0 ? null : 'https://app.example.com/"todos"',
    'client-js/2.58.0',
    'DE',
    String(i * 13),
  );
  const cf = record(
    '3320',
    'Beispielnetz GmbH',
    'München',
    'DE',
    'MUC',
    'EU',
    'HTTP/3',
    'Europe/Berlin',
    'TLSv1.3',
    String(i / 7),
    String(i % 2 === 0),
  );
  const request = record(
    'GET',
    '/rest/v1/todos',
    `?select=*&order=id.asc&id=eq.${i}`,
    url,
    'default.api.example.com',
    'https:',
    headers,
    cf,
  );
  const response = record(
    '200',
    String(i % 500),
    record(ray, 'application/json; charset=utf-8', 'Wed, 30 Sep 2026 11:17:00 GMT', null),
  );
  const id = `1e51f787-6b23-4afe-83e0-${String(i).padStart(12, '0')}`;
  const message = `GET | 200 | ${ip} | ${ray} | ${url} | ${agent}`;
  return {
    f: [id, String(1_790_769_600_000_000 + i * 1_234_567), message].map(cell).concat(record(request, response)),
  };
}

const PAGE = Buffer.from(
  JSON.stringify({
    kind: 'bigquery#queryResponse',
    schema: SCHEMA,
    jobComplete: true,
    queryId: 'page',
    totalRows: String(ROWS),
    totalBytesProcessed: '12345678',
    totalBytesBilled: '20971520',
    cacheHit: false,
    rows: Array.from({ length: ROWS }, (_, i) => row(i)),
  }),
);

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json; charset=UTF-8', 'Content-Length': PAGE.length });
    response.end(PAGE);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port} ${PAGE.length}\n`);
});
process.stdin.resume().once('close', () => process.exit());
