import { ServiceError } from '../errors';
import { type HeaderValues, presentsKey } from '../keys/credentials';
import type { Rooms } from '../run/request';

/** How long the engine may take to answer a readiness probe, in milliseconds. */
const PING_TIMEOUT = 2000;

export type Readiness = 'ready' | 'starting' | 'draining' | 'engine-unavailable';

/** Where the process stands between its start and its end, and the rooms while they are open. */
export class Lifecycle {
  #rooms: Rooms | null = null;
  #draining = false;
  #ping: Promise<boolean> | null = null;

  /** From now on requests are answered. */
  open(rooms: Rooms): void {
    this.#rooms = rooms;
  }

  /** Whether requests are answered, or were until now. */
  get opened(): boolean {
    return this.#rooms !== null;
  }

  /** From now on the service says that it is leaving; what arrives is still answered. */
  drain(): void {
    this.#draining = true;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** @throws ServiceError backendUnavailable while starting: clients come back after a 503, not after a 401 or 404 */
  rooms(): Rooms {
    if (this.#rooms !== null) return this.#rooms;
    throw new ServiceError('backendUnavailable', 'The service is starting.', { retryAfter: 1 });
  }

  /** Whether a request presents a valid key that has pins; nothing is refused and nothing is counted. */
  presentsPins(header: HeaderValues): boolean {
    if (this.#rooms === null || !presentsKey(header)) return false;
    try {
      return this.#rooms.keys.authenticate(header).pins.size > 0;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }

  async readiness(): Promise<Readiness> {
    if (this.#draining) return 'draining';
    if (this.#rooms === null) return 'starting';
    // Probes that come at once ask the engine once.
    this.#ping ??= answers(this.#rooms).finally(() => {
      this.#ping = null;
    });
    return (await this.#ping) ? 'ready' : 'engine-unavailable';
  }
}

/** Whether the engine answers in time; a hung one may not even notice its deadline. */
async function answers({ engine }: Rooms): Promise<boolean> {
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
