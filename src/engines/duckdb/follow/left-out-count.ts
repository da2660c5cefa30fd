import type { LeftOutReason } from '../../contract';
import type { Fitting, Unfit } from '../data/strict-row';
import { type LeftOut, leftOutRows, type LeftOutRow, NAMED, NOTHING_LEFT_OUT, together } from './segment';

/** Counts what is left out while rows are read. */
export class LeftOutCount implements Fitting {
  ignored = 0;
  nulled = 0;
  values = 0;
  /** As of `withFieldsOf`. */
  readonly fields = new Set<string>();
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

  /** Whether there is anything to tell. */
  get any(): boolean {
    return leftOutRows(this.total) + this.ignored + this.nulled + this.fields.size > 0;
  }

  get total(): LeftOut {
    const { ignored, nulled } = this;
    return { rows: { ...this.#rows }, first: [...this.#first], fields: [...this.fields], ignored, nulled };
  }
}

/** What was left out of a table, over its conversions. */
export class LeftOutTotals {
  #stored: LeftOut;
  /** Of what is in the tails, and of what a conversion is storing now. */
  #recent: LeftOut = NOTHING_LEFT_OUT;
  #sealed: LeftOut = NOTHING_LEFT_OUT;

  constructor(stored: LeftOut = NOTHING_LEFT_OUT) {
    this.#stored = stored;
  }

  /** Of what is in segments. */
  get stored(): LeftOut {
    return this.#stored;
  }

  get total(): LeftOut {
    return together(together(this.#stored, this.#sealed), this.#recent);
  }

  add(leftOut: LeftOut): void {
    this.#recent = together(this.#recent, leftOut);
  }

  /** A conversion stores what is in the tails. @returns what was left out of that */
  seal(): LeftOut {
    this.#sealed = together(this.#sealed, this.#recent);
    this.#recent = NOTHING_LEFT_OUT;
    return this.#sealed;
  }

  /** It has failed. */
  unseal(): void {
    this.#recent = together(this.#sealed, this.#recent);
    this.#sealed = NOTHING_LEFT_OUT;
  }

  /** It has succeeded, and left that out. */
  store(leftOut: LeftOut): void {
    this.#stored = together(this.#stored, leftOut);
    this.#sealed = NOTHING_LEFT_OUT;
  }
}
