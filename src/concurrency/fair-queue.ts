/** Items that wait, by key: keys take turns, and within a key the oldest item comes first. */
export class FairQueue<Item> {
  /** In the order of their next turns; a key without items is not listed. */
  readonly #byKey = new Map<string, Item[]>();
  #size = 0;

  /** Items of all keys. */
  get size(): number {
    return this.#size;
  }

  /** The keys that items wait for. */
  get keys(): string[] {
    return [...this.#byKey.keys()];
  }

  sizeOf(key: string): number {
    return this.#byKey.get(key)?.length ?? 0;
  }

  /** @param isLater items of the key that this one overtakes: the last ones; default: none */
  push(key: string, item: Item, isLater: (other: Item) => boolean = () => false): void {
    const items = this.#byKey.get(key) ?? [];
    this.#byKey.set(key, items);
    const at = items.findIndex(isLater);
    items.splice(at < 0 ? items.length : at, 0, item);
    this.#size++;
  }

  /** The last item of the key with most, and how many that has. */
  get longest(): { readonly size: number; readonly last: Item | undefined } {
    const items = [...this.#byKey.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    return { size: items.length, last: items.at(-1) };
  }

  /** Takes the next item of the first key that `may` have one, round robin. */
  shift(may: (key: string) => boolean): Item | undefined {
    for (const [key, items] of this.#byKey) {
      if (!may(key)) continue;
      const item = items.shift();
      this.#byKey.delete(key);
      if (items.length > 0) this.#byKey.set(key, items);
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** Removes an item, wherever it is. */
  remove(key: string, item: Item): void {
    const items = this.#byKey.get(key);
    const at = items?.indexOf(item) ?? -1;
    if (items === undefined || at < 0) return;
    items.splice(at, 1);
    this.#size--;
    if (items.length === 0) this.#byKey.delete(key);
  }
}
