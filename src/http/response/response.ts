/** An answer before it goes out: what every one has in common is added by who writes it (exchange.ts). */
export interface HttpResponse {
  readonly status: number;
  /** By name, or names and values in turn: the form that costs least to write, for answers of which there are many. */
  readonly headers: Readonly<Record<string, string>> | readonly string[];
  /** null: no body at all, as with 204 and 304. */
  readonly body: Buffer | null;
}

/** An answer whose headers are told apart by name. */
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
