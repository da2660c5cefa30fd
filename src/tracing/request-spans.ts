import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';

import type { CompletedRequest, Phase } from '../telemetry';

/** Methods that the conventions know; any other is `_OTHER`. */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE']);

/** What a status says when the caller left before its answer: there was none. */
const LEFT = 499;

/** `GET /api/endpoints`; the method alone where no route matched. */
function spanName({ method, route }: CompletedRequest): string {
  const named = METHODS.has(method) ? method : 'HTTP';
  return route === undefined ? named : `${named} ${route}`;
}

/**
 * The attributes of a request's span, by OpenTelemetry's conventions for HTTP servers (stable since 1.23) as far as they tell
 * no value: `url.path` and `url.query`, which they ask for, hold names and values that callers send.
 */
export function attributesOf(request: CompletedRequest): Attributes {
  const { method, route, endpoint, key, cache, status, billed } = request;
  const known = METHODS.has(method);
  const attributes: Attributes = { 'http.request.method': known ? method : '_OTHER', 'url.scheme': 'http' };
  // Node's parser knows a closed list of methods: this is no text of the caller's.
  if (!known) attributes['http.request.method_original'] = method;
  if (route !== undefined) attributes['http.route'] = route;
  if (status !== LEFT) attributes['http.response.status_code'] = status;
  const error = errorType(request);
  if (error !== undefined) attributes['error.type'] = error;
  if (endpoint !== undefined) attributes['logquay.endpoint'] = endpoint;
  if (key !== undefined) attributes['logquay.key'] = key;
  if (cache !== undefined) attributes['logquay.cache'] = cache;
  if (billed !== undefined) attributes['logquay.bytes_billed'] = Number(billed);
  return attributes;
}

/** Whether the service failed: errors of the caller do not set the span's status (conventions for HTTP servers). */
function hasFailed({ status }: CompletedRequest): boolean {
  return status >= 500;
}

function errorType({ status, reason }: CompletedRequest): string | undefined {
  if (status === LEFT) return String(LEFT);
  return reason ?? (status >= 500 ? String(status) : undefined);
}

/** A step with those that were done within it. */
export interface StepTree {
  readonly step: Phase;
  readonly within: readonly StepTree[];
}

/** The steps as a tree. They come in the order of their ends, so that those within another come before it. */
export function nested(steps: readonly Phase[]): readonly StepTree[] {
  const trees: StepTree[] = [];
  for (const step of steps) {
    const first = trees.findIndex((tree) => tree.step.began >= step.began);
    const within = first === -1 ? [] : trees.splice(first);
    trees.push({ step, within });
  }
  return trees;
}

/** The interface of tracing. Types alone: nothing here loads OpenTelemetry. */

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

/** Routes that machines ask every few seconds: a trace of theirs is noise, unless the caller keeps one itself. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/health', '/ready', '/metrics']);

/**
 * Makes a request's spans when it is over, from the times that were taken on its way: one for the request, one for each of
 * its steps.
 */
export class RequestSpans {
  constructor(private readonly tracer: Tracer) {}

  /** @returns the trace's id; undefined: it is not kept */
  record(request: CompletedRequest, parent: TraceParent | undefined, state: string | undefined): string | undefined {
    if (parent === undefined ? PROBES.has(request.route) : !parent.sampled) return undefined;
    const { arrived, milliseconds, phases } = request;
    // The wall clock may have been set since the process began: only now is it known what the times are by it.
    const offset = Date.now() - performance.now();
    const span = this.tracer.startSpan(
      spanName(request),
      { kind: SpanKind.SERVER, attributes: attributesOf(request), startTime: arrived + offset },
      contextOf(parent, state),
    );
    // Not among those that are kept of requests without a parent.
    if (!span.isRecording()) return undefined;
    if (hasFailed(request)) span.setStatus({ code: SpanStatusCode.ERROR });
    const within = trace.setSpan(ROOT_CONTEXT, span);
    for (const tree of nested(phases)) this.#recordStep(tree, within, offset);
    span.end(arrived + milliseconds + offset);
    return span.spanContext().traceId;
  }

  #recordStep({ step, within }: StepTree, parent: Context, offset: number): void {
    const span = this.tracer.startSpan(step.name, { startTime: step.began + offset }, parent);
    for (const tree of within) this.#recordStep(tree, trace.setSpan(ROOT_CONTEXT, span), offset);
    span.end(step.ended + offset);
  }
}

function contextOf(parent: TraceParent | undefined, state: string | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId } = parent;
  const context: SpanContext = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  if (state !== undefined) context.traceState = createTraceState(state);
  return trace.setSpanContext(ROOT_CONTEXT, context);
}
