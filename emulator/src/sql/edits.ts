/** Replaces `[start, end)` of a text, in UTF-16 offsets, by another text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all edits made; they must not overlap. Insertions at one place come in the order given. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  let result = '';
  let at = 0;
  for (const edit of ordered) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** Turns UTF-8 byte offsets of a text, as the engine gives them, into UTF-16 offsets. */
export function byteOffsets(text: string): (byte: number) => number {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length === text.length) return (byte) => byte;
  return (byte) => bytes.toString('utf8', 0, byte).length;
}
