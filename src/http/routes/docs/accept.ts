/** A media range of an `Accept` header and its parameters. */
const RANGE = /^\s*([^\s;,]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)/i;

/** Whether an `Accept` header takes a type, by the most specific range that covers it (RFC 9110, 12.5.1). */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const ranges = rangesOf(accept);
  const weight = ranges.get(type) ?? ranges.get(type.replace(/\/.*/, '/*')) ?? ranges.get('*/*') ?? 0;
  return weight > 0;
}

/** Whether the header names the type itself, as browsers do when opening a page, and not just a wildcard. */
export function namesType(accept: string | undefined, type: string): boolean {
  return accept !== undefined && (rangesOf(accept).get(type) ?? 0) > 0;
}

/** Media ranges with their weights (q-values). */
function rangesOf(accept: string): Map<string, number> {
  return new Map(
    accept.split(',').flatMap((part) => {
      const [, range, parameters = ''] = RANGE.exec(part) ?? [];
      return range === undefined ? [] : [[range.toLowerCase(), Number(WEIGHT.exec(parameters)?.[1] ?? 1)] as const];
    }),
  );
}
