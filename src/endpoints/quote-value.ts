/** Longest excerpt of a caller's value in a message, in code points. */
const EXCERPT = 80;

/** A caller's value as a message may show it: in quotes, control characters escaped, cut after 80 characters. */
export function quoteValue(text: string): string {
  const points = Array.from(text.slice(0, 2 * EXCERPT));
  const excerpt = points.slice(0, EXCERPT).join('');
  const quoted = JSON.stringify(excerpt).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return excerpt.length < text.length ? `${quoted}...` : quoted;
}
