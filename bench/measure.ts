/** Measuring: medians of alternating runs, so that both sides meet the same machine. */

export interface Comparison {
  readonly name: string;
  /** Milliseconds, medians. */
  readonly ours: number;
  readonly baseline: number;
}

export type Work = () => Promise<unknown>;

/** Milliseconds for which two sides are compared at least: a difference of half a millisecond needs more than a few rounds. */
const LEAST = 2_000;

/** Runs both alternately, after warming each up, and takes medians. @param rounds at least */
export async function compare(name: string, ours: Work, baseline: Work, rounds: number): Promise<Comparison> {
  for (const work of [ours, baseline, ours, baseline]) await work();
  const times: [number[], number[]] = [[], []];
  const end = performance.now() + LEAST;
  for (let i = 0; i < rounds || performance.now() < end; i++) {
    times[0].push(await time(ours));
    times[1].push(await time(baseline));
  }
  return { name, ours: median(times[0]), baseline: median(times[1]) };
}

export async function time(work: Work): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** `(within goal 1.2x)`: lines with it are those of the table at the end (main.ts). */
export function verdict(holds: boolean, goal: string): string {
  return `(${holds ? 'within' : 'MISSES'} goal ${goal})`;
}

/** `name   12.3 ms   baseline 10.0 ms   1.23x (within goal 1.50x)` */
export function report({ name, ours, baseline }: Comparison, goal: number): string {
  const ratio = ours / baseline;
  return `${name.padEnd(44)} ${ms(ours)}  baseline ${ms(baseline)}  ${ratio.toFixed(2)}x  ${verdict(ratio <= goal, `${String(goal)}x`)}`;
}

export function ms(value: number): string {
  return `${value.toFixed(1).padStart(8)} ms`;
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
