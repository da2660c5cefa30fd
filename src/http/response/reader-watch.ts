import type { ServerResponse } from 'node:http';

import { ServiceError } from '../../errors';

/** Milliseconds in which a client has to take something of what it was sent, some 256 KiB, before it is cut off. */
const STALL = 30_000;
/** Looks in that time. */
const LOOKS = 6;

/**
 * Watches until an answer is closed whether its client takes what it was sent.
 *
 * @param cut called once: the client has taken nothing for 30 seconds, although there was something to take
 */
export function watchReader(response: ServerResponse, cut: (error: ServiceError) => void): void {
  let taken = takenOf(response);
  let idle = 0;
  const look = (): void => {
    const before = taken;
    taken = takenOf(response);
    const waits = taken !== null && response.writableLength > 0;
    idle = waits && taken === before ? idle + 1 : 0;
    if (idle < LOOKS) return;
    clearInterval(timer);
    cut(new ServiceError('deadlineExceeded', 'The client does not take what it is sent.'));
  };
  const timer = setInterval(look, STALL / LOOKS).unref();
  response.once('close', () => clearInterval(timer));
}

/** Bytes that were taken of the connection's; null: answers before this one come first, and are watched themselves. */
function takenOf({ socket }: ServerResponse): number | null {
  return socket === null ? null : socket.bytesWritten - socket.writableLength;
}
