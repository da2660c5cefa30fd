import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';

/** How long a connection with an incomplete request head stays open, in milliseconds. */
const HALF_SENT = 2000;

/**
 * How long no request has to come, in milliseconds, before idle keep-alive connections are closed when the listener is, and
 * how long that is waited for at most: closed at once, one would be reset for a client whose next request is on its way.
 */
const QUIET = 500;
const LONGEST_UNQUIET = 5000;

/**
 * How long no connection has to come, in milliseconds, before the listener is closed, and how long that is waited for at most: on
 * a busy machine clients connect again whenever they get a processor, many at once.
 */
const NO_CONNECTION = 100;
const LONGEST_RUSH = 1000;

/**
 * Closes the listener, lets accepted requests complete, closes every connection and resolves when none is left.
 *
 * @param cutOff when connections still open are cut, in milliseconds of `performance.now()`; asked again at that time, as a
 *   request of the meantime may have moved it
 * @param onListener called before the listener is closed, when requests had better wait, and when it is closed
 */
export type Drain = (cutOff: () => number, onListener?: (state: 'closing' | 'closed') => void) => Promise<void>;

/** Prepares a server for draining; call it before it listens. */
export function drainable(server: Server): Drain {
  const unused = new Set<Socket>();
  let connections = 0;
  let requests = 0;
  let lastRequest = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    requests++;
    lastRequest = performance.now();
    unused.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) unused.add(socket);
    });
  });

  return async (cutOff, onListener = () => undefined) => {
    // Whoever has connected and was not accepted yet is reset with the listener. Node accepts one connection in an iteration of
    // the event loop, which takes long while requests are answered.
    onListener('closing');
    const rush = performance.now() + LONGEST_RUSH;
    for (let before = -1; before !== connections && performance.now() < rush;) {
      before = connections;
      await sleep(NO_CONNECTION);
    }
    await withoutNews(() => connections, rush - performance.now());
    onListener('closed');
    lastRequest = performance.now();
    const over = new AbortController();
    const closed = new Promise<void>((resolve) => {
      // The listener alone: Node's HTTP server would close idle connections with it.
      NetServer.prototype.close.call(server, () => {
        over.abort();
        resolve();
      });
    });
    const end = lastRequest + LONGEST_UNQUIET;
    const closeIdle = async (): Promise<void> => {
      for (let left = QUIET; left > 0; left = Math.min(lastRequest + QUIET, end) - performance.now()) {
        await sleep(left, undefined, { signal: over.signal });
      }
      await withoutNews(() => requests, end - performance.now());
      server.closeIdleConnections();
    };
    const closeUnused = async (): Promise<void> => {
      await sleep(HALF_SENT, undefined, { signal: over.signal });
      await withoutNews(() => requests, end - performance.now());
      for (const socket of unused) socket.destroy();
    };
    const closeAll = async (): Promise<void> => {
      for (let left = cutOff() - performance.now(); left > 0; left = cutOff() - performance.now()) {
        await sleep(left, undefined, { signal: over.signal });
      }
      server.closeAllConnections();
    };
    for (const step of [closeIdle, closeUnused, closeAll]) {
      step().catch((error: unknown) => {
        if (!over.signal.aborted) throw error;
      });
    }
    await closed;
  };
}

/**
 * Waits for an iteration of the event loop that brings nothing new. What has arrived by then has been read, and whatever is closed
 * right afterwards has nothing unread, for which the system would send a reset.
 *
 * @param longest milliseconds after which it is waited no more
 */
async function withoutNews(count: () => number, longest: number): Promise<void> {
  const end = performance.now() + longest;
  await nextIteration();
  for (let before = -1; before !== count() && performance.now() < end;) {
    before = count();
    await nextIteration();
  }
}
