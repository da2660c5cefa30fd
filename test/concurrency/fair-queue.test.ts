import { FairQueue } from '../../src/concurrency/fair-slots';

describe('a fair queue', () => {
  const any = (): boolean => true;

  test('gives keys their turns in a round, each its oldest item first', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charAt(0), item);
    expect(Array.from({ length: 7 }, () => queue.shift(any))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
    expect(queue.size).toBe(0);
  });

  test('passes over keys that may have nothing now, who keep their place', () => {
    const queue = new FairQueue<string>();
    queue.push('a', 'a1');
    queue.push('b', 'b1');
    queue.push('b', 'b2');
    expect(queue.shift((key) => key !== 'a')).toBe('b1');
    expect(queue.keys).toEqual(['a', 'b']);
    expect(queue.shift(any)).toBe('a1');
  });

  test('forgets who no longer waits', () => {
    const queue = new FairQueue<string>();
    queue.push('a', 'a1');
    queue.push('a', 'a2');
    queue.remove('a', 'a1');
    queue.remove('a', 'a1');
    queue.remove('b', 'a2');
    expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b')]).toEqual([1, 1, 0]);
    queue.remove('a', 'a2');
    expect(queue.keys).toEqual([]);
  });
});
