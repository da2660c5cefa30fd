import type { TraceParent } from '../../tracing/traced';

/** `traceparent` (W3C Trace Context, 2.2.1): version, trace id, parent id, flags; later versions may say more behind them. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The flag by which the caller says that it may have kept its part of the trace (2.2.3.2). */
const SAMPLED = 1;

/** The span that a request is part of; undefined where the header is missing or not valid. */
export function parentOf(header: string | undefined): TraceParent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (parseInt(flags, 16) & SAMPLED) !== 0 };
}
