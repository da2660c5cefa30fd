/** The headers of a request as received: Node's own object joins or drops repeated ones. */
export class RequestHeaders {
  /** @param raw a flat list of names and values, as `IncomingMessage.rawHeaders` */
  constructor(private readonly raw: readonly string[]) {}

  /** Every value of a header, in order. @param name in lower case */
  values(name: string): string[] {
    const found: string[] = [];
    for (let i = 0; i + 1 < this.raw.length; i += 2) {
      const given = this.raw[i] ?? '';
      if (given.length === name.length && given.toLowerCase() === name) found.push(this.raw[i + 1] ?? '');
    }
    return found;
  }

  /** The values of a list header, joined (RFC 9110, 5.3); undefined: it is absent. @param name in lower case */
  list(name: string): string | undefined {
    const values = this.values(name);
    return values.length === 0 ? undefined : values.join(', ');
  }

  /** Headers, each repetition counted. */
  get count(): number {
    return this.raw.length / 2;
  }

  /** Length of all names and values, in bytes. */
  get size(): number {
    return this.raw.reduce((sum, text) => sum + text.length, 0);
  }
}
