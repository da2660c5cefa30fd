import type { Expression } from '../syntax';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';

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
