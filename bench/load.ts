/** Load over keep-alive connections, read as little as possible: the server is to be the bottleneck, never this. */
import { connect, type Socket } from 'node:net';

export interface Load {
  readonly port: number;
  /** The bytes of one request. */
  readonly request: string;
  /** Of every answer. */
  readonly status: number;
}

const CONNECTIONS = 32;

/** Answers per second over `seconds`. @throws Error at any other status, or a connection that ends */
export async function load({ port, request, status }: Load, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000;
  const bytes = Buffer.from(request);
  const start = performance.now();
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => client(port, bytes, status, until)));
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - start) / 1000);
}

/** One connection that asks again as soon as it is answered; the number of answers. */
function client(port: number, request: Buffer, status: number, until: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    /** Bytes of the current answer that are still to come; null: its head is not complete. */
    let missing: number | null = null;
    let head = '';
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The connection was closed.')));
    socket.on('data', (chunk) => {
      let rest = chunk.length;
      if (missing === null) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (!head.startsWith(`HTTP/1.1 ${status} `)) {
          reject(new Error(head.slice(0, 500)));
          socket.destroy();
          return;
        }
        const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head.slice(0, end + 2))?.[1] ?? '0';
        missing = end + 4 + Number(length);
        rest = head.length;
      }
      missing -= rest;
      if (missing > 0) return;
      count++;
      missing = null;
      head = '';
      if (performance.now() < until) {
        socket.write(request);
        return;
      }
      socket.removeAllListeners('close');
      socket.destroy();
      resolve(count);
    });
  });
}
