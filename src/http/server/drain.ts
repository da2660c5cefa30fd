import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** How long a connection with an incomplete request head stays open, in milliseconds. */
const HALF_SENT = 2000;

/**
 * How long an idle keep-alive connection stays open when the listener is closed, in milliseconds: closed at once, it would
 * be reset for a client whose next request is on its way.
 */
const LAST_REQUEST = 500;

/**
 * Closes the listener, lets accepted requests complete, closes every connection and resolves when none is left.
 *
 * @param cutOff when connections still open are cut, in milliseconds of `performance.now()`; asked again at that time, as a
 *   request of the meantime may have moved it
 */
export type Drain = (cutOff: () => number) => Promise<void>;

/** Prepares a server for draining; call it before it listens. */
export function drainable(server: Server): Drain {
  const unused = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unused.delete(socket);
    response.once('close', () => {
      if (closing) socket.end();
      else if (!socket.destroyed) unused.add(socket);
    });
  });

  return async (cutOff) => {
    closing = true;
    const closed = new Promise<void>((resolve) => {
      // The listener alone: Node's HTTP server would close idle connections with it.
      NetServer.prototype.close.call(server, () => {
        resolve();
      });
    });
    const closeIdle = setTimeout(() => {
      server.closeIdleConnections();
    }, LAST_REQUEST);
    const closeUnused = setTimeout(() => {
      for (const socket of unused) socket.destroy();
    }, HALF_SENT);
    let closeAll: NodeJS.Timeout | undefined;
    const cutWhenDue = (): void => {
      const left = cutOff() - performance.now();
      if (left > 0) closeAll = setTimeout(cutWhenDue, left);
      else server.closeAllConnections();
    };
    cutWhenDue();
    await closed;
    clearTimeout(closeIdle);
    clearTimeout(closeUnused);
    clearTimeout(closeAll);
  };
}
