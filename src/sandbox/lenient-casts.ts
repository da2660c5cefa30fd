import { QueryError } from '../errors';
import type { Token } from '../googlesql/token';
import { QUERY_BOUNDS } from '../googlesql/bounds';
import type { Edit } from './text-edits';

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
export function castEdits(tokens: readonly Token[]): Edit[] {
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
