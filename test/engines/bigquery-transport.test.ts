/** One request over HTTP: what a service may do to it beside failing in BigQuery's own way. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { until } from '../until';
import { Transport } from '../../src/engines/bigquery/transport';

describe('an answer', () => {
  let server: Server;
  let answer: (...exchange: Parameters<RequestListener>) => void | Promise<void> = () => undefined;
  const outcomes: string[] = [];
  const observer = { succeeded: () => void outcomes.push('up'), failed: () => void outcomes.push('down') };

  beforeAll(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    outcomes.length = 0;
  });

  const send = (patience = 50_000): Promise<unknown> => {
    const emulator = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const transport = new Transport({ projectId: 'p:q', emulator, credentials: null, observer });
    return transport.send({ method: 'GET', path: '/x', patience }).catch((error: unknown) => error);
  };

  test('is read, compressed too', async () => {
    answer = ({ url, headers }, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(JSON.stringify({ url, authorization: headers.authorization ?? null })));
    };
    const url = '/bigquery/v2/projects/p%3Aq/x?prettyPrint=false';
    expect(await send()).toEqual({ url, authorization: null });
    expect(outcomes).toEqual(['up']);
  });

  test('that does not come in time is treated as missing', async () => {
    answer = () => undefined;
    expect(await send(100)).toMatchObject({ httpStatus: null, reason: 'noAnswer' });
    expect(outcomes).toEqual(['down']);
  });

  test('that comes slowly is waited for as long as it comes', async () => {
    answer = async (_, response) => {
      for (const part of ['{"a', '":', '[1,', '2]', '}']) {
        response.write(part);
        await sleep(600);
      }
      response.end();
    };
    // Longer than the patience as a whole, each part well within it.
    expect(await send(2_000)).toEqual({ a: [1, 2] });
  });

  test.each([
    ['no JSON', 'hello', 'brokenAnswer'],
    ['nothing', '', 'brokenAnswer'],
    ['half an object', '{"a":1', 'brokenAnswer'],
    ['null', 'null', 'malformedAnswer'],
    ['a string', '"hello"', 'malformedAnswer'],
  ])('of %s is a failure', async (_, text, reason) => {
    answer = (_request, response) => void response.end(text);
    expect(await send()).toMatchObject({ httpStatus: 200, reason });
  });

  test('without an end is cut off', async () => {
    const part = Buffer.alloc(1024 * 1024, ' ');
    let open = true;
    answer = async (_, response) => {
      response.once('close', () => (open = false));
      while (open)
        if (!response.write(part)) await Promise.race([new Promise((go) => response.once('drain', go)), sleep(100)]);
    };
    expect(await send()).toMatchObject({ reason: 'malformedAnswer', detail: 'The answer is too long.' });
    await until(() => !open);
  });

  test.each<[number, unknown, object]>([
    [404, { error: { errors: [{ reason: 'notFound', message: 'm' }] } }, { reason: 'notFound', detail: 'm' }],
    [403, { error: { message: 'm' } }, { reason: 'unknown', detail: 'm' }],
    [403, { error: { message: 'm', errors: [] } }, { reason: 'unknown', detail: 'm' }],
    [403, { error: { errors: [null] } }, { reason: 'unknown', detail: '' }],
    [403, { error: { errors: 'x', message: 7 } }, { reason: 'unknown', detail: '' }],
    [403, { error: 'invalid_grant' }, { reason: 'unknown', detail: '' }],
    [500, [], { reason: 'unknown' }],
    [500, null, { reason: 'unknown' }],
  ])('%i %j is read as far as it goes', async (status, body, expected) => {
    answer = (_, response) => void response.writeHead(status).end(JSON.stringify(body));
    expect(await send()).toMatchObject({ httpStatus: status, ...expected });
  });

  test.each([
    ['7', 7],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
    ['-1', null],
  ])('Retry-After %s asks for %s', async (given, retryAfter) => {
    answer = (_, response) => void response.writeHead(429, { 'retry-after': given }).end();
    expect(await send()).toMatchObject({ httpStatus: 429, retryAfter });
  });
});

describe('credentials', () => {
  const observer = { succeeded: () => undefined, failed: () => undefined };
  const request = { method: 'GET', path: '/x', patience: 50_000 } as const;

  test('that cannot be had are reported without a word of them', async () => {
    const transport = new Transport({ projectId: 'p', emulator: null, credentials: '/nowhere/secret.json', observer });
    const failure: unknown = await transport.send(request).catch((error: unknown) => error);
    expect(failure).toMatchObject({ httpStatus: 401, reason: 'noCredentials' });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/secret/);
  });

  test('never come along with a failure of the connection', async () => {
    const broken = Object.assign(new TypeError('fetch failed'), {
      cause: { code: 'ECONNRESET' },
      request: { headers: { authorization: 'Bearer SECRET' } },
    });
    const fetching = jest.spyOn(globalThis, 'fetch').mockRejectedValue(broken);
    try {
      const transport = new Transport({ projectId: 'p', emulator: 'http://127.0.0.1:1', credentials: null, observer });
      const failure: unknown = await transport.send(request).catch((error: unknown) => error);
      expect(failure).toMatchObject({ reason: 'connectionFailed', detail: 'TypeError ECONNRESET' });
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/SECRET/);
    } finally {
      fetching.mockRestore();
    }
  });
});
