import type { FromItem, Identifier, OffsetClause, Span, TableFunction, Expression } from '../tree';
import { toIdentifier, type Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseParenthesisedJoin } from './from';
import { parseMatchRecognize, parseSample, parseSystemTime } from './table-suffix';
import { atPivot, parsePivots } from './pivot';
import { parseParenthesisedQuery } from './query';

/** One table of a FROM clause with its alias and whatever is attached to it. */
export function parseTable(cursor: Cursor): FromItem {
  let table = parseOperand(cursor);
  for (;;) {
    if (cursor.at('TABLESAMPLE')) parseSample(cursor);
    else if (cursor.at('MATCH_RECOGNIZE') && cursor.peek(1).symbol === '(') table = parseMatchRecognize(cursor, table);
    else return table;
  }
}

function parseOperand(cursor: Cursor): FromItem {
  if (cursor.at('UNNEST')) return parseUnnest(cursor);
  if (cursor.at('(')) {
    return cursor.opensQuery() ? parseSubquery(cursor) : parseParenthesisedJoin(cursor);
  }
  return parseNamed(cursor);
}

function parseUnnest(cursor: Cursor): FromItem {
  const { start } = cursor.token;
  const array = parseUnnestArguments(cursor);
  const alias = parseAlias(cursor);
  const offset = parseOffset(cursor);
  const unnest: FromItem = { kind: 'unnest', array, alias, offset, span: cursor.spanFrom(start) };
  return offset === null ? parsePivots(cursor, unnest) : unnest;
}

function parseSubquery(cursor: Cursor): FromItem {
  const { start } = cursor.token;
  const query = parseParenthesisedQuery(cursor);
  const alias = parseAlias(cursor);
  return parsePivots(cursor, { kind: 'subquery_item', query, alias, span: cursor.spanFrom(start) });
}

/** A table, an array of an earlier alias, or a call of a table function. */
function parseNamed(cursor: Cursor): FromItem {
  const { start } = cursor.token;
  const path = parseTablePath(cursor);
  const dashed = path.some(({ name, quoted }) => !quoted && name.includes('-'));
  if (cursor.at('(') && !dashed) return parsePivots(cursor, parseTableFunction(cursor, path, start));
  if (cursor.at('[')) {
    cursor.fault('Syntax error: Array element access is allowed in FROM only inside UNNEST(...).', cursor.token);
  }
  const alias = parseAlias(cursor);
  const offset = parseOffset(cursor);
  let table: FromItem = { kind: 'table_path', path, alias, offset, span: cursor.spanFrom(start) };
  if (offset === null) table = parsePivots(cursor, table);
  return cursor.at('FOR') ? parseSystemTime(cursor, table) : table;
}

/** Parts joined by dots. The first may hold dashes, as names of projects do: `acme-logs.prod.t`. */
function parseTablePath(cursor: Cursor): Identifier[] {
  const path = parseDashedName(cursor);
  while (cursor.accept('.')) path.push(cursor.name('a table name'));
  return path;
}

function parseDashedName(cursor: Cursor): Identifier[] {
  const first = cursor.at('IF') && cursor.peek(1).symbol === '(' ? toIdentifier(cursor.next()) : cursor.name('a table');
  if (first.quoted || !atDash(cursor, first.span.end)) return [first];
  let { name } = first;
  while (atDash(cursor, cursor.end)) {
    cursor.next();
    const { kind, value, quoted, reserved, end } = cursor.token;
    if (kind === 'identifier' ? quoted || reserved : kind !== 'integer' && !/^[0-9]+\.$/.test(value)) {
      cursor.fail('a table name');
    }
    cursor.next();
    // In `a-1.b` the lexer has made a number of `1.`.
    if (kind === 'float') {
      const span = { start: first.span.start, end: end - 1 };
      return [{ name: `${name}-${value.slice(0, -1)}`, quoted: false, span }, cursor.name('a table name')];
    }
    name += `-${value}`;
  }
  return [{ name, quoted: false, span: cursor.spanFrom(first.span.start) }];
}

/** A minus sign with no blank on either side; `end` is where the text before it ends. */
function atDash(cursor: Cursor, end: number): boolean {
  return cursor.at('-') && cursor.token.start === end && cursor.peek(1).start === end + 1;
}

/** [AS] name. PIVOT and UNPIVOT are names too, unless their clause follows. */
export function parseAlias(cursor: Cursor): Identifier | null {
  if (cursor.accept('AS')) return cursor.name('an alias');
  if (!cursor.atName() || atPivot(cursor)) return null;
  if (cursor.at('MATCH_RECOGNIZE') && cursor.peek(1).symbol === '(') return null;
  return cursor.name('an alias');
}

/** WITH OFFSET [[AS] name] */
function parseOffset(cursor: Cursor): OffsetClause | null {
  if (!cursor.at('WITH')) return null;
  const { start } = cursor.next();
  cursor.expect('OFFSET');
  const alias = parseAlias(cursor);
  const span: Span = cursor.spanFrom(start);
  return { alias, span };
}

const OBJECTS = new Set(['TABLE', 'MODEL', 'CONNECTION']);

/** A table function from its opening parenthesis on. Its arguments are checked and dropped: none is ever allowed. */
function parseTableFunction(cursor: Cursor, path: readonly Identifier[], start: number): TableFunction {
  cursor.expect('(');
  if (!cursor.at(')')) cursor.list(parseArgument);
  cursor.expect(')');
  const alias = parseAlias(cursor);
  return { kind: 'table_function', path, alias, span: cursor.spanFrom(start) };
}

function parseArgument(cursor: Cursor): void {
  if (cursor.atName() && cursor.peek(1).symbol === '=>') {
    cursor.next();
    cursor.next();
  }
  if (OBJECTS.has(cursor.token.symbol) && cursor.atName(1)) {
    cursor.next();
    parseTablePath(cursor);
    if (cursor.at('(')) parseTableFunction(cursor, [], cursor.token.start);
  } else if (cursor.at('DESCRIPTOR') && cursor.peek(1).symbol === '(') {
    cursor.next();
    cursor.parenthesised((at) => at.name('a column name'));
  } else {
    parseExpression(cursor);
  }
}

/** UNNEST(array) with the word itself. Several arrays side by side are refused by name; the stand-in holds them all. */
export function parseUnnestArguments(cursor: Cursor): Expression {
  const { start } = cursor.expect('UNNEST');
  cursor.expect('(');
  const arrays = [parseArray(cursor)];
  while (cursor.accept(',')) {
    if (cursor.atName() && cursor.peek(1).symbol === '=>') {
      cursor.next();
      cursor.next();
    }
    arrays.push(parseArray(cursor));
  }
  cursor.expect(')');
  const [array] = arrays;
  if (array !== undefined && arrays.length === 1) return array;
  const span = cursor.spanFrom(start);
  cursor.refuse('UNNEST of several arrays', span);
  return { kind: 'array', elementType: null, elements: arrays, span };
}

function parseArray(cursor: Cursor): Expression {
  if (cursor.at('SELECT')) {
    cursor.fault('Syntax error: a subquery in UNNEST needs ARRAY(...) around it.', cursor.token);
  }
  const array = parseExpression(cursor);
  if (cursor.at('AS')) {
    const { start } = cursor.next();
    cursor.name('an alias');
    cursor.refuse('an alias inside UNNEST', cursor.spanFrom(start));
  }
  return array;
}
