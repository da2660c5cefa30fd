import type { BinaryOperator, Expression, Span } from '../tree';
import { parseComparison } from './comparison';
import type { Cursor } from './cursor';
import { parsePostfix } from './postfix';

/** How tightly binary operators bind, from loose to tight; comparisons stand below all of them. */
const STRENGTH: ReadonlyMap<string, number> = new Map([
  ['|', 1],
  ['^', 2],
  ['&', 3],
  ['<<', 4],
  ['>>', 4],
  ['+', 5],
  ['-', 5],
  ['||', 6],
  ['*', 7],
  ['/', 7],
]);

/** An operand with its parentheses, which its own span leaves out. */
interface Operand extends Span {
  readonly expression: Expression;
}

interface Operator extends Span {
  readonly operator: BinaryOperator;
}

/** An expression of any kind: operands of OR. */
export function parseExpression(cursor: Cursor): Expression {
  return parseChain(cursor, 'OR', 'or', parseConjunction);
}

function parseConjunction(cursor: Cursor): Expression {
  return parseChain(cursor, 'AND', 'and', parseOperand);
}

/** What AND joins: NOT, a comparison, or anything that binds tighter. */
export function parseOperand(cursor: Cursor): Expression {
  if (!cursor.at('NOT')) return parseComparison(cursor);
  const { start } = cursor.next();
  const operand = cursor.nested(() => parseOperand(cursor));
  return { kind: 'unary', operator: 'not', operand, span: cursor.spanFrom(start) };
}

/** What a comparison compares: the binary operators above it, by precedence climbing. */
export function parseArithmetic(cursor: Cursor, weakest = 1): Expression {
  const { start } = cursor.token;
  return continueArithmetic(cursor, parseUnary(cursor), start, weakest);
}

/** The binary operators behind `left`, which begins at `start`. */
export function continueArithmetic(cursor: Cursor, left: Expression, start: number, weakest = 1): Expression {
  for (;;) {
    const { symbol } = cursor.token;
    const strength = STRENGTH.get(symbol);
    if (strength === undefined || strength < weakest) return left;
    if (symbol === '||') {
      left = continueChain(cursor, { expression: left, start, end: cursor.end }, '||', '||', parseFactor);
    } else {
      const operator = cursor.next();
      const right = parseArithmetic(cursor, strength + 1);
      left = {
        kind: 'binary',
        operator: symbol as BinaryOperator,
        left,
        right,
        operatorSpan: { start: operator.start, end: operator.end },
        span: cursor.spanFrom(start),
      };
    }
  }
}

function parseFactor(cursor: Cursor): Expression {
  return parseArithmetic(cursor, 7);
}

function parseUnary(cursor: Cursor): Expression {
  const { symbol, start } = cursor.token;
  if (symbol !== '-' && symbol !== '+' && symbol !== '~') return parsePostfix(cursor);
  cursor.next();
  const operand = cursor.nested(() => parseUnary(cursor));
  return { kind: 'unary', operator: symbol, operand, span: cursor.spanFrom(start) };
}

function parseChain(
  cursor: Cursor,
  symbol: string,
  operator: BinaryOperator,
  parse: (cursor: Cursor) => Expression,
): Expression {
  const { start } = cursor.token;
  const expression = parse(cursor);
  if (!cursor.at(symbol)) return expression;
  return continueChain(cursor, { expression, start, end: cursor.end }, symbol, operator, parse);
}

/** A chain of one associative operator becomes a tree of logarithmic height: a long filter must not grow deep. */
function continueChain(
  cursor: Cursor,
  first: Operand,
  symbol: string,
  operator: BinaryOperator,
  parse: (cursor: Cursor) => Expression,
): Expression {
  const operands = [first];
  const operators: Operator[] = [];
  while (cursor.at(symbol)) {
    const { start, end } = cursor.next();
    operators.push({ operator, start, end });
    const from = cursor.token.start;
    operands.push({ expression: parse(cursor), start: from, end: cursor.end });
  }
  return balance(operands, operators);
}

/** The operands from `first` to `last`, split at the operator in the middle. */
function balance(
  operands: readonly Operand[],
  operators: readonly Operator[],
  first = 0,
  last = operands.length - 1,
): Expression {
  const middle = (first + last) >> 1;
  const from = operands[first];
  const to = operands[last];
  const operator = operators[middle];
  if (from === undefined || to === undefined) throw new RangeError('a chain has operands');
  if (first === last || operator === undefined) return from.expression;
  return {
    kind: 'binary',
    operator: operator.operator,
    left: balance(operands, operators, first, middle),
    right: balance(operands, operators, middle + 1, last),
    operatorSpan: { start: operator.start, end: operator.end },
    span: { start: from.start, end: to.end },
  };
}
