import type { FrameBound, NamedWindow, WindowFrame, WindowSpecification } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';
import { parseOrderBy } from './ordering';

/** What follows OVER and WINDOW name AS: a window's name, or a specification in parentheses. */
export function parseWindow(cursor: Cursor): WindowSpecification {
  const { start } = cursor.token;
  if (cursor.atName()) {
    const base = cursor.name('a window name');
    return { base, partitionBy: [], orderBy: [], frame: null, span: base.span };
  }
  if (!cursor.accept('(')) cursor.fail('( or a window name');
  const base = cursor.atName() ? cursor.name('a window name') : null;
  const partitionBy = cursor.accept('PARTITION') ? parsePartition(cursor) : [];
  const orderBy = cursor.at('ORDER') ? parseOrderBy(cursor) : [];
  const frame = cursor.at('ROWS') || cursor.at('RANGE') ? parseFrame(cursor) : null;
  cursor.expect(')');
  return { base, partitionBy, orderBy, frame, span: cursor.spanFrom(start) };
}

/** After PARTITION. */
export function parsePartition(cursor: Cursor): WindowSpecification['partitionBy'] {
  cursor.expect('BY');
  return cursor.list(parseExpression);
}

/** An entry of the WINDOW clause. */
export function parseNamedWindow(cursor: Cursor): NamedWindow {
  const { start } = cursor.token;
  const name = cursor.name('a window name');
  cursor.expect('AS');
  return { name, window: parseWindow(cursor), span: cursor.spanFrom(start) };
}

function parseFrame(cursor: Cursor): WindowFrame {
  const { start, symbol } = cursor.next();
  const unit = symbol === 'ROWS' ? 'rows' : 'range';
  if (!cursor.accept('BETWEEN')) return { unit, from: parseBound(cursor), to: null, span: cursor.spanFrom(start) };
  const from = parseBound(cursor);
  cursor.expect('AND');
  return { unit, from, to: parseBound(cursor), span: cursor.spanFrom(start) };
}

function parseBound(cursor: Cursor): FrameBound {
  const { start } = cursor.token;
  if (cursor.accept('CURRENT')) {
    cursor.expect('ROW');
    return { kind: 'current_row', offset: null, span: cursor.spanFrom(start) };
  }
  const offset = cursor.accept('UNBOUNDED') ? null : parseExpression(cursor);
  const preceding = cursor.at('PRECEDING');
  if (!preceding && !cursor.at('FOLLOWING')) cursor.fail('PRECEDING or FOLLOWING');
  cursor.next();
  const side = preceding ? 'preceding' : 'following';
  return { kind: offset === null ? `unbounded_${side}` : side, offset, span: cursor.spanFrom(start) };
}
