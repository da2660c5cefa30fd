import type { Expression, FromItem, OrderItem, Span, Query, Select, SubqueryItem } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseOrderBy } from './ordering';
import { parseAlias } from './table';
import { parsePartition } from './window';

/** FOR SYSTEM_TIME AS OF x: refused by name; the stand-in keeps its expression in sight. */
export function parseSystemTime(cursor: Cursor, table: FromItem): FromItem {
  const { start } = cursor.expect('FOR');
  if (cursor.accept('SYSTEM')) cursor.expect('TIME');
  else cursor.expect('SYSTEM_TIME');
  cursor.expect('AS');
  cursor.expect('OF');
  const time = parseExpression(cursor);
  const span = cursor.spanFrom(start);
  cursor.refuse('FOR SYSTEM_TIME AS OF', span);
  return filtered(table, [time], [], span);
}

/** TABLESAMPLE SYSTEM (10 PERCENT) [REPEATABLE (1)] [WITH WEIGHT ...] */
export function parseSample(cursor: Cursor): void {
  const { start } = cursor.expect('TABLESAMPLE');
  cursor.name('a sampling method');
  cursor.expect('(');
  parseExpression(cursor);
  if (!cursor.at('PERCENT') && !cursor.at('ROWS')) cursor.fail('PERCENT or ROWS');
  cursor.next();
  if (cursor.accept('PARTITION')) parsePartition(cursor);
  cursor.expect(')');
  if (cursor.accept('WITH')) {
    cursor.expect('WEIGHT');
    if (!cursor.at('REPEATABLE')) parseAlias(cursor);
  }
  if (cursor.accept('REPEATABLE')) cursor.parenthesised(parseExpression);
  cursor.refuse('TABLESAMPLE', cursor.spanFrom(start));
}

/**
 * MATCH_RECOGNIZE (PARTITION BY ... ORDER BY ... MEASURES ... PATTERN (...) DEFINE ...): refused by name; the stand-in
 * keeps its expressions in sight.
 */
export function parseMatchRecognize(cursor: Cursor, table: FromItem): FromItem {
  const { start } = cursor.next();
  cursor.expect('(');
  const expressions: Expression[] = [];
  if (cursor.accept('PARTITION')) expressions.push(...parsePartition(cursor));
  const orderBy = parseOrderBy(cursor);
  cursor.expect('MEASURES');
  expressions.push(...cursor.list(parseMeasure));
  while (!cursor.at('PATTERN') && cursor.token.kind === 'identifier') cursor.next();
  cursor.expect('PATTERN');
  skipParentheses(cursor);
  cursor.expect('DEFINE');
  expressions.push(...cursor.list(parseDefinition));
  if (cursor.accept('OPTIONS')) skipParentheses(cursor);
  cursor.expect(')');
  parseAlias(cursor);
  const span = cursor.spanFrom(start);
  cursor.refuse('MATCH_RECOGNIZE', span);
  return filtered(table, expressions, orderBy, span);
}

function parseMeasure(cursor: Cursor): Expression {
  const expression = parseExpression(cursor);
  cursor.expect('AS');
  cursor.name('an alias');
  return expression;
}

function parseDefinition(cursor: Cursor): Expression {
  cursor.name('a pattern variable');
  cursor.expect('AS');
  return parseExpression(cursor);
}

/** A pattern of rows: symbols that mean nothing elsewhere. */
function skipParentheses(cursor: Cursor): void {
  cursor.expect('(');
  for (let depth = 1; depth > 0; cursor.next()) {
    if (cursor.at('(')) depth++;
    else if (cursor.at(')')) depth--;
    if (cursor.token.kind === 'end') cursor.fail(')');
  }
}

function filtered(table: FromItem, elements: Expression[], orderBy: readonly OrderItem[], span: Span): FromItem {
  const whole = { start: table.span.start, end: span.end };
  return standInTable(standInSelect(table, elements, whole), orderBy, null);
}

/**
 * What a construct that this service refuses leaves in the tree: its table and its expressions as a plain SELECT, for
 * scoping to find outside tables and forbidden functions in. It never runs (ParsedQuery.unsupported).
 */
function standInSelect(from: FromItem | null, expressions: readonly Expression[], span: Span): Select {
  return {
    kind: 'select',
    distinct: false,
    as: null,
    items: [{ kind: 'select_star', of: null, except: [], replace: [], span }],
    from,
    where: { kind: 'array', elementType: null, elements: expressions, span },
    groupBy: null,
    having: null,
    qualify: null,
    windows: [],
    span,
  };
}

/** `( body ) AS alias` as a table. */
function standInTable(body: Query['body'], orderBy: readonly OrderItem[], alias: SubqueryItem['alias']): SubqueryItem {
  const query: Query = { kind: 'query', with: null, body, orderBy, limit: null, pipes: [], span: body.span };
  return { kind: 'subquery_item', query, alias, span: body.span };
}
