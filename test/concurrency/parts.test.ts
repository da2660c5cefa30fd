import { setTimeout as sleep } from 'node:timers/promises';

import { PARTS } from '../../src/app';
import { Parts } from '../../src/concurrency/parts';

describe('parts', () => {
  function opened(names: readonly (typeof PARTS)[number][]): { readonly parts: Parts<string>; readonly log: string[] } {
    const log: string[] = [];
    const parts = new Parts<string>(PARTS);
    for (const name of names) {
      parts.opened(name, async () => {
        log.push(`close ${name}`);
        await sleep(1);
        log.push(`closed ${name}`);
      });
    }
    return { parts, log };
  }

  test('of a service are closed one after the other: what answers requests first, what it uses later', async () => {
    // The engine is opened at the same time as the stored queries are read.
    const { parts, log } = opened([
      'keys',
      'catalogue',
      'engine',
      'redis',
      'cache',
      'budgets',
      'gate',
      'warmer',
      'tracing',
    ]);
    await parts.close();
    const order = ['warmer', 'gate', 'budgets', 'cache', 'redis', 'catalogue', 'engine', 'keys', 'tracing'];
    expect(log).toEqual(order.flatMap((name) => [`close ${name}`, `closed ${name}`]));
  });

  test('that were never opened are not closed, and none is closed twice', async () => {
    const { parts, log } = opened(['engine']);
    await parts.close();
    await parts.close();
    expect(log).toEqual(['close engine', 'closed engine']);
  });
});
