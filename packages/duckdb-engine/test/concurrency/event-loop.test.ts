import { yieldToEventLoop } from '../../src/concurrency/concurrently';

test('one of several long works goes on in each iteration of the event loop', async () => {
  const order: string[] = [];
  let iteration = 0;
  const count = (): void => {
    iteration++;
    if (order.length < 6) setImmediate(count);
  };
  setImmediate(count);
  const work = async (name: string): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await yieldToEventLoop();
      order.push(`${name}${iteration}`);
    }
  };
  await Promise.all([work('a'), work('b')]);
  expect(order.map((entry) => entry.charAt(0)).join('')).toBe('ababab');
  expect(new Set(order.map((entry) => entry.slice(1))).size).toBe(6);
});
