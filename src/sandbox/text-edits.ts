import type { Span } from '../googlesql/syntax';

/** Replaces the span of a text; an empty span inserts. */
export interface Edit extends Span {
  readonly by: string;
}

export interface EditedText {
  readonly text: string;
  /** A span of `text` as a span of the text before the edits; what an edit put in stands for what it replaced. */
  original(span: Span): Span;
}

interface Piece {
  /** Where the piece begins in the edited text. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
  /** Taken over unchanged, so that offsets inside it can be told apart. */
  readonly kept: boolean;
}

/** Carries out edits, which are in the order of the text and do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): EditedText {
  const pieces: Piece[] = [];
  let out = '';
  let done = 0;
  const put = (start: number, end: number, by: string, kept: boolean): void => {
    if (by === '') return;
    pieces.push({ at: out.length, start, end, kept });
    out += by;
  };
  for (const { start, end, by } of edits) {
    put(done, start, text.slice(done, start), true);
    put(start, end, by, false);
    done = end;
  }
  put(done, text.length, text.slice(done), true);
  const pieceAt = (offset: number): Piece | undefined => pieces.findLast(({ at }) => at <= offset);
  const startOf = (offset: number): number => {
    const piece = pieceAt(offset);
    if (piece === undefined) return 0;
    return piece.kept ? Math.min(piece.end, piece.start + offset - piece.at) : piece.start;
  };
  const endOf = (offset: number): number => {
    const piece = pieceAt(offset - 1);
    if (piece === undefined) return 0;
    return piece.kept ? Math.min(piece.end, piece.start + offset - piece.at) : piece.end;
  };
  const original = ({ start, end }: Span): Span => {
    const from = startOf(start);
    return { start: from, end: start === end ? from : Math.max(from, endOf(end)) };
  };
  return { text: out, original };
}
