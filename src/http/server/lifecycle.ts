import { ServiceError } from '../../errors';
import type { HeaderValues, Key } from '../../keys/key';
import type { Services } from '../../run/services';

/** How long the engine may take to answer a readiness probe, in milliseconds. */
const PING_TIMEOUT = 2000;

export type Readiness = 'ready' | 'starting' | 'draining' | 'engine-unavailable';

/** The state of the process between start and end, and its services while they are open. */
export class Lifecycle {
  #services: Services | null = null;
  #draining = false;
  #hold: { readonly released: Promise<void>; readonly release: () => void } | null = null;
  #latestDeadline = 0;
  #ping: Promise<boolean> | null = null;

  /** Requests are answered from now on. */
  open(services: Services): void {
    this.#services = services;
  }

  /** Whether requests are answered, or were until now. */
  get opened(): boolean {
    return this.#services !== null;
  }

  /** Announces the deadline of a run, in milliseconds of `performance.now()`: draining waits for it. */
  expectUntil(deadline: number): void {
    this.#latestDeadline = Math.max(this.#latestDeadline, deadline);
  }

  /** The latest deadline of any run so far. */
  get latestDeadline(): number {
    return this.#latestDeadline;
  }

  /** The service reports that it is leaving from now on; requests are still answered. */
  drain(): void {
    this.#draining = true;
  }

  /** Has requests wait from now on, or go on. */
  hold(on: boolean): void {
    this.#hold?.release();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#hold = on ? { released, release } : null;
  }

  /** Resolves when requests go on; null: they need not wait. */
  get held(): Promise<void> | null {
    return this.#hold?.released ?? null;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** @throws ServiceError backendUnavailable while starting: clients come back after a 503, not after a 401 or 404 */
  services(): Services {
    if (this.#services !== null) return this.#services;
    throw new ServiceError('backendUnavailable', 'The service is starting.', { retryAfter: 1 });
  }

  /** Verifies the token of a request, if it brings one that is not known; null: there is nothing to wait for. */
  admit(header: HeaderValues): Promise<void> | null {
    return this.#services?.keys.admit?.(header) ?? null;
  }

  /** The valid key that a request presents, if it does; nothing is refused and nothing is counted. */
  presentedKey(header: HeaderValues): Key | null {
    try {
      return this.#services?.keys.authenticate(header) ?? null;
    } catch (error) {
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }

  async readiness(): Promise<Readiness> {
    if (this.#draining) return 'draining';
    if (this.#services === null) return 'starting';
    // Probes that come at once ask the engine once.
    this.#ping ??= answers(this.#services).finally(() => {
      this.#ping = null;
    });
    return (await this.#ping) ? 'ready' : 'engine-unavailable';
  }
}

/** Whether the engine answers in time; a hung one may not even notice its deadline. */
async function answers({ engine }: Services): Promise<boolean> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => {
      abort.abort();
      resolve(false);
    }, PING_TIMEOUT);
  });
  const limits = { deadline: performance.now() + PING_TIMEOUT, signal: abort.signal };
  const answered = engine.ping(limits).then(
    () => true,
    () => false,
  );
  const result = await Promise.race([answered, late]);
  clearTimeout(timer);
  return result;
}
