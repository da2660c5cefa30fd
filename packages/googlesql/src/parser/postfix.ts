import type { Expression, Identifier, Subscript } from '../tree';
import { parseCall } from './call';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { isPlainCall } from './constructs';
import { parsePrimary } from './primary';

const SUBSCRIPT_MODES: ReadonlyMap<string, Subscript['mode']> = new Map([
  ['OFFSET', 'offset'],
  ['ORDINAL', 'ordinal'],
  ['SAFE_OFFSET', 'safe_offset'],
  ['SAFE_ORDINAL', 'safe_ordinal'],
]);

/** A primary expression and what is attached to it: fields, subscripts, call parentheses. */
export function parsePostfix(cursor: Cursor): Expression {
  const { start, symbol } = cursor.token;
  const expression = parsePrimary(cursor);
  // `(a).b` is a field of an expression, not the path a.b; and `(f)(x)` is no call.
  const name = expression.kind === 'path' && symbol !== '(' ? expression.parts : null;
  return continuePostfix(cursor, expression, start, name);
}

/** What is attached to `expression`, which begins at `start`. @param name what a call would be of; null: it is no name */
export function continuePostfix(
  cursor: Cursor,
  expression: Expression,
  start: number,
  name: readonly Identifier[] | null = null,
): Expression {
  for (;;) {
    if (cursor.at('(')) {
      if (name === null) cursor.fault('Syntax error: only a name can be called.', cursor.token);
      expression = parseCall(cursor, name, start);
    } else if (cursor.at('[')) {
      expression = parseSubscript(cursor, expression, start);
    } else if (cursor.at('.')) {
      if (cursor.peek(1).symbol === '*') {
        cursor.starOperand = start;
        return expression;
      }
      cursor.next();
      expression = parseField(cursor, expression, start);
    } else {
      return expression;
    }
    name = null;
  }
}

/** After the dot. */
function parseField(cursor: Cursor, input: Expression, start: number): Expression {
  if (cursor.at('(')) return parseExtensionField(cursor, input, start);
  const name = cursor.name('a field name');
  if (!cursor.at('(')) return { kind: 'field', input, name, span: cursor.spanFrom(start) };
  const call = parseCall(cursor, [name], name.span.start);
  const span = cursor.spanFrom(start);
  cursor.refuse('a chained function call', call.span);
  return { ...call, arguments: [{ name: null, expression: input, span: input.span }, ...call.arguments], span };
}

/** `x.(a.b)`, an extension of a protocol buffer: read to be refused by its name. */
function parseExtensionField(cursor: Cursor, input: Expression, start: number): Expression {
  const { start: open } = cursor.expect('(');
  const name = cursor.name('a field name');
  while (cursor.accept('.')) cursor.name('a field name');
  cursor.expect(')');
  cursor.refuse('a field in parentheses', cursor.spanFrom(open));
  return { kind: 'field', input, name, span: cursor.spanFrom(start) };
}

function parseSubscript(cursor: Cursor, input: Expression, start: number): Expression {
  cursor.expect('[');
  const written = parseExpression(cursor);
  cursor.expect(']');
  const { index, mode } = subscriptMode(written);
  return { kind: 'subscript', input, index, mode, span: cursor.spanFrom(start) };
}

/** `[OFFSET(i)]` looks like a call; the word means nothing elsewhere. */
function subscriptMode(written: Expression): { index: Expression; mode: Subscript['mode'] } {
  const plain = { index: written, mode: 'plain' as const };
  if (written.kind !== 'call' || !isPlainCall(written)) return plain;
  const mode = SUBSCRIPT_MODES.get(written.path[0]?.name.toUpperCase() ?? '');
  const argument = written.arguments[0];
  return mode === undefined || argument === undefined ? plain : { index: argument.expression, mode };
}
