import { QueryError } from '../errors';
import { BoundsError, type Bounds } from '../bounds';
import type { Identifier, Parameter, Span } from '../tree';
import type { Token } from '../lexer';
import { syntaxHint } from './other-dialects';

/** A construct that GoogleSQL has and this service does not take (docs/sandbox.md). */
export interface Construct {
  /** As a user would look it up: `TABLESAMPLE`, `pipe syntax`. */
  readonly name: string;
  readonly span: Span;
}

/** The tokens of one statement, the place reached, and what is found along the way. Every rule of the grammar takes it. */
export class Cursor {
  readonly parameters: Parameter[] = [];
  readonly unsupported: Construct[] = [];
  /** Where the operand of the last `.*` begins: GoogleSQL allows it on a whole select item only. */
  starOperand = -1;
  /** End of the last token passed. */
  end = 0;
  private index = 0;
  /** Index of the `)` of each `(`, 0 for none. */
  private readonly closing: Uint32Array;
  private nesting = 0;
  private ctes = 0;
  private pipes = 0;
  token: Token;

  /** `tokens` ends with an `end` token. */
  constructor(
    private readonly tokens: readonly Token[],
    private readonly bounds: Bounds,
  ) {
    this.token = this.peek(0);
    this.closing = new Uint32Array(tokens.length);
    const open: number[] = [];
    tokens.forEach(({ symbol }, i) => {
      if (symbol === '(') open.push(i);
      else if (symbol === ')') this.closing[open.pop() ?? i] = i;
    });
  }

  /** Moves on and gives the token passed. */
  next(): Token {
    const passed = this.token;
    this.end = passed.end;
    if (passed.kind !== 'end') this.token = this.tokens[++this.index] ?? passed;
    return passed;
  }

  peek(ahead: number): Token {
    return this.peekAt(this.index + ahead);
  }

  private peekAt(index: number): Token {
    const token = this.tokens[Math.min(index, this.tokens.length - 1)];
    if (token === undefined) throw new TypeError('a token list ends with an end token');
    return token;
  }

  at(symbol: string): boolean {
    return this.token.symbol === symbol;
  }

  accept(symbol: string): boolean {
    if (this.token.symbol !== symbol) return false;
    this.next();
    return true;
  }

  expect(symbol: string): Token {
    if (this.token.symbol !== symbol) this.fail(symbol);
    return this.next();
  }

  /** A `>` that closes a type; of a `>>` the first half. */
  closeAngle(): void {
    const { token } = this;
    if (token.symbol !== '>>') {
      this.expect('>');
      return;
    }
    this.end = token.start + 1;
    this.token = { ...token, start: this.end, value: '>', symbol: '>' };
  }

  /** The current token can be a name: in backticks, or no reserved keyword. */
  atName(ahead = 0): boolean {
    const token = ahead === 0 ? this.token : this.peek(ahead);
    return token.kind === 'identifier' && !token.reserved;
  }

  name(what: string): Identifier {
    if (!this.atName()) this.fail(what);
    return toIdentifier(this.next());
  }

  /**
   * The current token is a `(` around a query. `((` may open an expression in parentheses that begins with a subquery, or
   * a join that begins with one: what follows the inner parenthesis tells.
   */
  opensQuery(index = this.index): boolean {
    const { symbol } = this.peekAt(index + 1);
    if (symbol === 'SELECT' || symbol === 'FROM') return true;
    if (symbol === 'WITH') return this.peekAt(index + 2).symbol !== '(';
    if (symbol !== '(' || !this.opensQuery(index + 1)) return false;
    const after = (this.closing[index + 1] || this.tokens.length) + 1;
    const next = this.peekAt(after).symbol;
    if (next === 'LEFT' || next === 'FULL' || next === 'INNER') {
      const outer = this.peekAt(after + 1).symbol === 'OUTER' ? 1 : 0;
      return SET_OPERATORS.has(this.peekAt(after + 1 + outer).symbol);
    }
    return QUERY_CONTINUES.has(next) || SET_OPERATORS.has(next);
  }

  /** From `start` to the end of the last token passed. */
  spanFrom(start: number): Span {
    return { start, end: this.end };
  }

  /** A comma-separated list of at least one. */
  list<T>(item: (cursor: Cursor) => T): T[] {
    const items = [item(this)];
    while (this.accept(',')) items.push(item(this));
    return items;
  }

  /** As `list`; a comma may follow the last item where nothing else of the operator does. */
  pipeList<T>(item: (cursor: Cursor) => T): T[] {
    const items = [item(this)];
    while (this.accept(',') && !this.atPipeEnd()) items.push(item(this));
    return items;
  }

  /** Nothing of a pipe operator follows. */
  atPipeEnd(): boolean {
    const { kind, symbol } = this.token;
    return kind === 'end' || symbol === '|>' || symbol === ')' || symbol === ';';
  }

  /** `( item, item, ... )` */
  parenthesised<T>(item: (cursor: Cursor) => T): T[] {
    this.expect('(');
    const items = this.list(item);
    this.expect(')');
    return items;
  }

  /** Guards recursion that no bracket announces to the lexer: signs, NOT, INTERVAL, types within types. */
  nested<T>(read: () => T): T {
    if (++this.nesting > this.bounds.nesting) {
      throw new BoundsError(`This nests more than ${this.bounds.nesting} deep.`, this.token);
    }
    const result = read();
    this.nesting--;
    return result;
  }

  countCte(span: Span): void {
    if (++this.ctes > this.bounds.ctes) {
      throw new BoundsError(`A query has at most ${this.bounds.ctes} WITH entries.`, span);
    }
  }

  countPipe(span: Span): void {
    if (++this.pipes > this.bounds.pipes) {
      throw new BoundsError(`A query has at most ${this.bounds.pipes} pipe operators.`, span);
    }
  }

  refuse(name: string, span: Span): void {
    this.unsupported.push({ name, span: { start: span.start, end: span.end } });
  }

  /** Refuses the text: `expected` could have stood here. */
  fail(expected: string): never {
    const { token } = this;
    const hint = syntaxHint(this.tokens, this.index, expected);
    if (token.kind === 'end') this.fault(`The query ends too early: expected ${expected}.`, token, hint);
    const found = token.reserved ? `keyword ${token.symbol}` : KINDS[token.kind];
    this.fault(`Syntax error: unexpected ${found ?? JSON.stringify(token.value)}, expected ${expected}.`, token, hint);
  }

  fault(message: string, { start, end }: Span, hint: string | null = null): never {
    throw new QueryError('invalidQuery', message, { start, end }, hint === null ? {} : { hint });
  }
}

const SET_OPERATORS = new Set(['UNION', 'INTERSECT', 'EXCEPT']);
const QUERY_CONTINUES = new Set([')', 'ORDER', 'LIMIT', '|>']);

/** How a token is called where its own words would be too long or too bare. */
const KINDS: Readonly<Partial<Record<Token['kind'], string>>> = {
  string: 'STRING literal',
  bytes: 'BYTES literal',
  integer: 'number',
  float: 'number',
  rest: 'second statement',
};

export function toIdentifier({ value, quoted, start, end }: Token): Identifier {
  return { name: value, quoted, span: { start, end } };
}
