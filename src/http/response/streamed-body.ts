import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

import { abortError } from '../../concurrency/deadline';
import { ServiceError } from '../../errors';
import type { Encoding } from '../../rendering/encoded-response';
import type { BodyWriter } from '../../run/types';

/** Milliseconds in which a client has to take what it was sent, some 256 KiB, before it is cut off. */
const STALL = 30_000;

/** A body that is sent while it is being made, no faster than the client takes it. */
export class StreamedBody implements BodyWriter {
  readonly #target: Writable;

  /** @param sent is called with the number of bytes as they are sent */
  constructor(
    private readonly response: ServerResponse,
    coding: Encoding | null,
    private readonly sent: (bytes: number) => void,
    private readonly stall = STALL,
  ) {
    this.#target = coding === null ? response : compressing(response, coding, sent);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.response.destroyed) throw abortError();
    this.#count(bytes);
    if (!this.#target.write(bytes)) await this.#drained();
  }

  end(bytes: Uint8Array): void {
    this.#count(bytes);
    this.#target.end(bytes);
  }

  #count({ length }: Uint8Array): void {
    if (this.#target === this.response) this.sent(length);
  }

  #drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => (): void => {
        clearTimeout(timer);
        this.#target.off('drain', onDrain);
        this.response.off('close', onClose);
        how();
      };
      const onDrain = settle(resolve);
      const onClose = settle(() => reject(abortError()));
      const timer = setTimeout(
        settle(() => reject(new ServiceError('deadlineExceeded', 'The client does not take what it is sent.'))),
        this.stall,
      );
      this.#target.once('drain', onDrain);
      this.response.once('close', onClose);
    });
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
