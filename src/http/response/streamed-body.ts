import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

import { abortError } from '../../concurrency/deadline';
import type { Encoding } from '../../rendering/encoded-response';
import type { BodyWriter } from '../../run/types';

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
    if (!this.#target.write(bytes)) await this.#untilTaken(this.#target, 'drain');
  }

  async end(bytes: Uint8Array): Promise<void> {
    if (this.response.destroyed) throw abortError();
    this.#count(bytes);
    const taken = this.#untilTaken(this.response, 'finish');
    this.#target.end(bytes);
    await taken;
  }

  #count({ length }: Uint8Array): void {
    if (this.#target === this.response) this.sent(length);
  }

  #untilTaken(target: Writable, event: 'drain' | 'finish'): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => (): void => {
        target.off(event, onEvent);
        this.response.off('close', onClose);
        how();
      };
      const onEvent = settle(resolve);
      const onClose = settle(() => reject(abortError()));
      target.once(event, onEvent);
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
