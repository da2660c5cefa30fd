/** The way to Redis, with a breaker in it: a Redis that fails costs a few requests the command timeout, then none. */
import type { Redis } from 'ioredis';

import type { Log } from '../log';
import { type RedisClient, servers } from './client';
import { within } from './deadline';
import { kindOf, reasonOf } from './failure';
import { RedisUnavailable } from './unavailable';

/** `closed`: commands go to Redis. `open`: it is left alone. `half-open`: it is being asked whether it is back. */
export type RedisState = 'closed' | 'open' | 'half-open';

/**
 * `timeout`, `refused`, `failed`: how a command failed (`FailureKind`). `skipped`: it was not sent, as the breaker is not
 * closed. `opened`, `closed`: what became of the breaker.
 */
export type RedisEvent = 'timeout' | 'refused' | 'failed' | 'skipped' | 'opened' | 'closed';

export interface RedisConnectionOptions {
  /** A new client, which is not connected yet. */
  readonly create: () => RedisClient;
  /** What the names of all keys begin with. */
  readonly prefix: string;
  /** Milliseconds that one command may take. */
  readonly timeout: number;
  readonly log: Log;
}

/** Commands in a row that fail before Redis is left alone; in a Cluster for each of its masters, as one of them may be dead. */
const FAILURES = 3;

/** Milliseconds in which a client must have connected: Sentinels are asked one after the other before that. */
const CONNECT = 2000;

/** Milliseconds until the next try: after the first failure, and at most. They double in between. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 5000;

/** Milliseconds after which a connection counts as good: when it fails then, the next is tried at once. */
const STEADY = 10_000;

/** Milliseconds between two lines of the log about commands that Redis refuses. */
const BETWEEN_REFUSALS = 60_000;

export class RedisConnection {
  #state: RedisState = 'half-open';
  /** Set while the breaker is closed. */
  #client: RedisClient | null = null;
  /** Set while the breaker is half-open. */
  #candidate: RedisClient | null = null;
  #failures = 0;
  #tries = 0;
  #closedAt = 0;
  #retry: NodeJS.Timeout | null = null;
  #doubted = false;
  #ended = false;
  /** What the log was last told of. */
  #told: 'nothing' | 'up' | 'down' = 'nothing';
  #refusalsToldUntil = 0;
  readonly #counts: Record<RedisEvent, number> = {
    timeout: 0,
    refused: 0,
    failed: 0,
    skipped: 0,
    opened: 0,
    closed: 0,
  };
  /** Resolves when Redis has answered for the first time, or is known not to. */
  readonly tried: Promise<void>;

  constructor(private readonly options: RedisConnectionOptions) {
    this.tried = this.#probe();
  }

  get prefix(): string {
    return this.options.prefix;
  }

  get state(): RedisState {
    return this.#state;
  }

  /** How often what has happened, since the start. */
  get counts(): Readonly<Record<RedisEvent, number>> {
    return this.#counts;
  }

  /**
   * Sends what `work` sends. An error that `work` throws, too, is one of the connection: an answer that cannot be.
   *
   * @throws RedisUnavailable within the command timeout, or at once
   */
  async run<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === null) {
      this.#counts.skipped++;
      throw new RedisUnavailable('Redis is left alone for now: it did not answer.');
    }
    try {
      const answer = await within(this.options.timeout, () => work(client));
      if (client === this.#client) this.#failures = 0;
      return answer;
    } catch (error) {
      this.#judge(client, error);
      throw new RedisUnavailable(`Redis: ${reasonOf(error)}.`);
    }
  }

  /** Ends it, without waiting for anything. */
  close(): void {
    this.#ended = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#client?.disconnect();
    this.#candidate?.disconnect();
    this.#client = null;
    this.#state = 'open';
  }

  #judge(client: RedisClient, error: unknown): void {
    const kind = kindOf(error);
    this.#counts[kind === 'late' ? 'timeout' : kind === 'refused' ? 'refused' : 'failed']++;
    if (client !== this.#client) return;
    if (kind === 'refused') {
      this.#failures = 0;
      this.#tellRefusal(reasonOf(error));
      return;
    }
    this.#failures++;
    if (kind === 'elsewhere' || this.#failures >= FAILURES * servers(client).length) this.#open(reasonOf(error));
    else if (kind === 'late') void this.#doubt(client);
  }

  /** Something came too late: a connection that does not answer a PING either is dead, and is not used again. */
  async #doubt(client: RedisClient): Promise<void> {
    if (this.#doubted) return;
    this.#doubted = true;
    try {
      const all = servers(client);
      const alive = await Promise.all(all.map((server) => this.#answers(server)));
      if (client !== this.#client) return;
      if (alive.includes(true)) all.filter((_, i) => alive[i] === false).forEach((server) => server.disconnect());
      else this.#open('no answer in time');
    } finally {
      this.#doubted = false;
    }
  }

  #answers(server: Redis): Promise<boolean> {
    return within(this.options.timeout, () => server.ping()).then(
      (word) => word === 'PONG',
      () => false,
    );
  }

  #open(reason: string): void {
    const client = this.#client;
    this.#client = null;
    client?.disconnect();
    this.#counts.opened++;
    if (performance.now() - this.#closedAt > STEADY) this.#tries = 0;
    this.#tell('down', reason);
    this.#pause();
  }

  /** Leaves Redis alone for a while: processes that lost it at the same time do not come back at the same time. */
  #pause(): void {
    this.#state = 'open';
    if (this.#ended) return;
    const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#tries++);
    const pause = longest * (0.5 + Math.random() / 2);
    this.#retry = setTimeout(() => void this.#probe(), pause).unref();
  }

  async #probe(): Promise<void> {
    this.#state = 'half-open';
    const client = this.options.create();
    this.#candidate = client;
    let cause: unknown = null;
    client.on('error', (error: unknown) => (cause = error));
    try {
      await within(CONNECT, () => client.connect());
      await this.#meet(client);
    } catch (error) {
      client.disconnect();
      this.#tell('down', reasonOf(cause ?? error));
      this.#pause();
      return;
    } finally {
      this.#candidate = null;
    }
    if (this.#ended) client.disconnect();
    else this.#close(client);
  }

  /** @throws when no server answers as Redis does, and in time */
  async #meet(client: RedisClient): Promise<void> {
    // Nodes of a Cluster are only connected to when something is sent to them: the first PING may take longer.
    await anyOf(servers(client).map((server) => within(CONNECT, () => server.ping())));
    const word = await anyOf(servers(client).map((server) => within(this.options.timeout, () => server.ping())));
    if (word !== 'PONG') throw new Error('What answers is not Redis.');
  }

  #close(client: RedisClient): void {
    this.#client = client;
    this.#state = 'closed';
    this.#failures = 0;
    this.#closedAt = performance.now();
    this.#counts.closed++;
    this.#tell('up');
    client.once('end', () => {
      if (client === this.#client) this.#open('connection lost');
    });
    if (client.status === 'end') this.#open('connection lost');
  }

  /** A Redis that is full refuses one write after the other. */
  #tellRefusal(reason: string): void {
    const now = performance.now();
    if (now < this.#refusalsToldUntil) return;
    this.#refusalsToldUntil = now + BETWEEN_REFUSALS;
    this.options.log.warn({ reason }, 'Redis refuses commands: some results are not shared');
  }

  /** Once for every change; the address is not named, as it can hold a password. */
  #tell(now: 'up' | 'down', reason?: string): void {
    if (this.#told === now || this.#ended) return;
    if (now === 'down') this.options.log.warn({ reason }, 'Redis does not answer: results are not shared');
    else if (this.#told === 'down') this.options.log.info('Redis answers again: results are shared');
    else this.options.log.info('Redis answers: results are shared');
    this.#told = now;
  }
}

/** @throws what the first rejected with, when all did */
async function anyOf<T>(promises: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(promises);
  } catch (error) {
    throw error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as Error) : error;
  }
}
