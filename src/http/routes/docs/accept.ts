/** A media range of an `Accept` header and its weight; other parameters narrow a range that these answers have no forms of. */
const RANGE = /^\s*([^\s;,]+)\s*(?:;(.*))?$/;
const WEIGHT = /(?:^|;)\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)/i;

/** Whether an `Accept` header takes a type, by the most exact range that covers it (RFC 9110, 12.5.1). */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  const weights = weightsOf(accept);
  const weight = weights.get(type) ?? weights.get(type.replace(/\/.*/, '/*')) ?? weights.get('*/*') ?? 0;
  return weight > 0;
}

/** Whether the header names the very type, as browsers do where a page is opened; not just everything. */
export function namesType(accept: string | undefined, type: string): boolean {
  return accept !== undefined && (weightsOf(accept).get(type) ?? 0) > 0;
}

function weightsOf(accept: string): Map<string, number> {
  return new Map(
    accept.split(',').flatMap((part) => {
      const [, range, parameters = ''] = RANGE.exec(part) ?? [];
      return range === undefined ? [] : [[range.toLowerCase(), Number(WEIGHT.exec(parameters)?.[1] ?? 1)] as const];
    }),
  );
}
