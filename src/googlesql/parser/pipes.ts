import type { Expression, FromItem, Identifier, OrderItem, Query, QueryBody } from '../syntax';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseFrom, parseJoinType } from './from';
import { parseGroupBy } from './group-by';
import { parseConditions } from './join';
import { parseLimit, parseOrderBy } from './ordering';
import { parsePivots } from './pivot';
import { parseOperandQuery, parseSetOperator } from './query';
import { parseSelectList } from './select';
import { standInSelect, standInTable } from './stand-in';
import { parseTable } from './table';
import { parseSample } from './table-suffix';

/** Pipe syntax is refused by name; it is read only for the tables and functions that it names. */
class Pipeline {
  alias: Identifier | null = null;
  readonly expressions: Expression[] = [];
  readonly orderBy: OrderItem[] = [];
  readonly tables: FromItem[] = [];
  readonly queries: QueryBody[] = [];
}

/** A query that begins with FROM. */
export function parseFromQuery(cursor: Cursor): QueryBody {
  const { start } = cursor.expect('FROM');
  const from = parseFrom(cursor);
  cursor.refuse('pipe syntax', cursor.spanFrom(start));
  return standInSelect(from, [], cursor.spanFrom(start));
}

/** The pipe operators after a query. */
export function parsePipes(cursor: Cursor, input: Query): Query {
  const { start } = cursor.token;
  const pipeline = new Pipeline();
  while (cursor.accept('|>')) parseOperator(cursor, pipeline);
  cursor.refuse('pipe syntax', cursor.spanFrom(start));

  const span = cursor.spanFrom(input.span.start);
  const { alias, expressions, orderBy, tables, queries } = pipeline;
  const from = tables.reduce<FromItem>(
    (left, right) => ({ kind: 'join', type: 'comma', left, right, on: null, using: [], span }),
    standInTable(input, [], alias),
  );
  const select = standInSelect(from, expressions, span);
  const body: QueryBody =
    queries.length === 0
      ? select
      : { kind: 'set_operation', operator: 'union', distinct: false, inputs: [select, ...queries], span };
  return { kind: 'query', with: null, body, orderBy, limit: null, span };
}

function parseOperator(cursor: Cursor, pipeline: Pipeline): void {
  const { expressions } = pipeline;
  switch (cursor.token.symbol) {
    case 'WHERE':
    case 'ASSERT':
      cursor.next();
      expressions.push(...cursor.list(parseExpression));
      return;
    case 'SELECT':
    case 'EXTEND':
    case 'WINDOW':
      cursor.next();
      cursor.accept('DISTINCT');
      parseItems(cursor, expressions);
      return;
    case 'AGGREGATE':
      cursor.next();
      if (!cursor.at('GROUP') && !atOperatorEnd(cursor)) parseItems(cursor, expressions);
      if (cursor.at('GROUP')) parseGrouping(cursor, expressions);
      return;
    case 'SET':
      cursor.next();
      expressions.push(...cursor.list(parseAssignment));
      return;
    case 'DROP':
      cursor.next();
      cursor.list((at) => at.name('a column name'));
      return;
    case 'RENAME':
      cursor.next();
      cursor.list(parseRenaming);
      return;
    case 'AS':
      cursor.next();
      pipeline.alias = cursor.name('an alias');
      return;
    case 'DISTINCT':
      cursor.next();
      return;
    case 'ORDER':
      pipeline.orderBy.push(...parseOrderBy(cursor));
      return;
    case 'LIMIT': {
      const { count, offset } = parseLimit(cursor);
      expressions.push(count, ...(offset === null ? [] : [offset]));
      return;
    }
    case 'TABLESAMPLE':
      parseSample(cursor);
      return;
    case 'CALL':
      cursor.next();
      pipeline.tables.push(parseTable(cursor));
      return;
    default:
      parseTableOperator(cursor, pipeline);
  }
}

/** JOIN, PIVOT, UNPIVOT and set operations. */
function parseTableOperator(cursor: Cursor, pipeline: Pipeline): void {
  if (parseSetOperator(cursor) !== null) {
    pipeline.queries.push(...cursor.list(parseOperandQuery));
    return;
  }
  if (parseJoinType(cursor) !== null) {
    pipeline.tables.push(parseTable(cursor));
    for (const { on } of parseConditions(cursor)) if (on !== null) pipeline.expressions.push(on);
    return;
  }
  const { start, end } = cursor.token;
  const nothing = standInTable(standInSelect(null, [], { start, end }), [], null);
  const pivot = parsePivots(cursor, nothing);
  if (pivot === nothing) cursor.fail('a pipe operator');
  pipeline.tables.push(pivot);
}

function parseItems(cursor: Cursor, expressions: Expression[]): void {
  for (const item of parseSelectList(cursor)) {
    if (item.kind === 'select_expression') expressions.push(item.expression);
    else expressions.push(...item.replace.map((replacement) => replacement.expression));
    if (cursor.at('ASC') || cursor.at('DESC')) cursor.next();
  }
}

function parseGrouping(cursor: Cursor, expressions: Expression[]): void {
  for (const item of parseGroupBy(cursor).items) if (item.kind === 'expression') expressions.push(item.expression);
}

function parseAssignment(cursor: Cursor): Expression {
  cursor.name('a column name');
  cursor.expect('=');
  return parseExpression(cursor);
}

function parseRenaming(cursor: Cursor): void {
  cursor.name('a column name');
  cursor.accept('AS');
  cursor.name('a column name');
}

function atOperatorEnd(cursor: Cursor): boolean {
  const { kind, symbol } = cursor.token;
  return kind === 'end' || symbol === '|>' || symbol === ')' || symbol === ';';
}
