/** `traceparent` (W3C Trace Context, 2.2.1): version, trace id, parent id, flags; later versions may say more behind them. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** The trace that a request is part of, for the log; undefined where the header is missing or not valid. */
export function traceIdOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', parentId = '', more] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(parentId) ? undefined : traceId;
}
