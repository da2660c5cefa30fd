import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { ERRORS, type Reason } from '../../src/errors';
import { serve, type Served } from './served';

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

interface Raw {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends bytes as they are and reads until the server closes; a reset before that is a failure. */
function send(pieces: readonly (string | Buffer)[], pause = 0): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(served.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => (received += data));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = received.split(/\r\n\r\n([^]*)/);
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body });
    });
    void (async () => {
      for (const piece of pieces) {
        if (socket.writable) socket.write(piece);
        if (pause > 0) await sleep(pause);
      }
    })();
  });
}

function refused({ status, head, body }: Raw, reason: Reason): void {
  expect(status).toBe(ERRORS[reason].http);
  expect(head).toMatch(/^Content-Type: application\/json; charset=utf-8$/m);
  expect(head).toMatch(/^Connection: close$/m);
  expect(head).toMatch(/^Server-Timing: /m);
  expect(head).toMatch(/^X-Content-Type-Options: nosniff$/m);
  const id = /^X-Request-Id: (\S+)$/m.exec(head)?.[1];
  expect(JSON.parse(body)).toMatchObject({
    error: { code: status, status: ERRORS[reason].status, errors: [{ domain: 'global', reason }], requestId: id },
  });
  expect(head).toContain(`Content-Length: ${String(Buffer.byteLength(body))}`);
}

const HOST = 'Host: localhost\r\n';

describe('what is no request', () => {
  it.each([
    ['a blank in the path', `GET /a b HTTP/1.1\r\n${HOST}\r\n`],
    ['bytes beyond ASCII in the path', `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`],
    ['a version of the future', `GET / HTTP/9.9\r\n${HOST}\r\n`],
    ['a blank in a header name', `GET / HTTP/1.1\r\nHo st: x\r\n\r\n`],
    ['two lengths', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ['length and chunks', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['an invalid length', `POST / HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
  ])('400: %s', async (_what, bytes) => {
    refused(await send([Buffer.from(bytes, 'latin1')]), 'invalidParameter');
  });

  it('400: a request without Host, or with two', async () => {
    refused(await send(['GET /health HTTP/1.1\r\nConnection: close\r\n\r\n']), 'invalidParameter');
    refused(await send([`GET /health HTTP/1.1\r\n${HOST}${HOST}Connection: close\r\n\r\n`]), 'invalidParameter');
    expect((await send(['GET /health HTTP/1.0\r\n\r\n'])).status).toBe(200);
  });

  it('400: chunks that break off in the middle', async () => {
    const head = `POST /api/endpoints/query/test.plain HTTP/1.1\r\n${HOST}X-API-KEY: all\r\nContent-Type: application/json\r\n`;
    refused(await send([`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"pro`, '\r\nzz\r\n'], 20), 'invalidParameter');
  });

  it('does not spoil the answer to a request before it', async () => {
    const { status, head, body } = await send([`GET /ready HTTP/1.1\r\n${HOST}\r\nno request\r\n\r\n`]);
    expect(status).toBe(200);
    expect(head).not.toMatch(/^Connection: close$/m);
    expect(body).toBe('{"status":"ready","engine":"duckdb","cache":"ok"}');
  });

  it('405: a method that nobody knows, and CONNECT', async () => {
    for (const method of ['BREW', 'CONNECT']) {
      const raw = await send([`${method} localhost:1 HTTP/1.1\r\n${HOST}\r\n`]);
      refused(raw, 'methodNotAllowed');
      expect(raw.head).toMatch(/^Allow: GET, HEAD, POST, OPTIONS$/m);
    }
  });
});

describe('a head beyond what the parser takes', () => {
  const long = (length: number): string => 'x'.repeat(length);

  it.each([
    [200_000, 0],
    [500_000, 0],
    [1_000_000, 0],
    [500_000, 1],
  ])('414: a URL of %d bytes', async (length, pause) => {
    refused(await send([`GET /?${long(length)}`, ` HTTP/1.1\r\n${HOST}\r\n`], pause), 'uriTooLong');
  });

  it.each([200_000, 500_000, 1_000_000])('431: one header of %d bytes', async (length) => {
    refused(await send([`GET / HTTP/1.1\r\n${HOST}X-Long: ${long(length)}`, '\r\n\r\n']), 'headersTooLarge');
  });

  it.each([257, 1020, 5000])('431: %d headers, whatever is behind them', async (count) => {
    const many = 'a:\r\n'.repeat(count - 3);
    refused(
      await send([`POST / HTTP/1.1\r\n${HOST}Connection: close\r\n${many}Content-Length: 3\r\n\r\n{}x`]),
      'headersTooLarge',
    );
  });

  it('414: a long URL, then headers that break the bound', async () => {
    refused(await send([`GET /?${long(150_000)} HTTP/1.1\r\n${HOST}X-Long: ${long(60_000)}\r\n\r\n`]), 'uriTooLong');
  });
});
