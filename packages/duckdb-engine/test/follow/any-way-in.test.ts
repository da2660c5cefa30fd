/** More with `npm run test:long -- folder 100 1000`. */
import { compareWays } from './any-way-in';

jest.setTimeout(240_000);

it.each([1, 2, 3])('rows are the same whichever way they come in: %i', async (seed) => {
  expect(await compareWays(seed, 60)).toBeNull();
});
