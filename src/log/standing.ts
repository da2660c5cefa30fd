/** Where long work stands. */
export interface Standing {
  /** What is done, as a sentence begins: `Converting raw_edge_logs`. */
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** What is counted: `rows`, `MB`, or `%` where only the part of the whole is known. */
  readonly unit: string;
}

/** Takes where long work stands, as often as it likes to tell; null: it is done. */
export type Progress = (standing: Standing | null) => unknown;

/** `Converting raw_edge_logs: 1,200 of 3,000 rows (40 %)`. */
export function inWords({ what, done, total, unit }: Standing): string {
  const percent = `${String(percentOf({ done, total }))} %`;
  if (unit === '%') return `${what}: ${percent}`;
  return `${what}: ${counted(done)} of ${counted(total)} ${unit} (${percent})`;
}

/** From 0 to 100, rounded down: 100 is done. */
export function percentOf({ done, total }: Pick<Standing, 'done' | 'total'>): number {
  return total === 0 ? 100 : Math.max(0, Math.min(100, Math.floor((done / total) * 100)));
}

function counted(count: number): string {
  return Math.floor(count).toLocaleString('en-US');
}
