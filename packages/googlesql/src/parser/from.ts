import type { FromItem, Join } from '../tree';
import type { Cursor } from './cursor';
import { completeJoins, parseConditions, type JoinStep } from './join';
import { parseTable } from './table';

/** What follows FROM: tables, joined by commas and JOINs from left to right. */
export function parseFrom(cursor: Cursor): FromItem {
  if (cursor.at('@') || cursor.at('@@') || cursor.at('?')) {
    cursor.fault('Syntax error: Query parameters cannot be used in place of table names.', cursor.token);
  }
  const first = parseTable(cursor);
  return completeJoins(cursor, first, parseSteps(cursor, true));
}

/** ( table JOIN table ... ): a join only, without commas outside further parentheses. */
export function parseParenthesisedJoin(cursor: Cursor): FromItem {
  const { start } = cursor.expect('(');
  const first = parseTable(cursor);
  const steps = parseSteps(cursor, false);
  if (steps.length === 0) cursor.fail('JOIN');
  const item = completeJoins(cursor, first, steps);
  cursor.expect(')');
  return { kind: 'parenthesised_join', item, span: cursor.spanFrom(start) };
}

function parseSteps(cursor: Cursor, commas: boolean): JoinStep[] {
  const steps: JoinStep[] = [];
  let commaSeen = false;
  for (;;) {
    const { token } = cursor;
    if (commas && cursor.accept(',')) {
      commaSeen = true;
      steps.push({
        type: 'comma',
        natural: false,
        word: token,
        right: parseTable(cursor),
        conditions: [],
        end: cursor.end,
      });
      continue;
    }
    const type = parseJoinType(cursor);
    if (type === null) return steps;
    if (commaSeen && (type.type === 'right' || type.type === 'full')) {
      cursor.fault(`Syntax error: ${token.symbol} JOIN after a comma needs parentheses.`, token);
    }
    const right = parseTable(cursor);
    const conditions = parseConditions(cursor);
    steps.push({ ...type, word: token, right, conditions, end: cursor.end });
  }
}

/** [NATURAL] [INNER | CROSS | LEFT ...] [HASH | LOOKUP] JOIN; null where the token begins no join. */
export function parseJoinType(cursor: Cursor): { type: Join['type']; natural: boolean } | null {
  const { start, symbol } = cursor.token;
  const natural = cursor.accept('NATURAL');
  const type = JOIN_TYPES.get(cursor.token.symbol);
  if (type === undefined && !natural && !JOIN_WORDS.has(symbol)) return null;
  if (type !== undefined) {
    // A set operation may begin with the same words: `FULL UNION ALL BY NAME`.
    const after = cursor.peek(cursor.peek(1).symbol === 'OUTER' ? 2 : 1).symbol;
    if (!JOIN_WORDS.has(after)) return natural ? cursor.fail('JOIN') : null;
    cursor.next();
    if (type !== 'inner' && type !== 'cross') cursor.accept('OUTER');
  }
  if (cursor.at('HASH') || cursor.at('LOOKUP')) {
    const hint = cursor.next();
    cursor.refuse(`${hint.symbol} JOIN`, hint);
  }
  cursor.expect('JOIN');
  if (natural) cursor.refuse('NATURAL JOIN', cursor.spanFrom(start));
  return { type: type ?? 'inner', natural };
}

const JOIN_TYPES: ReadonlyMap<string, Join['type']> = new Map([
  ['CROSS', 'cross'],
  ['INNER', 'inner'],
  ['LEFT', 'left'],
  ['RIGHT', 'right'],
  ['FULL', 'full'],
]);
const JOIN_WORDS = new Set(['JOIN', 'HASH', 'LOOKUP']);
