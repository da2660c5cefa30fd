import type { ServerResponse } from 'node:http';

/** Bytes that are sent at a time: whether a client takes them is seen when it has taken all of them. */
const PART = 256 * 1024;

/** Sends a body and ends the response, no faster than the client takes it. @param body null: none */
export function sendInParts(response: ServerResponse, body: Buffer | null): void {
  if (body === null || body.length <= PART) {
    response.end(body ?? undefined);
    return;
  }
  let sent = 0;
  const send = (): void => {
    while (body.length - sent > PART) {
      sent += PART;
      if (!response.write(body.subarray(sent - PART, sent))) return;
    }
    response.off('drain', send);
    response.end(body.subarray(sent));
  };
  response.on('drain', send);
  send();
}
