import type { Call, Case, Cast, DatePart, Expression, Extract, Interval, WithExpression } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseType } from './types';

/** CASE [operand] WHEN ... THEN ... [ELSE ...] END */
export function parseCase(cursor: Cursor): Case {
  const { start } = cursor.expect('CASE');
  const operand = cursor.at('WHEN') ? null : parseExpression(cursor);
  const whens: { when: Expression; then: Expression }[] = [];
  do {
    cursor.expect('WHEN');
    const when = parseExpression(cursor);
    cursor.expect('THEN');
    whens.push({ when, then: parseExpression(cursor) });
  } while (cursor.at('WHEN'));
  const otherwise = cursor.accept('ELSE') ? parseExpression(cursor) : null;
  cursor.expect('END');
  return { kind: 'case', operand, whens, else: otherwise, span: cursor.spanFrom(start) };
}

/** CAST(x AS T [FORMAT f [AT TIME ZONE z]]), SAFE_CAST alike */
export function parseCast(cursor: Cursor): Cast {
  const { start, symbol } = cursor.next();
  cursor.expect('(');
  const expression = parseExpression(cursor);
  cursor.expect('AS');
  const type = parseType(cursor);
  let format: Expression | null = null;
  let timeZone: Expression | null = null;
  if (cursor.accept('FORMAT')) {
    format = parseExpression(cursor);
    timeZone = parseTimeZone(cursor);
  }
  cursor.expect(')');
  const safe = symbol === 'SAFE_CAST';
  return { kind: 'cast', safe, expression, type, format, timeZone, span: cursor.spanFrom(start) };
}

/** EXTRACT(part FROM x [AT TIME ZONE z]) */
export function parseExtract(cursor: Cursor): Extract {
  const { start } = cursor.expect('EXTRACT');
  cursor.expect('(');
  const part = toDatePart(cursor, parseExpression(cursor));
  cursor.expect('FROM');
  const from = parseExpression(cursor);
  const timeZone = parseTimeZone(cursor);
  cursor.expect(')');
  return { kind: 'extract', part, from, timeZone, span: cursor.spanFrom(start) };
}

/** INTERVAL 5 DAY, INTERVAL '1-2' YEAR TO MONTH */
export function parseInterval(cursor: Cursor): Interval {
  const { start } = cursor.expect('INTERVAL');
  const value = cursor.nested(() => parseExpression(cursor));
  const from = cursor.name('a date part').name.toUpperCase();
  const to = cursor.accept('TO') ? cursor.name('a date part').name.toUpperCase() : null;
  return { kind: 'interval', value, from, to, span: cursor.spanFrom(start) };
}

/** WITH(a AS 1, a + 1) */
export function parseWithExpression(cursor: Cursor): WithExpression {
  const { start } = cursor.expect('WITH');
  cursor.expect('(');
  const variables: WithExpression['variables'][number][] = [];
  while (cursor.atName() && cursor.peek(1).symbol === 'AS') {
    const name = cursor.name('a variable name');
    cursor.next();
    variables.push({ name, expression: parseExpression(cursor) });
    cursor.expect(',');
  }
  if (variables.length === 0) cursor.fail('a variable name and AS');
  const result = parseExpression(cursor);
  cursor.expect(')');
  return { kind: 'with_expression', variables, result, span: cursor.spanFrom(start) };
}

function parseTimeZone(cursor: Cursor): Expression | null {
  if (!cursor.accept('AT')) return null;
  cursor.expect('TIME');
  cursor.expect('ZONE');
  return parseExpression(cursor);
}

function toDatePart(cursor: Cursor, expression: Expression): DatePart {
  const { span } = expression;
  const name = plainName(expression);
  if (name !== null) return { name, weekday: null, span };
  if (expression.kind === 'call' && isPlainCall(expression)) {
    const weekday = plainName(expression.arguments[0]?.expression);
    const [unit] = expression.path;
    if (weekday !== null && unit !== undefined) return { name: unit.name.toUpperCase(), weekday, span };
  }
  // GoogleSQL reads any expression here and refuses it by its meaning.
  cursor.refuse('EXTRACT of anything but a date part such as DAY or WEEK(MONDAY)', span);
  return { name: 'DAY', weekday: null, span };
}

/** One name, one positional argument, and none of what aggregate and window functions may have besides. */
export function isPlainCall(call: Call): boolean {
  const { path, arguments: args, distinct, nulls, having, orderBy, limit, over } = call;
  const plain = !distinct && nulls === null && having === null && limit === null && over === null;
  return plain && orderBy.length === 0 && path.length === 1 && args.length === 1 && args[0]?.name === null;
}

function plainName(expression: Expression | undefined): string | null {
  if (expression?.kind !== 'path' || expression.parts.length !== 1) return null;
  return expression.parts[0]?.name.toUpperCase() ?? null;
}
