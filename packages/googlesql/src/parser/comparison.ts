import type { BinaryOperator, Expression, IsTest, QuantifiedLike } from '../tree';
import type { Cursor } from './cursor';
import { continueArithmetic, parseArithmetic, parseExpression, parseOperand } from './expression';
import { continuePostfix } from './postfix';
import { parseParenthesisedQuery } from './query';
import { parseUnnestArguments } from './table';

const COMPARISONS: ReadonlyMap<string, BinaryOperator> = new Map([
  ['=', '='],
  ['!=', '!='],
  ['<>', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

const IS_TESTS: ReadonlyMap<string, IsTest['test']> = new Map([
  ['NULL', 'null'],
  ['TRUE', 'true'],
  ['FALSE', 'false'],
  ['UNKNOWN', 'unknown'],
]);

/**
 * A comparison, LIKE, IN, BETWEEN or IS over one operand. They do not associate: `a = b = c` needs parentheses. Behind
 * a test whose right side is closed, IS DISTINCT FROM may follow, and any operator that binds tighter: `a IN (1) || b`
 * is `(a IN (1)) || b`.
 */
export function parseComparison(cursor: Cursor): Expression {
  const { start } = cursor.token;
  let left = parseArithmetic(cursor);
  while (startsTest(cursor)) {
    const test = parseTest(cursor, left, start);
    left = isClosed(test) ? continueArithmetic(cursor, continuePostfix(cursor, test, start), start) : test;
    if (left === test && !(isClosed(test) && atDistinct(cursor))) break;
  }
  if (startsTest(cursor)) cursor.fault('Syntax error: comparisons in a row need parentheses.', cursor.token);
  return left;
}

function startsTest(cursor: Cursor): boolean {
  const { symbol } = cursor.token;
  switch (symbol) {
    case 'IS':
    case 'IN':
    case 'LIKE':
    case 'BETWEEN':
      return true;
    case 'NOT': {
      const next = cursor.peek(1).symbol;
      return next === 'IN' || next === 'LIKE' || next === 'BETWEEN';
    }
    default:
      return COMPARISONS.has(symbol);
  }
}

function isClosed(test: Expression): boolean {
  if (test.kind === 'is') return test.test !== 'distinct';
  return ['in_list', 'in_unnest', 'in_subquery', 'quantified_like'].includes(test.kind);
}

function atDistinct(cursor: Cursor): boolean {
  if (!cursor.at('IS')) return false;
  const after = cursor.peek(1).symbol;
  return after === 'DISTINCT' || (after === 'NOT' && cursor.peek(2).symbol === 'DISTINCT');
}

function parseTest(cursor: Cursor, operand: Expression, start: number): Expression {
  const operator = COMPARISONS.get(cursor.token.symbol);
  if (operator !== undefined) return parseBinary(cursor, operand, operator, start);
  if (cursor.accept('IS')) return parseIs(cursor, operand, start);
  if (cursor.at('LIKE')) return parseBinary(cursor, operand, 'like', start);
  if (cursor.at('NOT') && cursor.peek(1).symbol === 'LIKE') return parseBinary(cursor, operand, 'not like', start);
  const negated = cursor.accept('NOT');
  if (cursor.accept('IN')) return parseIn(cursor, operand, negated, start);
  cursor.expect('BETWEEN');
  const low = parseArithmetic(cursor);
  cursor.expect('AND');
  const high = parseArithmetic(cursor);
  return { kind: 'between', negated, operand, low, high, span: cursor.spanFrom(start) };
}

function parseBinary(cursor: Cursor, left: Expression, operator: BinaryOperator, start: number): Expression {
  const first = cursor.next();
  if (operator === 'not like') cursor.next();
  const operatorSpan = cursor.spanFrom(first.start);
  const { symbol } = cursor.token;
  if (symbol === 'ANY' || symbol === 'SOME' || symbol === 'ALL') {
    cursor.next();
    if (operator === 'like' || operator === 'not like')
      return parseQuantified(
        cursor,
        left,
        { negated: operator === 'not like', all: symbol === 'ALL', operatorSpan },
        start,
      );
    cursor.refuse(`${operator} ${symbol}`, cursor.spanFrom(first.start));
    return parseIn(cursor, left, false, start);
  }
  const right = parseArithmetic(cursor);
  return { kind: 'binary', operator, left, right, operatorSpan, span: cursor.spanFrom(start) };
}

/** After LIKE ANY and its like: a list of patterns, a subquery, or UNNEST of an array. */
function parseQuantified(
  cursor: Cursor,
  operand: Expression,
  like: Pick<QuantifiedLike, 'negated' | 'all' | 'operatorSpan'>,
  start: number,
): QuantifiedLike {
  const node = { kind: 'quantified_like', ...like, operand, items: [], array: null, query: null } as const;
  if (cursor.at('UNNEST')) {
    const array = parseUnnestArguments(cursor);
    return { ...node, array, span: cursor.spanFrom(start) };
  }
  if (!cursor.at('(')) cursor.fail('( or UNNEST');
  if (cursor.opensQuery()) {
    const query = parseParenthesisedQuery(cursor);
    return { ...node, query, span: cursor.spanFrom(start) };
  }
  const items = cursor.parenthesised(parseExpression);
  return { ...node, items, span: cursor.spanFrom(start) };
}

/** After IS. */
function parseIs(cursor: Cursor, operand: Expression, start: number): Expression {
  const negated = cursor.accept('NOT');
  if (cursor.accept('DISTINCT')) {
    cursor.expect('FROM');
    const other = cursor.at('NOT') ? parseOperand(cursor) : parseArithmetic(cursor);
    return { kind: 'is', negated, operand, test: 'distinct', other, span: cursor.spanFrom(start) };
  }
  const test = IS_TESTS.get(cursor.token.symbol);
  if (test === undefined) cursor.fail('NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM');
  cursor.next();
  return { kind: 'is', negated, operand, test, other: null, span: cursor.spanFrom(start) };
}

/** After IN: a subquery, a list, or UNNEST of an array. */
function parseIn(cursor: Cursor, operand: Expression, negated: boolean, start: number): Expression {
  if (cursor.at('UNNEST')) {
    const array = parseUnnestArguments(cursor);
    return { kind: 'in_unnest', negated, operand, array, span: cursor.spanFrom(start) };
  }
  if (!cursor.at('(')) cursor.fail('( or UNNEST');
  if (cursor.opensQuery()) {
    const query = parseParenthesisedQuery(cursor);
    return { kind: 'in_subquery', negated, operand, query, span: cursor.spanFrom(start) };
  }
  const items = cursor.parenthesised(parseExpression);
  return { kind: 'in_list', negated, operand, items, span: cursor.spanFrom(start) };
}
