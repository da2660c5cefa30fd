import type { Span } from './rules';

/** Generated SQL that knows which part of the LQL text each of its parts comes from. */
export interface MappedSql {
  readonly sql: string;
  /** The part of the LQL text behind an offset of the SQL; null where nothing was written for it. */
  readonly origin: (offset: number) => Span | null;
}

/** Collects pieces of SQL in order. */
export class SqlText {
  private readonly pieces: { readonly end: number; readonly span: Span | null }[] = [];
  private text = '';

  add(text: string, span: Span | null = null): this {
    this.text += text;
    this.pieces.push({ end: this.text.length, span });
    return this;
  }

  finish(): MappedSql {
    const { text, pieces } = this;
    return { sql: text, origin: (offset) => pieces.find(({ end }) => offset < end)?.span ?? null };
  }
}
