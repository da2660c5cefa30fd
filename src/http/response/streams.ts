/** Responses that are sent while they are being made. */
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

import { abortError } from '@logquay/duckdb-engine/concurrency';
import { ServiceError } from '../../errors';
import type { Holding } from '../../limits/byte-shares';
import type { Encoding } from '../../rendering/encoded-response';
import type { EventWriter } from '../../run/tail/types';
import type { BodyWriter } from '../../run/types';

/** Milliseconds in which a client has to take what it was sent before it is cut off. */
const STALL = 30_000;

/** A response of events, as they come. */
export class EventStream implements EventWriter {
  readonly closed: Promise<void>;
  /** Whether something was left out, as what the client has not read leaves no room for it. */
  #full = false;

  /**
   * @param holding what of it the client has not taken
   * @param sent is called with the number of bytes as they are sent
   */
  constructor(
    private readonly response: ServerResponse,
    private readonly holding: Holding,
    private readonly sent: (bytes: number) => void,
  ) {
    this.closed = new Promise((resolve) => {
      if (response.destroyed || response.closed) resolve();
      else response.once('close', resolve);
    });
  }

  get pending(): number {
    return this.#full ? Infinity : this.response.writableLength;
  }

  write(bytes: Uint8Array): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    this.#full ||= !this.holding.take(bytes.length, bytes);
    if (this.#full) return;
    this.sent(bytes.length);
    response.write(bytes, () => this.holding.give(bytes));
  }

  async drained(): Promise<void> {
    const { response } = this;
    if (response.destroyed) throw abortError();
    if (this.#full) throw stalled();
    if (!response.writableNeedDrain) return;
    await taken(response, 'drain', response, STALL);
  }

  end(bytes: Uint8Array, patience: number): void {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return;
    this.sent(bytes.length);
    response.end(bytes);
    // No reset: that would take from the client what it has received and not read.
    const timer = setTimeout(() => response.destroy(), patience);
    timer.unref();
    void this.closed.then(() => clearTimeout(timer));
  }
}

/** A body that is sent while it is being made, no faster than the client takes it. */
export class StreamedBody implements BodyWriter {
  readonly #target: Writable;

  /** @param sent is called with the number of bytes as they are sent */
  constructor(
    private readonly response: ServerResponse,
    coding: Encoding | null,
    private readonly sent: (bytes: number) => void,
  ) {
    this.#target = coding === null ? response : compressing(response, coding, sent);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.response.destroyed) throw abortError();
    this.#count(bytes);
    if (!this.#target.write(bytes)) await taken(this.#target, 'drain', this.response);
  }

  async end(bytes: Uint8Array): Promise<void> {
    if (this.response.destroyed) throw abortError();
    this.#count(bytes);
    const finished = taken(this.response, 'finish', this.response);
    this.#target.end(bytes);
    await finished;
  }

  #count({ length }: Uint8Array): void {
    if (this.#target === this.response) this.sent(length);
  }
}

function compressing(response: ServerResponse, coding: Encoding, sent: (bytes: number) => void): Writable {
  const stream =
    coding === 'gzip'
      ? createGzip({ level: 6 })
      : createBrotliCompress({
          params: {
            [constants.BROTLI_PARAM_QUALITY]: 4,
            [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          },
        });
  stream.on('data', ({ length }: Buffer) => sent(length));
  stream.pipe(response);
  // Without a reader it would hold its memory until it is collected.
  response.once('close', () => stream.destroy());
  return stream;
}

/**
 * Resolves when a stream tells that what it was given is taken.
 *
 * @param patience milliseconds for that; default: any number
 * @throws AbortError when the client has gone, ServiceError deadlineExceeded when it does not take it in time
 */
function taken(
  stream: Writable,
  event: 'drain' | 'finish',
  response: ServerResponse,
  patience?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (how: () => void) => (): void => {
      clearTimeout(timer);
      stream.off(event, onEvent);
      response.off('close', onClose);
      how();
    };
    const onEvent = settle(resolve);
    const onClose = settle(() => reject(abortError()));
    const onStall = settle(() => reject(stalled()));
    const timer = patience === undefined ? undefined : setTimeout(onStall, patience);
    stream.once(event, onEvent);
    response.once('close', onClose);
  });
}

function stalled(): ServiceError {
  return new ServiceError('deadlineExceeded', 'The client does not take what it is sent.');
}

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
