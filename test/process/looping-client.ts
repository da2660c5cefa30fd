import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SampleRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** What a client saw until nobody listened any more. */
export interface Seen {
  answered: number;
  /** Connections that the server closed with `Connection: close`, or while nothing was sample on them. */
  closed: number;
  /** Connections that were reset in the listener's queue: they came between its last look there and its end. */
  reset: number;
  /** Answers that are wrong, and requests without one on a connection that had been accepted. */
  readonly faults: string[];
}

/**
 * Asks the same over and over, the next when the last is answered, on a connection that it keeps as long as the server
 * does; ends when no new one is taken. Bytes, not Node's HTTP client, which asks again by itself where a connection broke.
 *
 * @param pause milliseconds between an answer and the next request
 */
export function askUntilRefused(
  port: number,
  sample: SampleRequest,
  pause: number,
  isRight: (answer: string) => boolean,
): { readonly seen: Seen; readonly done: Promise<void> } {
  const seen: Seen = { answered: 0, closed: 0, reset: 0, faults: [] };
  const ask = async (): Promise<void> => {
    while (await useConnection(port, sample, pause, isRight, seen));
  };
  return { seen, done: ask() };
}

/** Gives false when the connection was not taken. */
async function useConnection(
  port: number,
  sample: SampleRequest,
  pause: number,
  isRight: (answer: string) => boolean,
  seen: Seen,
) {
  const socket = net.connect(port, '127.0.0.1');
  let received = '';
  let over = false;
  let failure = '';
  let wake = (): void => undefined;
  socket.setEncoding('utf8');
  socket.on('data', (data) => {
    received += String(data);
    wake();
  });
  socket.on('error', (error) => (failure = error.message));
  for (const event of ['end', 'close'])
    socket.on(event, () => {
      over = true;
      wake();
    });
  const change = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  for (let asks = 0; ; asks++) {
    if (over) {
      seen.closed++;
      socket.destroy();
      return true;
    }
    socket.write(bytesOf(sample));
    while (!isWhole(received) && !over) await change();
    if (!isWhole(received)) {
      socket.destroy();
      // Never taken from the listener's queue: refused, or reset before a byte.
      if (asks === 0 && received === '') {
        if (!failure.includes('ECONNREFUSED')) seen.reset++;
        return false;
      }
      seen.faults.push(
        `no answer to request ${String(asks)}: ${failure === '' ? 'closed' : failure}; ${received.slice(0, 80)}`,
      );
      return true;
    }
    if (isRight(received)) seen.answered++;
    else seen.faults.push(received.slice(0, 300));
    const last = /\r\nconnection: close\r\n/i.test(received);
    received = '';
    while (last && !over) await change();
    if (!last) await sleep(pause);
  }
}

function bytesOf({ method, path, body }: SampleRequest): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-API-KEY: k\r\n`;
  if (body === undefined) return `${head}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`;
}

function isWhole(received: string): boolean {
  const head = received.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(received.slice(0, head + 2))?.[1];
  return Buffer.byteLength(received.slice(head + 4)) >= Number(length);
}
