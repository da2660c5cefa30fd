import { groupOf } from '@logquay/duckdb-engine/concurrency';
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { RedisConnection } from '../redis/connection';
import { ServiceError } from '../errors';

/** Seconds until a day's spending expires: long enough to look at it in every time zone. */
const EXPIRY = 3 * 86_400;

/**
 * Spending in Redis: a hash for each key and day, with a field for each process that holds what it has spent in all. A
 * process writes its sum, never a difference: repeated after a timeout or a loss of data it is still right.
 */
export class RedisSpending implements SharedSpending {
  /** This process among the fields. */
  readonly #self = randomUUID();

  constructor(private readonly redis: Pick<RedisConnection, 'prefix' | 'run'>) {}

  spent(key: string, day: string): Promise<bigint> {
    return this.redis.run(async (client) => sumOf(await client.hvals(this.#name(key, day))));
  }

  note(key: string, day: string, here: bigint): Promise<bigint> {
    const name = this.#name(key, day);
    return this.redis.run(async (client: Redis | Cluster) => {
      const replies = await client.multi().hset(name, this.#self, String(here)).expire(name, EXPIRY).hvals(name).exec();
      const [error, values] = replies?.[2] ?? [new Error('Redis did not answer.'), null];
      const failed = replies?.find(([one]) => one !== null)?.[0] ?? error;
      if (failed !== null) throw failed;
      return sumOf(values);
    });
  }

  #name(key: string, day: string): string {
    return `${this.redis.prefix}:budget:${day}:${key}`;
  }
}

/** @throws Error for anything but texts of digits */
function sumOf(values: unknown): bigint {
  if (!Array.isArray(values)) throw new Error('Redis answered with something else than values.');
  return values.reduce((sum: bigint, value: unknown) => {
    if (typeof value !== 'string' || !/^\d{1,19}$/.test(value)) throw new Error('Redis answered with no number.');
    return sum + BigInt(value);
  }, 0n);
}

/** Of the bytes of an issuer, the part of one subject where nothing says otherwise. */
const SUBJECTS_PART = 20n;

/** A key, as far as its budget goes. */
export interface BudgetedKey {
  readonly name: string;
  /** Bytes billed in a UTC day; null: the configuration's. */
  readonly dailyBytes: bigint | null;
  /** Of a token: what all of its issuer may have billed. */
  readonly issuer?: { readonly name: string; readonly dailyBytes: bigint | null };
}

/** What all processes have spent, in one place. Both reject when it fails, within its own timeout. */
export interface SharedSpending {
  /** What all processes together have had billed to a key on a day. @param day `2026-11-21` */
  spent(key: string, day: string): Promise<bigint>;
  /** The same, after noting what this process has spent so far that day: said twice it counts once. */
  note(key: string, day: string, here: bigint): Promise<bigint>;
}

export interface BudgetsOptions {
  /** Bytes that a key may have billed in a UTC day where it says nothing else; null: as many as it likes. */
  readonly perDay: bigint | null;
  /** null: this process is alone. */
  readonly shared: SharedSpending | null;
  /** Milliseconds since 1970; of the machine, never CLOCK's. */
  readonly now?: () => number;
}

/** A key's day. */
interface Account {
  readonly day: string;
  limit: bigint | null;
  /** Billed by runs of this process. */
  here: bigint;
  /** The most that is known to have been billed by all together. */
  known: bigint;
  /** What of `here` has been sent to the shared store. */
  noted: bigint;
}

const DAY = 86_400_000;

/**
 * The daily budgets of bytes billed (docs/keys.md): refused before it runs is whose budget is spent; charged is a run when
 * it has ended. Runs that are under way when the last byte is spent go over it (docs/decisions/shared-runs.md).
 */
export class Budgets {
  readonly #accounts = new Map<string, Account>();
  readonly #background = new Set<Promise<void>>();

  constructor(private readonly options: BudgetsOptions) {}

  /**
   * Asks whether a key may have anything more billed today. Waits for the shared store; when that fails, what this
   * process knows decides.
   *
   * @throws ServiceError budgetExceeded
   */
  async check(key: BudgetedKey): Promise<void> {
    for (const { name, dailyBytes } of key.issuer === undefined ? [key] : [key, key.issuer]) {
      const limit = dailyBytes ?? this.#perDayOf(key.issuer, name);
      if (limit === null) continue;
      const account = this.#account(name);
      account.limit = limit;
      if (account.known < limit) await this.#ask(name, account);
      if (account.known >= limit) throw this.#refusal(name === key.name ? limit : null);
    }
  }

  /** What a key, an issuer or a subject may have billed where the keys file says nothing. */
  #perDayOf(issuer: BudgetedKey['issuer'], name: string): bigint | null {
    const { perDay } = this.options;
    return perDay === null || issuer === undefined || issuer.name === name ? perDay : perDay / SUBJECTS_PART;
  }

  /** Charges a run that has ended, to a subject and to its issuer. Resolves at once; the shared store gets it in the background. */
  charge(payer: string, bytes: bigint): void {
    if (bytes === 0n) return;
    for (const name of new Set([payer, groupOf(payer)])) this.#charge(name, bytes);
  }

  #charge(name: string, bytes: bigint): void {
    const account = this.#account(name);
    account.here += bytes;
    account.known += bytes;
    const sent = this.#ask(name, account).finally(() => this.#background.delete(sent));
    this.#background.add(sent);
  }

  /** What is known of keys with a budget today: bytes allowed and billed. */
  today(): { readonly key: string; readonly limit: bigint; readonly spent: bigint }[] {
    const day = this.#day();
    return [...this.#accounts].flatMap(([key, account]) =>
      // A subject is no label of a metric.
      account.day === day && account.limit !== null && groupOf(key) === key
        ? [{ key, limit: account.limit, spent: account.known }]
        : [],
    );
  }

  /**
   * What is left of a key's budget today as far as this process knows, in tenths: from 0 to 1; null: it has no budget. Not more
   * exactly, as the bytes of a run depend on rows that the key may not see.
   */
  left(key: BudgetedKey): number | null {
    const limit = key.dailyBytes ?? this.#perDayOf(key.issuer, key.name);
    if (limit === null) return null;
    const { known } = this.#account(key.name);
    if (known >= limit) return 0;
    return Number(((limit - known) * 10n) / limit) / 10;
  }

  /** Resolves when all charges have been sent, or cannot be. */
  async close(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  /** Sends what is unsent, and reads what all have spent. A failure of the shared store neither refuses nor delays. */
  async #ask(name: string, account: Account): Promise<void> {
    const { shared } = this.options;
    if (shared === null) return;
    const { day, here } = account;
    try {
      const all = here > account.noted ? await shared.note(name, day, here) : await shared.spent(name, day);
      if (here > account.noted) account.noted = here;
      // What is charged meanwhile is not in it; a shared place that has lost its data knows less than this process.
      const known = all + (account.here - here);
      if (known > account.known) account.known = known;
    } catch {
      // Counted and logged by the connection. What was not sent is sent with the next run.
    }
  }

  #account(name: string): Account {
    const day = this.#day();
    const account = this.#accounts.get(name);
    if (account?.day === day) return account;
    // Once a day for each key: those that are gone do not stay.
    for (const [other, { day: its }] of this.#accounts) if (its !== day) this.#accounts.delete(other);
    const fresh: Account = { day, limit: null, here: 0n, known: 0n, noted: 0n };
    this.#accounts.set(name, fresh);
    return fresh;
  }

  #now(): number {
    return (this.options.now ?? Date.now)();
  }

  #day(): string {
    return new Date(this.#now()).toISOString().slice(0, 10);
  }

  /**
   * It says nothing about what was read: keys with pins get the same message.
   *
   * @param limit null: it is that of all users of an issuer, which is no user's to know
   */
  #refusal(limit: bigint | null): ServiceError {
    const now = this.#now();
    const midnight = Math.floor(now / DAY + 1) * DAY;
    const seconds = Math.ceil((midnight - now) / 1000);
    const left = `${String(Math.floor(seconds / 3600))} h ${String(Math.floor((seconds % 3600) / 60))} min`;
    const reset = `${new Date(midnight).toISOString().slice(0, 19)}Z`;
    const of = limit === null ? '' : `: of ${String(limit)} bytes a day, 0 are left`;
    return new ServiceError(
      'budgetExceeded',
      `The budget of this key is spent${of}. It resets at ${reset}, in ${left}.`,
      { retryAfter: seconds, hint: 'Cached results are still served.' },
    );
  }
}
