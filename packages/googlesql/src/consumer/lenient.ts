/**
 * The lenient reading (docs/sandbox.md): what clients send although it is not GoogleSQL, rewritten token by token. It is for
 * texts that the exact reading refused; the rewritten text is then read and judged like any other.
 */
import { QueryError } from '../errors';
import { QUERY_BOUNDS } from '../bounds';
import { lex, type Token } from '../lexer';
import type { Span } from '../tree';

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
function spanBefore(pieces: Pieces, { start, end }: Span): Span {
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

/** Names of types after `::`, in lower case, as GoogleSQL's (docs/sandbox.md). */
const TYPES = new Map<string, string>();
for (const [type, names] of [
  ['STRING', 'text varchar char string'],
  ['INT64', 'int int2 int4 int8 integer smallint bigint tinyint byteint int64'],
  ['FLOAT64', 'float float4 float8 real float64'],
  ['BOOL', 'bool boolean'],
  ['NUMERIC', 'decimal numeric'],
  ['BIGNUMERIC', 'bigdecimal bignumeric'],
  ['TIMESTAMP', 'timestamptz timestamp'],
  ['JSON', 'json jsonb'],
  ['BYTES', 'bytes'],
  ['DATE', 'date'],
  ['DATETIME', 'datetime'],
  ['TIME', 'time'],
  ['INTERVAL', 'interval'],
] as const) {
  for (const name of names.split(' ')) TYPES.set(name, type);
}

const TYPED_LITERALS = new Set('DATE DATETIME TIME TIMESTAMP NUMERIC DECIMAL BIGNUMERIC BIGDECIMAL JSON'.split(' '));
/** Reserved words that stand before the parenthesis of a call or constructor. */
const CALLED_KEYWORDS = new Set(
  'ARRAY CAST COLLATE EXISTS EXTRACT GROUPING IF LEFT RANGE RIGHT STRUCT WITH'.split(' '),
);
const CONSTANTS = new Set(['NULL', 'TRUE', 'FALSE']);
/** Symbols inside the angle brackets of a type. */
const IN_TYPES = new Set(['<', '>', '>>', ',', '(', ')', '.']);
/** Dots and subscripts before a `::`; the parser takes no higher operand either. */
const MAX_STEPS = QUERY_BOUNDS.treeHeight;

/** Edits that make `CAST(x AS T)` of every `x::t`. Throws QueryError `invalidQuery` where `t` is the name of no type. */
function castEdits(tokens: readonly Token[]): Edit[] {
  const inserts = new Map<number, number>();
  const edits: Edit[] = [];
  const operands = new Operands(tokens);
  tokens.forEach((token, i) => {
    if (token.symbol !== '::') return;
    const first = operands.find(i - 1);
    if (first === null) return;
    const { type, last } = readType(tokens, i + 1);
    const at = tokens[first]?.start ?? 0;
    inserts.set(at, (inserts.get(at) ?? 0) + 1);
    const end = tokens[last]?.end ?? token.end;
    const start = tokens[i - 1]?.end ?? token.start;
    edits.push({ start, end, by: ` AS ${type})` });
    operands.cast(first, last);
  });
  for (const [at, count] of inserts) edits.push({ start: at, end: at, by: 'CAST('.repeat(count) });
  return edits.sort((a, b) => a.start - b.start);
}

function readType(tokens: readonly Token[], at: number): { type: string; last: number } {
  const name = tokens[at];
  const second = tokens[at + 1];
  if (name?.symbol === 'DOUBLE' && second?.symbol === 'PRECISION') return { type: 'FLOAT64', last: at + 1 };
  const type = TYPES.get(name?.symbol.toLowerCase() ?? '');
  if (type === undefined) {
    const words = name === undefined || name.kind === 'end' ? '' : ` ${JSON.stringify(name.value)}`;
    throw new QueryError('invalidQuery', `Syntax error: :: needs the name of a type, not${words}.`, name ?? null);
  }
  return { type, last: at };
}

/** Finds where postfix operands begin, reading backwards from their ends. */
class Operands {
  /** Index of the opening bracket of each closing one. */
  private readonly opening = new Map<number, number>();
  /** Index of a cast's last token → index of its operand's first. */
  private readonly casts = new Map<number, number>();
  private steps = 0;

  constructor(private readonly tokens: readonly Token[]) {
    const open: number[] = [];
    tokens.forEach(({ symbol }, i) => {
      if (symbol === '(' || symbol === '[' || symbol === 'CASE') open.push(i);
      else if (symbol === ')' || symbol === ']' || symbol === 'END') this.opening.set(i, open.pop() ?? i);
    });
  }

  cast(first: number, last: number): void {
    this.casts.set(last, first);
  }

  /** Index of the first token of the postfix operand whose last token is `last`; null where none ends there. */
  find(last: number): number | null {
    this.steps = 0;
    return this.startOf(last);
  }

  private startOf(last: number): number | null {
    if (++this.steps > MAX_STEPS) return null;
    const cast = this.casts.get(last);
    if (cast !== undefined) return this.beforeDot(cast);
    const token = this.tokens[last];
    if (token === undefined) return null;
    switch (token.kind) {
      case 'string': {
        const before = this.symbol(last - 1);
        return TYPED_LITERALS.has(before) ? last - 1 : last;
      }
      case 'bytes':
      case 'integer':
      case 'float':
        return last;
      case 'identifier':
        return this.startOfWord(last, token);
      case 'symbol':
        return this.startOfSymbol(last, token.symbol);
      case 'rest':
      case 'end':
        return null;
    }
  }

  private startOfWord(last: number, { symbol, reserved }: Token): number | null {
    const before = this.symbol(last - 1);
    if (before === '@' || before === '@@') return last - 1;
    if (symbol === 'END') return this.opening.get(last) ?? null;
    if (reserved && !CONSTANTS.has(symbol)) return null;
    if (before === 'OVER') return this.startOf(last - 2);
    return this.beforeDot(last);
  }

  private startOfSymbol(last: number, symbol: string): number | null {
    if (symbol === '?') return last;
    const open = this.opening.get(last);
    if (open === undefined || open === last) return null;
    const before = this.tokens[open - 1];
    if (symbol === ']') {
      if (before?.symbol === 'ARRAY') return open - 1;
      if (before?.symbol === '>' || before?.symbol === '>>') return this.startOfType(open - 1);
      return this.startOf(open - 1) ?? open;
    }
    if (symbol !== ')') return null;
    if (before?.symbol === 'OVER') return this.startOf(open - 2);
    if (before?.symbol === '>' || before?.symbol === '>>') return this.startOfType(open - 1) ?? open;
    if (before?.kind === 'identifier') {
      if (CALLED_KEYWORDS.has(before.symbol)) return this.beforeDot(open - 1);
      if (!before.reserved) return this.beforeDot(open - 1);
    }
    return open;
  }

  /** A name after a dot continues the operand before the dot. */
  private beforeDot(first: number): number {
    return this.symbol(first - 1) === '.' ? (this.startOf(first - 2) ?? first) : first;
  }

  /** From the `>` that closes ARRAY<...> or STRUCT<...> back to its word; null for a comparison. */
  private startOfType(last: number): number | null {
    let depth = 0;
    for (let i = last; i >= 0; i--) {
      const symbol = this.symbol(i);
      if (this.tokens[i]?.kind === 'symbol' && !IN_TYPES.has(symbol)) return null;
      if (symbol === '>>') depth += 2;
      else if (symbol === '>') depth++;
      else if (symbol === '<') depth--;
      if (depth <= 0) return ['ARRAY', 'STRUCT'].includes(this.symbol(i - 1)) ? i - 1 : null;
    }
    return null;
  }

  private symbol(index: number): string {
    return this.tokens[index]?.symbol ?? '';
  }
}

/** Comments, names in backticks, and words that no quote follows as their literal: nothing to rewrite in them. */
const PASSED = /--[^\r\n]*|#[^\r\n]*|\/\*[^]*?\*\/|`(?:\\[^]|[^\\`])*`/y;
const OPENING = /(rb?|br?)?('''|"""|'|")/iy;
const WORD = /[A-Za-z0-9_]+/y;

/** The character after a backslash is one that GoogleSQL gives a meaning. */
const KNOWN_ESCAPE = /[abfnrtv\\?'"`xXuU\r\n]|[0-3][0-7]{2}/y;

/** Edits that make GoogleSQL of doubled quotes in one-quote literals and of unknown escapes in all literals. */
function literalEdits(text: string): Edit[] {
  const edits: Edit[] = [];
  for (let at = 0; at < text.length;) {
    const opening = match(OPENING, text, at);
    if (opening === null) {
      at += (match(PASSED, text, at) ?? match(WORD, text, at) ?? [' '])[0].length;
      continue;
    }
    const [whole, prefix = '', quotes = ''] = opening;
    // Three quotes that nothing closes are one, and a doubled quote after it.
    const quote = quotes.length === 3 && !text.includes(quotes, at + whole.length) ? quotes.slice(0, 1) : quotes;
    at = readLiteral(text, at + prefix.length + quote.length, quote, prefix.toLowerCase().includes('r'), edits);
  }
  return edits;
}

/** Collects the edits of one literal, `at` its first character inside the quotes; returns where it ends. */
function readLiteral(text: string, at: number, quote: string, raw: boolean, edits: Edit[]): number {
  for (let i = at; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') {
      if (!raw && match(KNOWN_ESCAPE, text, i + 1) === null) edits.push({ start: i, end: i, by: '\\' });
      i++;
    } else if (char === quote[0] && text.startsWith(quote, i)) {
      if (quote !== "'" || text[i + 1] !== "'") return i + quote.length;
      edits.push({ start: i, end: i + 1, by: '\\' });
      i++;
    } else if (quote.length === 1 && (char === '\n' || char === '\r')) {
      return i;
    }
  }
  return text.length;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Nothing is rewritten in a text that holds none of these. */
const WORTH_READING = /::|''|\\/;

/** What a lenient reading made of a text. */
export interface RewrittenText {
  readonly text: string;
  /** Each pass's pieces, first pass first. */
  readonly passes: readonly Pieces[];
}

/**
 * The text with `x::t` as `CAST(x AS T)`, `''` inside a one-quote literal as `\'` and unknown escapes `\c` as `\\c`; null
 * where there is nothing of the kind, or where even so it has no tokens.
 *
 * @throws QueryError `invalidQuery` with a span of `sent` where `::` is followed by a name that is no type's
 */
export function rewriteLeniently(sent: string): RewrittenText | null {
  if (!WORTH_READING.test(sent)) return null;
  const literals = applyEdits(sent, literalEdits(sent));
  const tokens = tokensOf(literals.text);
  if (tokens === null) return null;
  const casts = applyEdits(literals.text, castsOf(tokens, literals));
  if (casts.text === sent) return null;
  return { text: casts.text, passes: [literals.pieces, casts.pieces] };
}

/** A place in a rewritten text as a place in the text that was sent. */
export function originalSpan(passes: readonly Pieces[], span: Span): Span {
  return passes.reduceRight((place, pieces) => spanBefore(pieces, place), span);
}

function tokensOf(text: string): Token[] | null {
  try {
    return lex(text);
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

function castsOf(tokens: readonly Token[], literals: EditedText): Edit[] {
  try {
    return castEdits(tokens);
  } catch (error) {
    if (!(error instanceof QueryError) || error.span === null) throw error;
    throw new QueryError(error.fault, error.message, spanBefore(literals.pieces, error.span), error.details);
  }
}
