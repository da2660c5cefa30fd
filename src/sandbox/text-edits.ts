import type { Span } from '../googlesql/syntax';

/** Replaces the span of a text; an empty span inserts. */
export interface Edit extends Span {
  readonly by: string;
}

/** Where a part of an edited text came from. */
interface Piece {
  /** Where the piece begins in the edited text. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
  /** Taken over unchanged, so that offsets inside it can be told apart. */
  readonly unchanged: boolean;
}

/** The pieces of an edited text, in its order: plain data. */
export type Pieces = readonly Piece[];

export interface EditedText {
  readonly text: string;
  readonly pieces: Pieces;
}

/** Carries out edits, which are in the order of the text and do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): EditedText {
  const pieces: Piece[] = [];
  let out = '';
  let done = 0;
  const put = (start: number, end: number, by: string, unchanged: boolean): void => {
    if (by === '') return;
    pieces.push({ at: out.length, start, end, unchanged });
    out += by;
  };
  for (const { start, end, by } of edits) {
    put(done, start, text.slice(done, start), true);
    put(start, end, by, false);
    done = end;
  }
  put(done, text.length, text.slice(done), true);
  return { text: out, pieces };
}

/** A span of an edited text as a span of the text before; the text of an edit represents what it replaced. */
export function spanBefore(pieces: Pieces, { start, end }: Span): Span {
  const from = startOf(pieces, start);
  return { start: from, end: start === end ? from : Math.max(from, endOf(pieces, end)) };
}

function startOf(pieces: Pieces, offset: number): number {
  const piece = pieceAt(pieces, offset);
  if (piece === undefined) return 0;
  return piece.unchanged ? Math.min(piece.end, piece.start + offset - piece.at) : piece.start;
}

function endOf(pieces: Pieces, offset: number): number {
  const piece = pieceAt(pieces, offset - 1);
  if (piece === undefined) return 0;
  return piece.unchanged ? Math.min(piece.end, piece.start + offset - piece.at) : piece.end;
}

function pieceAt(pieces: Pieces, offset: number): Piece | undefined {
  return pieces.findLast(({ at }) => at <= offset);
}
