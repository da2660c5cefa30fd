/**
 * Whether a value read from a result's JSON is the expected one: floating-point numbers to a small tolerance, integers
 * beyond 2^53, written `{"int64": "..."}`, as JSON.parse rounds them.
 */
export function sameValue(actual: unknown, expected: unknown): boolean {
  if (typeof expected === 'number' && typeof actual === 'number') {
    return actual === expected || Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
  }
  if (expected === null || typeof expected !== 'object') return actual === expected;
  if ('int64' in expected) return Number(expected.int64) === actual;
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) && actual.length === expected.length && expected.every((e, i) => sameValue(actual[i], e))
    );
  }
  if (actual === null || typeof actual !== 'object') return false;
  const keys = Object.keys(expected);
  return (
    keys.length === Object.keys(actual).length &&
    keys.every((k) => sameValue((actual as Record<string, unknown>)[k], (expected as Record<string, unknown>)[k]))
  );
}

export type Rows = readonly (readonly unknown[])[];

/** Whether the rows are the expected ones, in that order or in any. */
export function sameRows(actual: Rows, expected: Rows, ordered: boolean): boolean {
  if (actual.length !== expected.length) return false;
  if (ordered) return sameValue(actual, expected);
  const rest = [...actual];
  return expected.every((row) => {
    const at = rest.findIndex((candidate) => sameValue(candidate, row));
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}
