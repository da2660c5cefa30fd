import type { ServerResponse } from 'node:http';

import { abortError } from '../../concurrency/deadline';
import { ServiceError } from '../../errors';
import type { Holding } from '../../limits/byte-shares';
import type { EventWriter } from '../../run/tail/types';

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
    await new Promise<void>((resolve, reject) => {
      const settle = (how: () => void) => (): void => {
        clearTimeout(timer);
        response.off('drain', onDrain);
        response.off('close', onClose);
        how();
      };
      const onDrain = settle(resolve);
      const onClose = settle(() => reject(abortError()));
      const timer = setTimeout(
        settle(() => reject(stalled())),
        STALL,
      );
      response.once('drain', onDrain);
      response.once('close', onClose);
    });
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

function stalled(): ServiceError {
  return new ServiceError('deadlineExceeded', 'The client does not take what it is sent.');
}
