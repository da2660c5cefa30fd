/**
 * The UTF-16 offset of a place that BigQuery names, line and column from 1: columns count code points, a tab goes on to
 * the next multiple of eight, and CR, LF and CRLF each end a line. A place behind the text is its end.
 */
export function offsetAt(text: string, line: number, column: number): number {
  let offset = 0;
  for (let at = 1; at < line; at++) {
    const end = /\r\n|\r|\n/g;
    end.lastIndex = offset;
    if (end.exec(text) === null) return text.length;
    offset = end.lastIndex;
  }
  let width = 0;
  for (const character of text.slice(offset)) {
    if (width >= column - 1) break;
    width = character === '\t' ? (Math.floor(width / TAB) + 1) * TAB : width + 1;
    offset += character.length;
  }
  return offset;
}

const TAB = 8;
