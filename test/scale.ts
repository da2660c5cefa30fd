/**
 * How much the tests that generate cases do: a twentieth with a fixed seed, or all of it where `LONG=1` (`npm run test:long`), with
 * the seed of `SEED`.
 */
export const LONG = process.env['LONG'] === '1';
export const SEED = Number(process.env['SEED'] ?? 1);

/** CI tries what guards tenants with other cases for each commit. */
export const COMMIT_SEED = Number(process.env['FUZZ_SEED'] ?? SEED);

/** How many of so many cases of these are tried. */
export function guardingCases(all: number): number {
  if (LONG) return all;
  return Math.ceil(all / (process.env['FUZZ_SEED'] === undefined ? 80 : 40));
}

/** How many of so many cases are tried; at least one. */
export function cases(all: number): number {
  return LONG ? all : Math.ceil(all / 20);
}

/** By multiples of this, no case of a table that combines lists is passed over: they are in step with none. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** One of so many cases of a table, evenly over it, and its first; all of them where `LONG=1`. */
export function oneOf<T>(part: number, all: readonly T[]): readonly T[] {
  return LONG ? all : all.filter((_, i) => (i * GOLDEN) % 1 < 1 / part);
}

/** Cases that take long, and of which others of their kind are tried anyway: with `LONG=1` alone. */
export function inLong<T>(all: readonly T[]): readonly T[] {
  return LONG ? all : [];
}

/** A test that takes long, and of whose kind another is run anyway: with `LONG=1` alone. */
export function long(...given: Parameters<jest.It>): void {
  if (LONG) it(...given);
}

/** The same for fast-check. */
export function runs(all: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: cases(all), seed: SEED };
}
