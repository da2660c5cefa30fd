import type { Expression, FromItem, Identifier, PivotClause, Unpivot, UnpivotClause } from '../tree';
import type { Cursor } from './cursor';
import { parseArithmetic, parseExpression } from './expression';
import { parseAlias } from './table';

/** The token begins PIVOT ( or UNPIVOT [INCLUDE | EXCLUDE NULLS] (; otherwise it is an ordinary name. */
export function atPivot(cursor: Cursor): boolean {
  const after = cursor.peek(1).symbol;
  if (cursor.at('PIVOT')) return after === '(';
  return cursor.at('UNPIVOT') && (after === '(' || after === 'INCLUDE' || after === 'EXCLUDE');
}

/** The table with the PIVOT or UNPIVOT clause that may follow it. */
export function parsePivots(cursor: Cursor, input: FromItem): FromItem {
  if (!atPivot(cursor)) return input;
  const { start } = input.span;
  if (!cursor.at('PIVOT')) return { kind: 'unpivot', input, ...parseUnpivot(cursor), span: cursor.spanFrom(start) };
  return { kind: 'pivot', input, ...parsePivot(cursor), span: cursor.spanFrom(start) };
}

interface Aliased {
  readonly expression: Expression;
  readonly alias: Identifier | null;
}

/** PIVOT (SUM(x) AS s, ... FOR y IN ('a' AS a, ...)) [[AS] alias] */
export function parsePivot(cursor: Cursor): PivotClause {
  cursor.expect('PIVOT');
  cursor.expect('(');
  const aggregates = cursor.list(parseAliased);
  cursor.expect('FOR');
  const column = parseArithmetic(cursor);
  cursor.expect('IN');
  const values = cursor.parenthesised(parseAliased);
  cursor.expect(')');
  return { aggregates, for: column, in: values, alias: parseAlias(cursor) };
}

function parseAliased(cursor: Cursor): Aliased {
  const expression = parseExpression(cursor);
  const named = cursor.accept('AS') || cursor.atName();
  return { expression, alias: named ? cursor.name('an alias') : null };
}

/** UNPIVOT [INCLUDE NULLS] (v FOR name IN (a AS 'x', ...)), UNPIVOT ((v, w) FOR name IN ((a, b), ...)) */
export function parseUnpivot(cursor: Cursor): UnpivotClause {
  cursor.expect('UNPIVOT');
  const includeNulls = cursor.accept('INCLUDE');
  if (includeNulls || cursor.accept('EXCLUDE')) cursor.expect('NULLS');
  cursor.expect('(');
  const values = cursor.at('(') ? cursor.parenthesised(parseColumnName) : [parseColumnName(cursor)];
  cursor.expect('FOR');
  const name = parseColumnName(cursor);
  cursor.expect('IN');
  const columns = cursor.parenthesised(parseUnpivotColumns);
  cursor.expect(')');
  return { includeNulls, values, name, in: columns, alias: parseAlias(cursor) };
}

function parseColumnName(cursor: Cursor): Identifier {
  const name = cursor.name('a column name');
  if (cursor.at('.')) cursor.fault('UNPIVOT gives its new columns names of one part.', cursor.token);
  return name;
}

function parseUnpivotColumns(cursor: Cursor): Unpivot['in'][number] {
  const columns = cursor.at('(') ? cursor.parenthesised(parsePath) : [parsePath(cursor)];
  const named = cursor.accept('AS');
  const { kind, value, start, end } = cursor.token;
  if (kind !== 'string' && kind !== 'integer') {
    return named ? cursor.fail('a STRING or INT64 literal') : { columns, label: null };
  }
  cursor.next();
  return {
    columns,
    label: { kind: 'literal', type: kind === 'string' ? 'STRING' : 'INT64', value, span: { start, end } },
  };
}

function parsePath(cursor: Cursor): Identifier[] {
  const path = [cursor.name('a column name')];
  while (cursor.accept('.')) path.push(cursor.name('a field name'));
  return path;
}
