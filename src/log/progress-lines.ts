import { percentOf, type Progress } from './standing';

/** Milliseconds after which the progress of long work is logged, and between two lines. */
const BETWEEN = 5_000;

/** Progress as lines of a log, where no terminal can show it: one every few seconds, none for what is soon done. */
export function progressLines(
  write: (facts: object, message: string) => void,
  now: () => number = () => performance.now(),
): Progress {
  let what: string | null = null;
  let last = 0;
  return (standing) => {
    if (standing?.what !== what) {
      what = standing?.what ?? null;
      last = now();
    }
    if (standing === null || now() - last < BETWEEN) return;
    last = now();
    const { done, total, unit } = standing;
    const counts = unit === '%' ? {} : { done: Math.floor(done), total: Math.floor(total), unit };
    write({ ...counts, percent: percentOf(standing) }, standing.what);
  };
}
