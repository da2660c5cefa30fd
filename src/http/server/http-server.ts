import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { ERRORS, ServiceError } from '../../errors';
import type { Log } from '../../log';
import type { Metrics } from '../../metrics/metrics';
import { RequestMeter } from '../../metrics/readings';
import { headersTooLarge, LONGEST_HEADERS, LONGEST_URL, MOST_HEADERS, uriTooLong } from '../request/headers';
import { errorResponse, rawResponse } from '../response/response';
import { SECURITY_HEADERS } from '../response/head';

/** Bound of Node's parser on a whole head: room for what checkHead then tells apart. */
const LONGEST_HEAD = LONGEST_URL + 2 * LONGEST_HEADERS;

/** How long a client may take to send a head, and a whole request, in milliseconds. */
const HEAD_TIMEOUT = 20_000;
const REQUEST_TIMEOUT = 60_000;

/** How long a connection is still read after its last answer, so that the client sees that answer and no reset. */
const LINGER = 1000;

/** Called for every request that never reaches the listener, with the id in its response. */
export type OnRefused = (error: ServiceError, id: string) => void;

/** Node's HTTP server around a listener, with answers of our own for requests that never reach it. */
export function createHttpServer(listener: RequestListener, onRefused: OnRefused = () => undefined): Server {
  const server = createServer({
    maxHeaderSize: LONGEST_HEAD,
    headersTimeout: HEAD_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: 65_000, // longer than the 60 s of common load balancers, who else send into a closing connection
    requireHostHeader: false, // the answer to a missing one is ours (request/headers.ts)
  });
  // Node drops what is beyond without a word: one more than is allowed shows that there were too many (request/headers.ts).
  server.maxHeadersCount = MOST_HEADERS + 1;
  server.on('request', (request, response) => {
    inProgress.set(request.socket, { request, response });
  });
  server.on('request', listener);
  // Expectations that are not known may be ignored (RFC 9110, 10.1.1); Node would answer without a body.
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket: Socket) => {
    onRefused(...refuse(socket, notAllowed('CONNECT')));
  });
  server.on('clientError', (error: ParserError, socket: Socket) => onClientError(error, socket, onRefused));
  return server;
}

/** What Node says about bytes that are no request. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Connections that are being closed with an error, those whose head broke the bound, and the last request of each. */
const refused = new WeakSet<Socket>();
const overflowing = new WeakSet<Socket>();
const inProgress = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();

function onClientError(error: ParserError, socket: Socket, onRefused: OnRefused): void {
  if (refused.has(socket)) return;
  // A connection opened ahead and not used: an answer to nothing would be taken for that to a later request.
  const unused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  if (!socket.writable || error.code === 'ECONNRESET' || unused) {
    socket.destroy();
    return;
  }
  const current = inProgress.get(socket);
  if (current !== undefined && !current.response.writableFinished) {
    const { request, response } = current;
    // What follows a complete request is at fault, not that: it gets its answer first.
    if (request.complete || response.headersSent) {
      refused.add(socket);
      response.once('close', () => {
        closeGently(socket);
      });
      return;
    }
  }
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      refuseOverflow(socket, error.rawPacket ?? Buffer.alloc(0), onRefused);
      return;
    case 'HPE_INVALID_METHOD':
      onRefused(...refuse(socket, notAllowed('This')));
      return;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      onRefused(...refuse(socket, new ServiceError('invalidParameter', 'The request did not arrive in time.')));
      return;
    default:
      onRefused(...refuse(socket, new ServiceError('invalidParameter', 'This is not a well-formed HTTP/1.1 request.')));
  }
}

/**
 * The parser does not say which part was too long, and by then most of it is gone; but the line that broke the bound
 * still goes on. If it ends in a protocol version it was the request line: a shorter one would have ended before this
 * packet, as packets are read 64 KiB at a time. Each further packet comes here as an error of its own. From Node 26 on too many headers
 * come here, too: the packet may have begun with a whole request line, which is not at fault then.
 */
function refuseOverflow(socket: Socket, packet: Buffer, onRefused: OnRefused): void {
  const end = packet.indexOf('\r\n');
  if (end === -1) {
    if (overflowing.has(socket)) return;
    overflowing.add(socket);
    setTimeout(() => {
      if (!refused.has(socket)) onRefused(...refuse(socket, headersTooLarge()));
    }, LINGER).unref();
    return;
  }
  const isWhole = end <= LONGEST_URL && /^[A-Z]+ /.test(packet.toString('latin1', 0, 20));
  const requestLine = !isWhole && / HTTP\/\d\.\d$/.test(packet.toString('latin1', Math.max(0, end - 20), end));
  onRefused(...refuse(socket, requestLine ? uriTooLong() : headersTooLarge()));
}

function notAllowed(what: string): ServiceError {
  return new ServiceError('methodNotAllowed', `${what} method is not allowed here.`, {
    allowed: ['GET', 'HEAD', 'POST', 'OPTIONS'],
  });
}

/** Answers on the connection itself and closes it. @returns what was answered, and its id */
function refuse(socket: Socket, error: ServiceError): [ServiceError, string] {
  refused.add(socket);
  const id = randomUUID();
  const more = {
    ...SECURITY_HEADERS,
    Date: new Date().toUTCString(),
    'X-Request-Id': id,
    'Server-Timing': 'total;dur=0',
  };
  socket.write(rawResponse(errorResponse(error, id), more));
  closeGently(socket);
  return [error, id];
}

/** Closing with bytes unread would send a reset, which can overtake the answer: they are read for a while. */
function closeGently(socket: Socket): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER).unref();
}

/** Logs and counts requests that could not even be parsed: of those nothing is known but what is wrong. */
export function recordRefused(log: Log, metrics: Metrics): OnRefused {
  const meter = new RequestMeter(metrics);
  return ({ reason }, id) => {
    const status = ERRORS[reason].http;
    meter.count({ status, reason, milliseconds: 0, phases: [], bytes: 0 });
    log.info({ id, reason, status }, 'request');
  };
}
