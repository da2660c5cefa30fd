/** What is recorded of a request: one type that the log, metrics and traces read. Names and counts, never a value or a URL of the caller. */

/** Attributes that become known while a request is served; undefined: the request did not get that far. */
export interface RequestTelemetry {
  /** The route's pattern; undefined: none matched. */
  route?: string | undefined;
  /** Who is counted: of a token an account of its own. */
  readonly account?: string | undefined;
  /** Name of the key, and whether it has pins. */
  key?: string | undefined;
  pinned?: boolean | undefined;
  /** Name of the stored endpoint, from the catalogue. */
  endpoint?: string | undefined;
  /** The caller's own query: its text is for the log alone, and only where that is configured. */
  query?: { readonly language: 'sql' | 'lql'; readonly text: string } | undefined;
  /** How the result came about. */
  cache?: string | undefined;
  /** Of a run that this request began: whether its result was cached, and bytes billed. */
  stored?: boolean | undefined;
  billed?: bigint | undefined;
  /** Rows of the answer. */
  rows?: number | undefined;
  /** Names of parameters that came in a body. */
  parameters?: readonly string[] | undefined;
  /** Of a batch of logs: the table that it feeds, and its events. */
  table?: string | undefined;
  events?: number | undefined;
  /** Of an error. */
  reason?: string | undefined;
}

/** A completed step of a request; times are of `performance.now()`. */
export interface Phase {
  readonly name: string;
  /** Without nested steps. */
  readonly milliseconds: number;
  readonly began: number;
  readonly ended: number;
}

/** A request whose response has been sent, or whose client has left. */
export interface CompletedRequest extends Readonly<RequestTelemetry> {
  readonly method: string;
  /** 499: the client left. */
  readonly status: number;
  /** Milliseconds of `performance.now()`, and from then until the response was sent. */
  readonly arrived: number;
  readonly milliseconds: number;
  /** In the order in which they ended. */
  readonly phases: readonly Phase[];
  /** Of the body. */
  readonly bytes: number;
}
