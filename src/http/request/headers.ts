/** The headers of a request as they came: Node's own table joins or drops what is sent twice. */
export class RequestHeaders {
  /** @param raw names and values in turn, as `IncomingMessage.rawHeaders` holds them */
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

  /** The values of a list header in one (RFC 9110, 5.3); undefined where there is none. @param name in lower case */
  list(name: string): string | undefined {
    const values = this.values(name);
    return values.length === 0 ? undefined : values.join(', ');
  }

  /** Length of all names and values, in characters, each being one byte. */
  get size(): number {
    return this.raw.reduce((sum, text) => sum + text.length, 0);
  }
}
