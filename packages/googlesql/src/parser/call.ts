import type { Argument, Call, Expression, Identifier } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseLimit, parseOrderBy } from './ordering';
import { parseWindow } from './window';

/** Reserved words behind the arguments: all of these may follow none at all. */
const AFTER_ARGUMENTS = new Set([')', 'ORDER', 'LIMIT', 'HAVING', 'WHERE', 'IGNORE', 'RESPECT']);

/** Arguments that name an object of the catalogue instead of a value. */
const OBJECT_ARGUMENTS = new Set(['TABLE', 'MODEL', 'CONNECTION', 'SEQUENCE']);

/** A function call from its opening parenthesis on; `path` is passed, `start` is where it begins. */
export function parseCall(cursor: Cursor, path: readonly Identifier[], start: number): Call {
  cursor.expect('(');
  const distinct = cursor.accept('DISTINCT');
  const star = cursor.accept('*');
  const empty = star || atArgumentsEnd(cursor);
  const args = empty ? [] : cursor.list(parseArgument);
  if (star && cursor.at(',')) {
    const from = cursor.next().start;
    args.push(...cursor.list(parseArgument));
    cursor.refuse('arguments beside *', cursor.spanFrom(from));
  }
  const nulls = parseNullHandling(cursor);
  if (cursor.at('WHERE')) {
    const where = cursor.next();
    args.push(positional(parseExpression(cursor)));
    cursor.refuse('WHERE inside a function call', where);
  }
  const having = parseHavingExtreme(cursor);
  const orderBy = cursor.at('ORDER') ? parseOrderBy(cursor) : [];
  const limit = cursor.at('LIMIT') ? parseLimit(cursor) : null;
  cursor.expect(')');
  const over = cursor.accept('OVER') ? parseWindow(cursor) : null;
  const span = cursor.spanFrom(start);
  return { kind: 'call', path, arguments: args, star, distinct, nulls, having, orderBy, limit, over, span };
}

function atArgumentsEnd(cursor: Cursor): boolean {
  return AFTER_ARGUMENTS.has(cursor.token.symbol);
}

function parseArgument(cursor: Cursor): Argument {
  const { start } = cursor.token;
  const named = cursor.atName() && cursor.peek(1).symbol === '=>';
  const name = named ? cursor.name('an argument name') : null;
  if (named) cursor.expect('=>');
  const expression = parseValue(cursor);
  if (cursor.at('AS')) {
    const as = cursor.next();
    cursor.name('an alias');
    cursor.refuse('an alias of an argument', cursor.spanFrom(as.start));
  }
  return { name, expression, span: cursor.spanFrom(start) };
}

function parseValue(cursor: Cursor): Expression {
  const { start, symbol } = cursor.token;
  if (symbol === 'SELECT') {
    cursor.fault('Syntax error: a subquery as an argument needs parentheses of its own.', cursor.token);
  }
  if (OBJECT_ARGUMENTS.has(symbol) && cursor.atName(1)) {
    cursor.next();
    const parts = [cursor.name('a name')];
    while (cursor.accept('.')) parts.push(cursor.name('a name'));
    const span = cursor.spanFrom(start);
    cursor.refuse(`a ${symbol} argument`, span);
    return { kind: 'path', parts, span };
  }
  const expression = parseExpression(cursor);
  if (!cursor.at('->')) return expression;
  const parameters = lambdaParameters(expression);
  if (parameters === null) cursor.fault('Syntax error: the parameters of a lambda are names.', expression.span);
  cursor.next();
  const body = cursor.nested(() => parseExpression(cursor));
  return { kind: 'lambda', parameters, body, span: cursor.spanFrom(start) };
}

/** `e` or `(e, i)`, read as an expression; null for anything else. */
function lambdaParameters(expression: Expression): Identifier[] | null {
  const parts = expression.kind === 'struct' && expression.type === null ? expression.fields : [{ expression }];
  const names = parts.flatMap(({ expression: part }) =>
    part.kind === 'path' && part.parts.length === 1 ? part.parts : [],
  );
  return names.length === parts.length && names.length > 0 ? names : null;
}

function positional(expression: Expression): Argument {
  return { name: null, expression, span: expression.span };
}

function parseNullHandling(cursor: Cursor): Call['nulls'] {
  const ignore = cursor.at('IGNORE');
  if (!ignore && !cursor.at('RESPECT')) return null;
  cursor.next();
  cursor.expect('NULLS');
  return ignore ? 'ignore' : 'respect';
}

/** HAVING MAX x, HAVING MIN x */
function parseHavingExtreme(cursor: Cursor): Call['having'] {
  if (!cursor.accept('HAVING')) return null;
  const kind = cursor.at('MAX') ? 'max' : cursor.at('MIN') ? 'min' : cursor.fail('MAX or MIN');
  cursor.next();
  return { kind, expression: parseExpression(cursor) };
}
