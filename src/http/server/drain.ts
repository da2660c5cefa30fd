import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** How long a connection that has not finished its request's head may go on, in milliseconds. */
const HALF_SENT = 2000;

/**
 * How long a connection that waits for a next request stays open when the listener is closed, in milliseconds. Closed at
 * once, it would be reset for a client whose request is on its way; one that asks in this time is told in its answer.
 */
const LAST_REQUEST = 500;

/**
 * Prepares a server for its end; call it before it listens. The result closes the listener, answers what was accepted,
 * closes every connection and resolves when none is left.
 */
export function drainable(server: Server): (longest: number) => Promise<void> {
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

  /** @param longest milliseconds after which what is still not answered is cut off: a client that does not read */
  return async (longest) => {
    closing = true;
    const closed = new Promise<void>((resolve) => {
      // The listener alone: Node's HTTP server would close what waits for a next request with it.
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
    const closeAll = setTimeout(() => {
      server.closeAllConnections();
    }, longest);
    await closed;
    clearTimeout(closeIdle);
    clearTimeout(closeUnused);
    clearTimeout(closeAll);
  };
}
