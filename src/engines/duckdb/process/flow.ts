import { type RunLimits, withinLimits } from '../../../concurrency/deadline';

/** Parts that may be on their way to the service's process, each of some 256 KiB. */
export const WINDOW = 4;

/** Sends the parts of one result no faster than the other process takes them. */
export class Flow {
  #untaken = 0;
  #resume: (() => void) | null = null;

  constructor(private readonly limits: RunLimits) {}

  /** Resolves when one more part may be sent, which counts as sent. @throws as withinLimits */
  async admit(): Promise<void> {
    if (this.#untaken >= WINDOW) {
      await withinLimits(
        this.limits,
        (signal) =>
          new Promise<void>((resolve, reject) => {
            this.#resume = resolve;
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }),
      );
    }
    this.#untaken++;
  }

  /** The other process has taken a part. */
  taken(): void {
    this.#untaken--;
    this.#resume?.();
    this.#resume = null;
  }
}
