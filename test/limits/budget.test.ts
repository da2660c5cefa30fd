import { type BudgetedKey, Budgets, type SharedSpending, RedisSpending } from '../../src/limits/budget';
import type { RedisConnection } from '../../src/redis/connection';
import { describeWithRedis, type RedisServer, startRedis } from '../redis-server';
import { connectTo } from './redis';

const KEY = { name: 'k', dailyBytes: null };
const NOON = Date.parse('2026-11-21T12:00:00Z');
const DAY = 86_400_000;

/** undefined: the key may have more billed. */
async function refusal(budgets: Budgets, key: BudgetedKey = KEY): Promise<unknown> {
  return budgets.check(key).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('the budget of one process', () => {
  it('is what the key says, else the default, else none', async () => {
    const budgets = new Budgets({ perDay: 100n, shared: null });
    const none = new Budgets({ perDay: null, shared: null });
    for (const one of [budgets, none]) {
      one.charge('k', 100n);
      one.charge('own', 100n);
    }
    expect(await refusal(budgets)).toMatchObject({ reason: 'budgetExceeded' });
    expect(await refusal(budgets, { name: 'own', dailyBytes: 101n })).toBeUndefined();
    expect(await refusal(budgets, { name: 'fresh', dailyBytes: null })).toBeUndefined();
    expect(await refusal(none)).toBeUndefined();
    expect(await refusal(none, { name: 'own', dailyBytes: 100n })).toMatchObject({ reason: 'budgetExceeded' });
  });

  it('is that of a user and that of its issuer: whichever is spent first', async () => {
    const budgets = new Budgets({ perDay: null, shared: null });
    const user = (name: string): BudgetedKey => ({
      name: `app/${name}`,
      dailyBytes: 10n,
      issuer: { name: 'app', dailyBytes: 25n },
    });
    budgets.charge('app/a', 10n);
    expect(await refusal(budgets, user('a'))).toMatchObject({ reason: 'budgetExceeded' });
    expect(await refusal(budgets, user('b'))).toBeUndefined();
    budgets.charge('app/b', 9n);
    budgets.charge('app/c', 9n);
    const ofAll = { reason: 'budgetExceeded', message: expect.stringMatching(/^The budget of this key is spent\. It/) };
    expect(await refusal(budgets, user('d'))).toMatchObject(ofAll);
    // Metrics have the issuer alone, and a user learns of its own account.
    expect(budgets.today().map(({ key }) => key)).toEqual(['app']);
    expect(budgets.left(user('b'))).toBe(0.1);
  });

  it('of a user is a twentieth of the default', async () => {
    const budgets = new Budgets({ perDay: 100n, shared: null });
    budgets.charge('app/a', 5n);
    const user = { name: 'app/a', dailyBytes: null, issuer: { name: 'app', dailyBytes: null } };
    expect(await refusal(budgets, user)).toMatchObject({ reason: 'budgetExceeded' });
    expect(await refusal(budgets, { ...user, name: 'app/b' })).toBeUndefined();
  });

  it('refuses with what is left, when it resets, and when to come back', async () => {
    const budgets = new Budgets({ perDay: 20_000_000n, shared: null, now: () => NOON + 1 });
    budgets.charge('k', 30_000_000n);
    expect(await refusal(budgets)).toMatchObject({
      reason: 'budgetExceeded',
      message:
        'The budget of this key is spent: of 20000000 bytes a day, 0 are left. It resets at 2026-11-22T00:00:00Z, in 12 h 0 min.',
      details: { retryAfter: 43_200 },
    });
  });

  it('begins anew at midnight UTC', async () => {
    let now = NOON;
    const budgets = new Budgets({ perDay: 10n, shared: null, now: () => now });
    budgets.charge('k', 10n);
    now = NOON + DAY / 2 - 1;
    expect(await refusal(budgets)).toBeDefined();
    now++;
    expect(await refusal(budgets)).toBeUndefined();
    expect(budgets.today()).toEqual([{ key: 'k', limit: 10n, spent: 0n }]);
  });

  it('is exact beyond what a double holds', async () => {
    const budgets = new Budgets({ perDay: 2n ** 62n + 1n, shared: null });
    budgets.charge('k', 2n ** 62n);
    expect(await refusal(budgets)).toBeUndefined();
    budgets.charge('k', 1n);
    expect(await refusal(budgets)).toBeDefined();
  });
});

describe('the budget while the shared place fails', () => {
  it('is what this process knows, and what was not reported is reported later', async () => {
    let alive = false;
    const noted: bigint[] = [];
    const shared: SharedSpending = {
      spent: () => (alive ? Promise.resolve(5n) : Promise.reject(new Error('gone'))),
      note: (_key, _day, here) => {
        if (!alive) return Promise.reject(new Error('gone'));
        noted.push(here);
        return Promise.resolve(here + 5n);
      },
    };
    const budgets = new Budgets({ perDay: 10n, shared });
    budgets.charge('k', 3n);
    budgets.charge('k', 1n);
    await budgets.close();
    expect(await refusal(budgets)).toBeUndefined();
    alive = true;
    expect(await refusal(budgets)).toBeUndefined();
    expect(noted).toEqual([4n]);
    expect(budgets.today()).toEqual([{ key: 'k', limit: 10n, spent: 9n }]);
  });
});

describeWithRedis('the budget of processes that share a Redis', () => {
  let redis: RedisServer;
  const connections: RedisConnection[] = [];

  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.close();
    await redis.stop();
  });

  async function budgetsOver(
    perDay: bigint,
    timeout = 200,
  ): Promise<{ budgets: Budgets; connection: RedisConnection }> {
    const connection = connectTo(redis.url, timeout);
    connections.push(connection);
    await connection.tried;
    return { budgets: new Budgets({ perDay, shared: new RedisSpending(connection) }), connection };
  }

  it('is one, to the byte, also for a process that starts later', async () => {
    const [one, other] = [await budgetsOver(100n), await budgetsOver(100n)];
    one.budgets.charge('k', 60n);
    await one.budgets.close();
    expect(await refusal(other.budgets)).toBeUndefined();
    other.budgets.charge('k', 39n);
    await other.budgets.close();
    expect(await refusal(one.budgets)).toBeUndefined();
    one.budgets.charge('k', 1n);
    await one.budgets.close();
    expect(await refusal(other.budgets)).toBeDefined();
    const late = await budgetsOver(100n);
    expect(await refusal(late.budgets)).toBeDefined();
    expect(await refusal(late.budgets, { name: 'k2', dailyBytes: null })).toBeUndefined();
  });

  it('counts nothing twice when many runs end at once, and lets go of a day after it', async () => {
    const { budgets, connection } = await budgetsOver(1000n);
    for (let i = 0; i < 50; i++) budgets.charge('k', 2n);
    await budgets.close();
    const late = await budgetsOver(100n);
    expect(await refusal(late.budgets)).toBeDefined();
    const name = (await connection.run((client) => client.keys('test:budget:*')))[0] ?? '';
    expect(await connection.run((client) => client.hvals(name))).toEqual(['100']);
    const left = await connection.run((client) => client.ttl(name));
    expect([left > 86_400, left <= 3 * 86_400]).toEqual([true, true]);
  });

  it('survives a Redis that has lost its data', async () => {
    const [one, other] = [await budgetsOver(100n), await budgetsOver(100n)];
    one.budgets.charge('k', 70n);
    await one.budgets.close();
    expect(await refusal(other.budgets)).toBeUndefined();
    await one.connection.run((client) => client.flushall());
    // Each process knows what it knew, and says its own sum again.
    other.budgets.charge('k', 30n);
    await other.budgets.close();
    expect(await refusal(other.budgets)).toBeDefined();
    one.budgets.charge('k', 5n);
    await one.budgets.close();
    expect(await refusal(await budgetsOver(100n).then(({ budgets }) => budgets))).toBeDefined();
  });

  it('waits no longer than the command timeout when Redis hangs', async () => {
    const { budgets } = await budgetsOver(100n, 50);
    budgets.charge('k', 10n);
    await budgets.close();
    redis.freeze();
    expect(await refusal(budgets)).toBeUndefined();
    budgets.charge('k', 90n);
    expect(await refusal(budgets)).toBeDefined();
    await budgets.close();
    redis.thaw();
  });

  it('is not fooled by what others have written under its names', async () => {
    const { budgets, connection } = await budgetsOver(100n);
    const day = new Date().toISOString().slice(0, 10);
    await connection.run((client) => client.hset(`test:budget:${day}:k`, 'x', 'garbage'));
    expect(await refusal(budgets)).toBeUndefined();
    await connection.run((client) => client.set(`test:budget:${day}:k2`, 'garbage'));
    expect(await refusal(budgets, { name: 'k2', dailyBytes: null })).toBeUndefined();
    budgets.charge('k2', 100n);
    await budgets.close();
    expect(await refusal(budgets, { name: 'k2', dailyBytes: null })).toBeDefined();
  });
});
