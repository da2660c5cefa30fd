/** A response, without the headers that exchange.ts adds to every one. */
export interface HttpResponse {
  readonly status: number;
  /** By name, or a flat list of names and values, which is faster to write (docs/decisions/fast-path.md). */
  readonly headers: Readonly<Record<string, string>> | readonly string[];
  /** null: none, as with 204 and 304. */
  readonly body: Buffer | null;
}

/** A response with its headers by name. */
export interface NamedResponse extends HttpResponse {
  readonly headers: Readonly<Record<string, string>>;
}

export function jsonResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): NamedResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}
