import { randomUUID } from 'node:crypto';

/** Random and never sent: no text of a row begins with it. */
const MARK = `${randomUUID()}:`;
/** A string, or an integer of more digits than a double holds for sure. */
const STRING_OR_LONG = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** `JSON.parse` in which integers beyond 15 digits are bigints: an INT64 passes through no double. */
export function parseExact(text: string): unknown {
  const marked = text.replace(STRING_OR_LONG, (found) => (found.startsWith('"') ? found : `"${MARK}${found}"`));
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** JSON on one line, integers with all their digits. Infinite numbers are the texts that the service writes for them. */
export function writeExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`)
    .join(',')}}`;
}
