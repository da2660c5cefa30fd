/**
 * How much the tests that generate cases do: a twentieth with a fixed seed, or all of it where `LONG=1` (`npm run test:long`), with
 * the seed of `SEED`.
 */
export const LONG = process.env['LONG'] === '1';
export const SEED = Number(process.env['SEED'] ?? 1);

/** How many of so many cases are tried; at least one. */
export function cases(all: number): number {
  return LONG ? all : Math.ceil(all / 20);
}

/** The same for fast-check. */
export function runs(all: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: cases(all), seed: SEED };
}
