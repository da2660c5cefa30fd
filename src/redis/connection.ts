/** One connection to Redis behind a circuit breaker: a failing Redis costs a few requests the command timeout, then none. */
import type { Redis } from 'ioredis';

import { CircuitBreaker } from '../concurrency/circuit-breaker';
import { type Clock, SYSTEM_CLOCK, withTimeout } from '@logquay/duckdb-engine/concurrency';
import type { RedisConfig } from '../config';
import type { Log } from '../log';
import { parseRedisUrl } from './address';
import { createClient, type RedisClient, servers } from './client';
import { isOfWrites, kindOf, reasonOf, RedisUnavailable } from './failure';
import { evaluate, script } from './scripts';

/** `closed`: commands are sent. `open`: none are. `half-open`: a new connection is being tested. */
export type RedisState = 'closed' | 'open' | 'half-open';

/**
 * `timeout`, `refused`, `failed`: how a command failed (`FailureKind`). `skipped`: not sent, as the breaker was not closed.
 * `opened`, `closed`: changes of the breaker.
 */
export type RedisEvent = 'timeout' | 'refused' | 'failed' | 'skipped' | 'opened' | 'closed';

export interface RedisConnectionOptions {
  /** A new client, not connected yet. */
  readonly create: () => RedisClient;
  /** What the names of all keys begin with. */
  readonly prefix: string;
  /** Milliseconds that one command may take. */
  readonly timeout: number;
  readonly log: Log;
  readonly clock?: Clock;
  /** Takes why Redis refuses writes, and null when Redis takes them again. */
  readonly report?: (refusal: string | null) => void;
}

/** Failures in a row that open the breaker, for each master of a Cluster: one of them may be dead. */
const FAILURES = 3;

/** Milliseconds for a client to connect, Sentinels included. */
const CONNECT = 2000;

/** Milliseconds until the first retry, and at most; doubled in between. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 5000;

/** A connection that lasted so many milliseconds resets the pauses. */
const STEADY = 10_000;

/** Milliseconds until a write is tried again while Redis refuses them, and that write: a script, as the service's own are. */
const WRITE_AGAIN = 2_000;
const WRITE = script(`return redis.call('SET', KEYS[1], '1', 'PX', 1000)`);

/** Milliseconds between two warnings about commands that Redis refuses. */
const BETWEEN_REFUSALS = 60_000;

export class RedisConnection {
  readonly #clock: Clock;
  readonly #breaker: CircuitBreaker;
  /** Set while the breaker is closed. */
  #client: RedisClient | null = null;
  /** The client under test while the breaker is half-open. */
  #candidate: RedisClient | null = null;
  #retries = 0;
  #closedAt = 0;
  #cancelRetry: (() => void) | null = null;
  #pinging = false;
  #ended = false;
  #logged: 'nothing' | 'up' | 'down' = 'nothing';
  #nextRefusalLog = -Infinity;
  #refusal: string | null = null;
  #cancelWrite: (() => void) | null = null;
  readonly #counts: Record<RedisEvent, number> = {
    timeout: 0,
    refused: 0,
    failed: 0,
    skipped: 0,
    opened: 0,
    closed: 0,
  };
  /** Resolves after the first attempt to connect, successful or not. */
  readonly tried: Promise<void>;

  constructor(private readonly options: RedisConnectionOptions) {
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#breaker = new CircuitBreaker({
      failures: () => FAILURES * (this.#client === null ? 1 : servers(this.#client).length),
      cooldown: () => this.#nextPause(),
      untested: true,
      clock: this.#clock,
    });
    this.tried = this.#connect();
  }

  get prefix(): string {
    return this.options.prefix;
  }

  get state(): RedisState {
    return this.#ended ? 'open' : this.#breaker.state;
  }

  /** Why Redis refuses writes (it is full, its disk is, or the user may not); null: it takes them, as far as is known. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Events since the start. */
  get counts(): Readonly<Record<RedisEvent, number>> {
    return this.#counts;
  }

  /**
   * Sends the commands of `work`. Whatever `work` throws counts as a failure of Redis: replies are validated in it.
   *
   * @throws RedisUnavailable within the command timeout, or at once
   */
  async run<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === null) {
      this.#counts.skipped++;
      throw new RedisUnavailable('Redis does not answer; the circuit breaker is open.');
    }
    try {
      const reply = await withTimeout(this.options.timeout, () => work(client), this.#clock);
      if (client === this.#client) this.#breaker.succeeded();
      return reply;
    } catch (error) {
      this.#recordFailure(client, error);
      throw new RedisUnavailable(`Redis: ${reasonOf(error)}.`);
    }
  }

  /** Disconnects without waiting. */
  close(): void {
    this.#ended = true;
    this.#cancelRetry?.();
    this.#cancelWrite?.();
    this.#client?.disconnect();
    this.#candidate?.disconnect();
    this.#client = null;
  }

  #recordFailure(client: RedisClient, error: unknown): void {
    const kind = kindOf(error);
    this.#counts[kind === 'late' ? 'timeout' : kind === 'refused' ? 'refused' : 'failed']++;
    if (client !== this.#client) return;
    if (kind === 'refused') {
      this.#breaker.succeeded();
      this.#logRefusal(reasonOf(error));
      if (isOfWrites(error)) this.#refuses(reasonOf(error));
      return;
    }
    if (kind === 'elsewhere') this.#breaker.trip();
    else this.#breaker.failed();
    if (this.#breaker.state !== 'closed') this.#drop(reasonOf(error));
    else if (kind === 'late') void this.#ping(client);
  }

  /** After a timeout: drops the connections that do not answer a PING either. */
  async #ping(client: RedisClient): Promise<void> {
    if (this.#pinging) return;
    this.#pinging = true;
    try {
      const all = servers(client);
      const alive = await Promise.all(all.map((server) => this.#answers(server)));
      if (client !== this.#client) return;
      if (alive.includes(true)) all.filter((_, i) => alive[i] === false).forEach((server) => server.disconnect());
      else this.#open('no answer in time');
    } finally {
      this.#pinging = false;
    }
  }

  #answers(server: Redis): Promise<boolean> {
    return withTimeout(this.options.timeout, () => server.ping(), this.#clock).then(
      (word) => word === 'PONG',
      () => false,
    );
  }

  #open(reason: string): void {
    this.#breaker.trip();
    this.#drop(reason);
  }

  /** The breaker has opened. */
  #drop(reason: string): void {
    const client = this.#client;
    this.#client = null;
    client?.disconnect();
    this.#counts.opened++;
    this.#logChange('down', reason);
    this.#retry();
  }

  /** Milliseconds until the next attempt: random, so that processes do not come back at the same moment. */
  #nextPause(): number {
    if (this.#client !== null && this.#clock.monotonic() - this.#closedAt > STEADY) this.#retries = 0;
    return Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#retries++) * (0.5 + Math.random() / 2);
  }

  #retry(): void {
    if (this.#ended) return;
    this.#cancelRetry = this.#clock.after(this.#breaker.remaining(), () => void this.#connect(), true);
  }

  /** Tests a new client while the breaker is half-open. */
  async #connect(): Promise<void> {
    const client = this.options.create();
    this.#candidate = client;
    let cause: unknown = null;
    client.on('error', (error: unknown) => (cause = error));
    try {
      await withTimeout(CONNECT, () => client.connect(), this.#clock);
      await this.#handshake(client);
    } catch (error) {
      client.disconnect();
      this.#breaker.trip();
      this.#logChange('down', reasonOf(cause ?? error));
      this.#retry();
      return;
    } finally {
      this.#candidate = null;
    }
    if (this.#ended) client.disconnect();
    else this.#use(client);
  }

  /** @throws unless some server answers PING in time */
  async #handshake(client: RedisClient): Promise<void> {
    const ping = (timeout: number): Promise<string> =>
      anyOf(servers(client).map((server) => withTimeout(timeout, () => server.ping(), this.#clock)));
    // Nodes of a Cluster connect with their first command: it may take longer.
    await ping(CONNECT);
    if ((await ping(this.options.timeout)) !== 'PONG') throw new Error('What answers is not Redis.');
  }

  #use(client: RedisClient): void {
    this.#client = client;
    this.#breaker.succeeded();
    this.#closedAt = this.#clock.monotonic();
    this.#counts.closed++;
    this.#logChange('up');
    client.once('end', () => {
      if (client === this.#client) this.#open('connection lost');
    });
    if (client.status === 'end') this.#open('connection lost');
  }

  #logRefusal(reason: string): void {
    const now = this.#clock.monotonic();
    if (now < this.#nextRefusalLog) return;
    this.#nextRefusalLog = now + BETWEEN_REFUSALS;
    this.options.log.warn({ reason }, 'Redis refuses commands: some results are not shared');
  }

  /** Redis takes no writes: one of the service's own tells when it does again. */
  #refuses(reason: string | null): void {
    if (reason !== this.#refusal) this.options.report?.(reason);
    this.#refusal = reason;
    this.#cancelWrite?.();
    this.#cancelWrite =
      reason === null || this.#ended ? null : this.#clock.after(WRITE_AGAIN, () => void this.#tryWrite(), true);
  }

  async #tryWrite(): Promise<void> {
    const before = this.#refusal;
    try {
      await this.run((client) => evaluate(client, WRITE, [`${this.prefix}:write`], []));
      this.#refuses(null);
    } catch {
      // `run` has taken note of a refusal. Where Redis does not answer, what was known of it stays.
      if (this.#refusal === before) this.#refuses(before);
    }
  }

  /** One line for each change, without the address, which may hold a password. */
  #logChange(now: 'up' | 'down', reason?: string): void {
    if (this.#logged === now || this.#ended) return;
    if (now === 'down') this.options.log.warn({ reason }, 'Redis does not answer: results are not shared');
    else if (this.#logged === 'down') this.options.log.info('Redis answers again: results are shared');
    else this.options.log.info('Redis answers: results are shared');
    this.#logged = now;
  }
}

/** @throws the first rejection when all reject */
async function anyOf<T>(promises: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(promises);
  } catch (error) {
    throw error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as Error) : error;
  }
}

/**
 * Starts to connect without waiting for it; `tried` of the connection resolves after the first attempt. Until then commands
 * fail with `RedisUnavailable`.
 *
 * @throws ConfigError for a malformed URL
 */
export function connectRedis(
  { url, prefix, timeout }: RedisConfig,
  log: Log,
  { clock, report }: Pick<RedisConnectionOptions, 'clock' | 'report'> = {},
): RedisConnection {
  const address = parseRedisUrl(url.reveal());
  return new RedisConnection({
    create: () => createClient(address),
    prefix,
    timeout,
    log,
    ...(clock && { clock }),
    ...(report && { report }),
  });
}
