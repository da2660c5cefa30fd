/** What is written while requests are answered: plain numbers, held by who counts. Reading them is for the scrape. */

/** One count that only rises. */
export class Count {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** One histogram: how many values fell below each bound, and above the bound before it. */
export class Spread {
  /** One more than there are bounds: the last is for what is above them all. */
  readonly counts: number[];
  sum = 0;

  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] ?? 0)) i++;
    counts[i] = (counts[i] ?? 0) + 1;
    this.sum += value;
  }
}
