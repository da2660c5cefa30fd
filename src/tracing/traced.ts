/** What a trace is told. Types alone: nothing here loads OpenTelemetry. */

/** The caller's span, as its `traceparent` names it. */
export interface TraceParent {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller keeps this trace. */
  readonly sampled: boolean;
}

/** One step of a request; times are of `performance.now()`. A step that was done within another lies within its times. */
export interface TracedStep {
  readonly name: string;
  readonly began: number;
  readonly ended: number;
}

/** A request that is over, by names and times: nothing in it is a value, a text or a URL that the caller sent. */
export interface TracedRequest {
  readonly method: string;
  /** The route's pattern; undefined: none matched. */
  readonly route?: string | undefined;
  /** Names of the stored endpoint and of the key, as far as the request got. */
  readonly endpoint?: string | undefined;
  readonly key?: string | undefined;
  /** How a result came about. */
  readonly cache?: string | undefined;
  /** Of an error. */
  readonly reason?: string | undefined;
  /** 499: the caller left. */
  readonly status: number;
  /** Bytes that BigQuery billed for the run that this request began. */
  readonly billed?: bigint | undefined;
  /** Milliseconds of `performance.now()`, and from then until the answer was sent. */
  readonly arrived: number;
  readonly milliseconds: number;
  /** In the order in which they ended. */
  readonly phases: readonly TracedStep[];
}

/** Where requests are told to be traced. */
export interface Tracing {
  /**
   * Makes the spans of a request. Nothing waits for them to be sent.
   *
   * @param state the caller's `tracestate`
   * @returns the id of the request's trace; undefined where it is not traced
   */
  tell(request: TracedRequest, parent: TraceParent | undefined, state: string | undefined): string | undefined;
  /** Sends what waits, for a moment; what the collector has not taken then is dropped. */
  close(): Promise<void>;
}
