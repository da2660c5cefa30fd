import type { Identifier, TableFunction } from '../syntax';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseAlias, parseTablePath } from './table';

const OBJECTS = new Set(['TABLE', 'MODEL', 'CONNECTION']);

/** A table function from its opening parenthesis on. Its arguments are checked and dropped: none is ever allowed. */
export function parseTableFunction(cursor: Cursor, path: readonly Identifier[], start: number): TableFunction {
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
