/** Parts of something larger, which are closed in the reverse of one stated order, whatever they were opened in. */
export class Parts<Name extends string> {
  readonly #closers = new Map<Name, () => Promise<void> | void>();

  /** @param order in which they are opened: each may use those before it until it is closed */
  constructor(private readonly order: readonly Name[]) {}

  opened(name: Name, close: () => Promise<void> | void): void {
    this.#closers.set(name, close);
  }

  /** Closes those that are open, one after the other. */
  async close(): Promise<void> {
    for (const name of this.order.toReversed()) {
      await this.#closers.get(name)?.();
      this.#closers.delete(name);
    }
  }
}
