/** The interface of tracing. Types alone: nothing here loads OpenTelemetry. */
import type { CompletedRequest } from '../telemetry';

/** The caller's span, as its `traceparent` names it. */
export interface TraceParent {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller keeps this trace. */
  readonly sampled: boolean;
}

/** Records requests as traces. */
export interface Tracing {
  /**
   * Creates the spans of a request; they are sent in the background.
   *
   * @param state the caller's `tracestate`
   * @returns the trace id; undefined: the request is not traced
   */
  record(request: CompletedRequest, parent: TraceParent | undefined, state: string | undefined): string | undefined;
  /** Flushes queued spans for a moment, then drops the rest. */
  close(): Promise<void>;
}
