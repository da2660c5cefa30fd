import http, { type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Drain, drainable } from '../../src/http/server/drain';
import { createHttpServer } from '../../src/http/server/http-server';

let server: Server;
let drainUntil: Drain;
const drain = (longest: number): Promise<void> => {
  const cutOff = performance.now() + longest;
  return drainUntil(() => cutOff);
};
let port: number;
/** Ends the answer to `/slow`. */
let finish: () => void;

beforeEach(async () => {
  finish = () => undefined;
  server = createHttpServer((request, response) => {
    if (request.url === '/slow') {
      response.write('begun, ');
      finish = () => response.end('done');
    } else {
      response.end('ok');
    }
  });
  drainUntil = drainable(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function connect(bytes: string): { socket: net.Socket; received: () => string; closed: Promise<unknown> } {
  const socket = net.connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (data) => (received += String(data)));
  socket.on('error', () => undefined);
  if (bytes !== '') socket.write(bytes);
  return { socket, received: () => received, closed: new Promise((resolve) => socket.on('close', resolve)) };
}

const requestFor = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

it('answers what was accepted, on a connection that would have stayed open', async () => {
  const slow = connect(requestFor('/slow'));
  while (!slow.received().includes('begun')) await sleep(5);
  let drained = false;
  const draining = drain(10_000).then(() => (drained = true));
  await sleep(100);
  expect(drained).toBe(false);
  finish();
  await draining;
  await slow.closed;
  expect(slow.received()).toContain('done');
});

it('takes no new connection', async () => {
  await drain(1000);
  await expect(
    new Promise((resolve, reject) => http.get({ port, path: '/' }, resolve).on('error', reject)),
  ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('does not wait for connections that wait for a next request', async () => {
  const idle = connect(requestFor('/'));
  while (!idle.received().includes('ok')) await sleep(5);
  // Longer than the test may take.
  await drain(600_000);
  await idle.closed;
});

it('does not wait for connections that never finish a head', async () => {
  const silent = connect('');
  const half = connect('GET / HTTP/1.1\r\nHos');
  await sleep(50);
  await drain(600_000);
  await Promise.all([silent.closed, half.closed]);
});

it('cuts off, in the end, a client that takes no answer', async () => {
  const slow = connect(requestFor('/slow'));
  while (!slow.received().includes('begun')) await sleep(5);
  await drain(200);
  await slow.closed;
  expect(slow.received()).not.toContain('done');
});

it('lets a request complete whose deadline lies behind the first cut-off', async () => {
  const slow = connect(requestFor('/slow'));
  while (!slow.received().includes('begun')) await sleep(5);
  let cutOff = performance.now() + 50;
  const draining = drainUntil(() => cutOff);
  cutOff = performance.now() + 10_000;
  await sleep(150);
  finish();
  await draining;
  await slow.closed;
  expect(slow.received()).toContain('done');
});
