import { FUNCTION_KEYWORDS } from '../lexer';
import type { Expression, Identifier, Literal, Parameter } from '../tree';
import { parseCall } from './call';
import { parseCase, parseCast, parseExtract, parseInterval, parseWithExpression } from './constructs';
import { toIdentifier, type Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseParenthesisedQuery } from './query';
import { parseElementType, parseStructFields } from './types';

/** Words that make a typed literal of the STRING literal after them. */
const LITERAL_TYPES: ReadonlyMap<string, Literal['type']> = new Map([
  ['DATE', 'DATE'],
  ['DATETIME', 'DATETIME'],
  ['TIME', 'TIME'],
  ['TIMESTAMP', 'TIMESTAMP'],
  ['NUMERIC', 'NUMERIC'],
  ['DECIMAL', 'NUMERIC'],
  ['BIGNUMERIC', 'BIGNUMERIC'],
  ['BIGDECIMAL', 'BIGNUMERIC'],
  ['JSON', 'JSON'],
]);

/** Functions of the clock, which need no parentheses. */
const CLOCK_FUNCTIONS = new Set(['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_DATETIME', 'CURRENT_TIMESTAMP']);

/** An expression that no operator splits. */
export function parsePrimary(cursor: Cursor): Expression {
  const { token } = cursor;
  switch (token.kind) {
    case 'string':
      return literal(cursor, 'STRING');
    case 'bytes':
      return literal(cursor, 'BYTES');
    case 'integer':
      return literal(cursor, 'INT64');
    case 'float':
      return literal(cursor, 'FLOAT64');
    case 'identifier':
      return token.reserved ? parseKeyword(cursor) : parseNamed(cursor);
    case 'symbol':
      return parseSymbol(cursor);
    case 'rest':
    case 'end':
      return cursor.fail('an expression');
  }
}

function literal(cursor: Cursor, type: Literal['type'], start = cursor.token.start): Literal {
  const { value } = cursor.next();
  return { kind: 'literal', type, value, span: cursor.spanFrom(start) };
}

/** A path of names, a typed literal, or a word that acts as a keyword where a certain token follows. */
function parseNamed(cursor: Cursor): Expression {
  const { symbol, start } = cursor.token;
  const after = cursor.peek(1);
  const type = LITERAL_TYPES.get(symbol);
  if (type !== undefined && after.kind === 'string') {
    cursor.next();
    return literal(cursor, type, start);
  }
  if (symbol === 'SAFE_CAST' && after.symbol === '(') return parseCast(cursor);
  if (CLOCK_FUNCTIONS.has(symbol)) {
    const name = cursor.name('a name');
    return cursor.at('(') ? parseCall(cursor, [name], start) : clockCall(name);
  }
  const parts = [cursor.name('a name')];
  while (cursor.at('.') && cursor.peek(1).symbol !== '*' && cursor.peek(1).symbol !== '(') {
    cursor.next();
    parts.push(cursor.name('a field name'));
  }
  return { kind: 'path', parts, span: cursor.spanFrom(start) };
}

function clockCall(name: Identifier): Expression {
  return {
    kind: 'call',
    path: [name],
    arguments: [],
    star: false,
    distinct: false,
    nulls: null,
    having: null,
    orderBy: [],
    limit: null,
    over: null,
    span: name.span,
  };
}

function parseKeyword(cursor: Cursor): Expression {
  const { symbol, start } = cursor.token;
  switch (symbol) {
    case 'NULL':
      return literal(cursor, 'NULL');
    case 'TRUE':
    case 'FALSE':
      return literal(cursor, 'BOOL');
    case 'CASE':
      return parseCase(cursor);
    case 'CAST':
      return parseCast(cursor);
    case 'EXTRACT':
      return parseExtract(cursor);
    case 'INTERVAL':
      return parseInterval(cursor);
    case 'ARRAY':
      return parseArray(cursor);
    case 'STRUCT':
      return parseStruct(cursor);
    case 'EXISTS': {
      cursor.next();
      return { kind: 'exists', query: parseParenthesisedQuery(cursor), span: cursor.spanFrom(start) };
    }
    case 'WITH':
      return parseWithExpression(cursor);
    default:
  }
  const after = cursor.peek(1).symbol;
  if (FUNCTION_KEYWORDS.has(symbol) && after === '(') return parseCall(cursor, [toIdentifier(cursor.next())], start);
  if (symbol === 'RANGE' && after === '<') return parseRange(cursor);
  return cursor.fail('an expression');
}

function parseSymbol(cursor: Cursor): Expression {
  const { symbol, start } = cursor.token;
  switch (symbol) {
    case '(':
      return parseParenthesis(cursor);
    case '[':
      return { kind: 'array', elementType: null, elements: parseElements(cursor), span: cursor.spanFrom(start) };
    case '@':
    case '@@':
    case '?':
      return parseParameter(cursor);
    default:
      return cursor.fail('an expression');
  }
}

/** A subquery, an expression in parentheses, or the tuple `(a, b)`. */
function parseParenthesis(cursor: Cursor): Expression {
  const { start } = cursor.token;
  if (cursor.opensQuery()) {
    return { kind: 'scalar_subquery', query: parseParenthesisedQuery(cursor), span: cursor.spanFrom(start) };
  }
  const items = cursor.parenthesised(parseExpression);
  const [first] = items;
  if (first !== undefined && items.length === 1) return first;
  const fields = items.map((expression) => ({ expression, alias: null }));
  return { kind: 'struct', type: null, fields, span: cursor.spanFrom(start) };
}

function parseElements(cursor: Cursor): Expression[] {
  cursor.expect('[');
  const elements = cursor.at(']') ? [] : cursor.list(parseExpression);
  cursor.expect(']');
  return elements;
}

/** ARRAY[...], ARRAY<T>[...], ARRAY(subquery) */
function parseArray(cursor: Cursor): Expression {
  const { start } = cursor.expect('ARRAY');
  if (cursor.at('(')) {
    return { kind: 'array_subquery', query: parseParenthesisedQuery(cursor), span: cursor.spanFrom(start) };
  }
  const elementType = cursor.at('<') ? parseElementType(cursor) : null;
  return { kind: 'array', elementType, elements: parseElements(cursor), span: cursor.spanFrom(start) };
}

/** STRUCT(1 AS a, b), STRUCT<a INT64>(1) */
function parseStruct(cursor: Cursor): Expression {
  const { start } = cursor.expect('STRUCT');
  const typed = cursor.at('<') || cursor.at('<>');
  const fieldTypes = typed ? parseStructFields(cursor) : [];
  const type = typed ? { kind: 'struct' as const, fields: fieldTypes, span: cursor.spanFrom(start) } : null;
  cursor.expect('(');
  const fields = cursor.at(')') ? [] : cursor.list(parseStructField);
  cursor.expect(')');
  return { kind: 'struct', type, fields, span: cursor.spanFrom(start) };
}

function parseStructField(cursor: Cursor): { expression: Expression; alias: Identifier | null } {
  const expression = parseExpression(cursor);
  return { expression, alias: cursor.accept('AS') ? cursor.name('an alias') : null };
}

/** RANGE<DATE> '[2024-01-01, UNBOUNDED)' */
function parseRange(cursor: Cursor): Expression {
  const { start } = cursor.expect('RANGE');
  const element = parseElementType(cursor);
  if (cursor.token.kind !== 'string') cursor.fail('a STRING literal');
  return { ...literal(cursor, 'RANGE', start), element };
}

function parseParameter(cursor: Cursor): Parameter {
  const { symbol, start } = cursor.next();
  let name = '';
  if (symbol !== '?') {
    name = cursor.name('a parameter name').name;
    while (symbol === '@@' && cursor.at('.') && cursor.peek(1).symbol !== '*') {
      cursor.next();
      name += `.${cursor.name('a name').name}`;
    }
  }
  const form = symbol === '@' ? 'named' : symbol === '@@' ? 'system' : 'positional';
  const parameter: Parameter = { kind: 'parameter', form, name, span: cursor.spanFrom(start) };
  cursor.parameters.push(parameter);
  return parameter;
}
