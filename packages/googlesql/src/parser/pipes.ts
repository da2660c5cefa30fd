import type { PipeOperator, PipeSet, SelectItem, GroupingItem, OrderSuffix, PipeAggregate, PipeGroupBy } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseJoinType } from './from';
import { parseConditions } from './join';
import { parseLimit, parseOrderBy, parseNullOrder } from './ordering';
import { atPivot, parsePivot, parseUnpivot } from './pivot';
import { parseParenthesisedQuery, parseWith, parseSetOperator } from './query';
import { parseSelectClause, parseSelectList, atListEnd, parseSelectItem, parseGroupingItem } from './select';
import { parseTable } from './table';
import { parseSample } from './table-suffix';
import { parseNamedWindow } from './window';

/** `|> operator`, as often as it comes. Those that this service does not take are refused by name. */
export function parsePipes(cursor: Cursor): PipeOperator[] {
  const pipes: PipeOperator[] = [];
  while (cursor.at('|>')) {
    cursor.countPipe(cursor.next());
    const operator = parseOperator(cursor);
    if (operator !== null) pipes.push(operator);
  }
  return pipes;
}

/** null: refused, with nothing in it that could name a table. */
function parseOperator(cursor: Cursor): PipeOperator | null {
  const { start, symbol } = cursor.token;
  switch (symbol) {
    case 'SELECT': {
      const clause = parseSelectClause(cursor);
      const windows = parseWindows(cursor);
      return { kind: 'pipe_select', ...clause, windows, span: cursor.spanFrom(start) };
    }
    case 'EXTEND':
    case 'WINDOW': {
      cursor.next();
      const items = parseSelectList(cursor);
      refuseBareStar(cursor, items, symbol);
      const windows = symbol === 'EXTEND' ? parseWindows(cursor) : [];
      return { kind: 'pipe_extend', operator: symbol, items, windows, span: cursor.spanFrom(start) };
    }
    case 'SET': {
      cursor.next();
      return { kind: 'pipe_set', items: cursor.pipeList(parseAssignment), span: cursor.spanFrom(start) };
    }
    case 'DROP': {
      cursor.next();
      const columns = cursor.pipeList((at) => parseColumn(at, 'DROP'));
      return { kind: 'pipe_drop', columns, span: cursor.spanFrom(start) };
    }
    case 'RENAME': {
      cursor.next();
      const items = cursor.pipeList((at) => {
        const from = parseColumn(at, 'RENAME');
        at.accept('AS');
        return { from, to: at.name('a column name') };
      });
      return { kind: 'pipe_rename', items, span: cursor.spanFrom(start) };
    }
    case 'AS': {
      cursor.next();
      return { kind: 'pipe_as', alias: cursor.name('an alias'), span: cursor.spanFrom(start) };
    }
    case 'WHERE': {
      cursor.next();
      return { kind: 'pipe_where', condition: parseExpression(cursor), span: cursor.spanFrom(start) };
    }
    case 'AGGREGATE':
      return parsePipeAggregate(cursor);
    case 'DISTINCT': {
      cursor.next();
      return { kind: 'pipe_distinct', span: cursor.spanFrom(start) };
    }
    case 'ORDER':
      return { kind: 'pipe_order_by', items: parseOrderBy(cursor), span: cursor.spanFrom(start) };
    case 'LIMIT': {
      const limit = parseLimit(cursor);
      return { kind: 'pipe_limit', limit, span: limit.span };
    }
    case 'WITH': {
      const clause = parseWith(cursor);
      return { kind: 'pipe_with', with: clause, span: clause.span };
    }
    case 'GROUP':
      return cursor.fault('Syntax error: GROUP BY is part of AGGREGATE, without a |> of its own.', cursor.token);
    default:
      return parseTableOperator(cursor);
  }
}

/** JOIN, PIVOT, UNPIVOT and set operations; and what is refused. */
function parseTableOperator(cursor: Cursor): PipeOperator | null {
  const { start } = cursor.token;
  const setOperator = parseSetOperator(cursor);
  if (setOperator !== null) {
    const inputs = cursor.pipeList(parseParenthesisedQuery);
    return { ...setOperator, kind: 'pipe_set_operation', inputs, span: cursor.spanFrom(start) };
  }
  if (atPivot(cursor)) {
    if (cursor.at('PIVOT')) return { kind: 'pipe_pivot', ...parsePivot(cursor), span: cursor.spanFrom(start) };
    return { kind: 'pipe_unpivot', ...parseUnpivot(cursor), span: cursor.spanFrom(start) };
  }
  const join = parseJoinType(cursor);
  if (join === null) return parseRefused(cursor);
  const right = parseTable(cursor);
  const conditions = parseConditions(cursor);
  const [condition = { on: null, using: [] }, second] = conditions;
  if (second !== undefined) cursor.fault('Syntax error: this condition belongs to no JOIN.', second);
  if (conditions[0] !== undefined && join.type === 'cross') {
    cursor.refuse('CROSS JOIN with a condition', conditions[0]);
  }
  const { on, using } = condition;
  return { kind: 'pipe_join', type: join.type, right, on, using, span: cursor.spanFrom(start) };
}

/** Words that begin pipe operators of GoogleSQL beside those above. */
const REFUSED = new Set(
  'ASSERT CALL CREATE DESCRIBE ELSE ELSEIF EXPORT FINISH FORK IF INSERT LOG MATCH_RECOGNIZE RECURSIVE STATIC_DESCRIBE TEE'.split(
    ' ',
  ),
);

function parseRefused(cursor: Cursor): PipeOperator | null {
  const { start, symbol } = cursor.token;
  if (symbol === 'TABLESAMPLE') {
    parseSample(cursor);
    return null;
  }
  if (!REFUSED.has(symbol)) cursor.fail('a pipe operator');
  if (symbol === 'CALL') {
    // A table function is no less forbidden here than in FROM: the walk finds it.
    cursor.next();
    const right = parseTable(cursor);
    const span = cursor.spanFrom(start);
    cursor.refuse('the pipe operator CALL', span);
    return { kind: 'pipe_join', type: 'cross', right, on: null, using: [], span };
  }
  if (symbol === 'ASSERT') {
    cursor.next();
    const elements = cursor.pipeList(parseExpression);
    const span = cursor.spanFrom(start);
    cursor.refuse('the pipe operator ASSERT', span);
    return { kind: 'pipe_where', condition: { kind: 'array', elementType: null, elements, span }, span };
  }
  return cursor.fault(`The pipe operator ${symbol} is not supported.`, cursor.token);
}

/** `t.*` is an item of every operator, `*` of SELECT alone: all others keep the columns that there are. */
function refuseBareStar(cursor: Cursor, items: readonly SelectItem[], operator: string): void {
  const star = items.find((item) => item.kind === 'select_star' && item.of === null);
  if (star !== undefined) cursor.fault(`Syntax error: * is no item of pipe ${operator}.`, star.span);
}

function parseWindows(cursor: Cursor): ReturnType<typeof parseNamedWindow>[] {
  return cursor.accept('WINDOW') ? cursor.pipeList(parseNamedWindow) : [];
}

function parseAssignment(cursor: Cursor): PipeSet['items'][number] {
  const column = parseColumn(cursor, 'SET');
  cursor.expect('=');
  return { column, expression: parseExpression(cursor) };
}

function parseColumn(cursor: Cursor, operator: string): ReturnType<Cursor['name']> {
  const name = cursor.name('a column name');
  if (cursor.at('.')) {
    cursor.fault(`Syntax error: pipe ${operator} takes columns by name alone, not under aliases or paths.`, {
      start: name.span.start,
      end: cursor.token.end,
    });
  }
  return name;
}

/** AGGREGATE COUNT(*) AS n DESC, ... [GROUP [AND ORDER] BY x AS y, ROLLUP(a, b), ...] */
function parsePipeAggregate(cursor: Cursor): PipeAggregate {
  const { start } = cursor.next();
  const items: SelectItem[] = [];
  const orders: (OrderSuffix | null)[] = [];
  while (!cursor.at('GROUP') && !cursor.atPipeEnd()) {
    items.push(parseSelectItem(cursor));
    orders.push(parseOrderSuffix(cursor));
    if (!cursor.accept(',')) break;
  }
  refuseBareStar(cursor, items, 'AGGREGATE');
  const groupBy = cursor.at('GROUP') ? parseGroupBy(cursor) : null;
  const span = cursor.spanFrom(start);
  if (items.length === 0 && (groupBy === null || groupBy.items.every(isEmpty))) {
    cursor.fault('Pipe AGGREGATE cannot have both an empty aggregate list and an empty GROUP BY.', span);
  }
  return { kind: 'pipe_aggregate', items, orders, groupBy, span };
}

function isEmpty(item: GroupingItem): boolean {
  return item.kind === 'list' && item.expressions.length === 0;
}

function parseGroupBy(cursor: Cursor): PipeGroupBy {
  const { start } = cursor.expect('GROUP');
  const ordered = cursor.accept('AND');
  if (ordered) cursor.expect('ORDER');
  cursor.expect('BY');
  const items: GroupingItem[] = [];
  const suffixes: PipeGroupBy['suffixes'][number][] = [];
  do {
    const item = parseGroupingItem(cursor);
    items.push(item);
    suffixes.push(item.kind === 'expression' ? parseSuffix(cursor) : { alias: null, order: null });
  } while (cursor.accept(',') && !atListEnd(cursor));
  return { ordered, items, suffixes, span: cursor.spanFrom(start) };
}

function parseSuffix(cursor: Cursor): PipeGroupBy['suffixes'][number] {
  const alias = cursor.accept('AS') || cursor.atName() ? cursor.name('an alias') : null;
  return { alias, order: parseOrderSuffix(cursor) };
}

/** ASC, DESC, with or without NULLS FIRST, NULLS LAST. */
function parseOrderSuffix(cursor: Cursor): OrderSuffix | null {
  const descending = cursor.at('DESC');
  const written = descending || cursor.at('ASC');
  if (written) cursor.next();
  const nulls = parseNullOrder(cursor);
  return written || nulls !== null ? { descending, nulls } : null;
}
