/** Half-open UTF-16 offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const MASK = 'REDACTED';

/** The text with every span masked; spans are in order and do not overlap. */
export function mask(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let masked = '';
  let at = 0;
  for (const { start, end } of spans) {
    masked += text.slice(at, start) + MASK;
    at = end;
  }
  return masked + text.slice(at);
}
