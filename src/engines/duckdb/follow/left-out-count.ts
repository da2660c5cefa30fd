import type { LeftOutReason } from '../../data-status';
import type { Fitting, Unfit } from '../data/strict-row';
import { type LeftOut, type LeftOutRow, NAMED } from './segment';

/** Counts what is left out while rows are read. */
export class LeftOutCount implements Fitting {
  ignored = 0;
  nulled = 0;
  readonly #rows: Partial<Record<LeftOutReason, number>> = {};
  readonly #first: LeftOutRow[] = [];

  /** @param lenient as of `Fitting` */
  constructor(readonly lenient: boolean) {}

  add(file: string, line: number, { reason, message }: Unfit): void {
    this.addRows(reason, 1, [{ file, line, reason: message }]);
  }

  addRows(reason: LeftOutReason, count: number, first: readonly LeftOutRow[]): void {
    if (count === 0) return;
    this.#rows[reason] = (this.#rows[reason] ?? 0) + count;
    this.#first.push(...first.slice(0, NAMED - this.#first.length));
  }

  get total(): LeftOut {
    return { rows: { ...this.#rows }, first: [...this.#first], ignored: this.ignored, nulled: this.nulled };
  }
}
