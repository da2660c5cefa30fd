/** A string, or an integer of more digits than a double holds for sure. */
const STRING_OR_LONG = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** `JSON.parse`, with integers beyond 15 digits as their text: an INT64 passes through no double. */
export function parseExact(text: string): unknown {
  return JSON.parse(text.replace(STRING_OR_LONG, (found) => (found.startsWith('"') ? found : `"${found}"`)));
}
