import {
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

import type { CompletedRequest } from '../telemetry';
import { attributesOf, hasFailed, spanName } from './attributes';
import { nested, type StepTree } from './steps';
import type { TraceParent } from './traced';

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
