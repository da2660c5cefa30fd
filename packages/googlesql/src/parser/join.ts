import type { Expression, FromItem, Identifier, Join, Span } from '../tree';
import type { Cursor } from './cursor';
import { parseExpression } from './expression';

/** One further table of a FROM clause, as written; which join a condition belongs to is decided afterwards. */
export interface JoinStep {
  readonly type: Join['type'];
  readonly natural: boolean;
  /** The comma, or the first word of the join. */
  readonly word: Span;
  readonly right: FromItem;
  readonly conditions: readonly Condition[];
  /** End of the step's text. */
  readonly end: number;
}

interface Condition extends Span {
  readonly on: Expression | null;
  readonly using: readonly Identifier[];
}

/** ON x, USING (a, b); several may follow each other. */
export function parseConditions(cursor: Cursor): Condition[] {
  const conditions: Condition[] = [];
  for (;;) {
    const { start } = cursor.token;
    if (cursor.accept('ON')) conditions.push({ on: parseExpression(cursor), using: [], start, end: cursor.end });
    else if (cursor.accept('USING')) {
      const using = cursor.parenthesised((at) => at.name('a column name'));
      conditions.push({ on: null, using, start, end: cursor.end });
    } else return conditions;
  }
}

/** The tree of joins; its height is the number of steps. */
export function completeJoins(cursor: Cursor, first: FromItem, steps: readonly JoinStep[]): FromItem {
  if (steps.some((step) => step.conditions.length > 1)) return nestJoins(cursor, first, steps);
  let left = first;
  for (const step of steps) {
    const [condition] = step.conditions;
    if (condition !== undefined && step.type === 'cross') cursor.refuse('CROSS JOIN with a condition', condition);
    left = join(left, step, step.right, condition, step.end);
  }
  return left;
}

/** GoogleSQL's `a JOIN b JOIN c ON x ON y`: as in brackets, a condition closes the last join that has none yet. */
function nestJoins(cursor: Cursor, first: FromItem, steps: readonly JoinStep[]): FromItem {
  const open: { left: FromItem; step: JoinStep }[] = [];
  let current = first;
  for (const step of steps) {
    if (step.type === 'comma') {
      cursor.fault('Syntax error: a comma and two conditions in a row cannot stand in one FROM clause.', step.word);
    }
    if (step.type === 'cross' || step.natural) {
      current = join(current, step, step.right, undefined, step.right.span.end);
    } else {
      open.push({ left: current, step });
      current = step.right;
    }
    for (const condition of step.conditions) {
      const closed = open.pop();
      if (closed === undefined) cursor.fault('Syntax error: this condition belongs to no JOIN.', condition);
      current = join(closed.left, closed.step, current, condition, condition.end);
    }
  }
  const unfinished = open.pop();
  if (unfinished !== undefined) cursor.fault('Syntax error: this JOIN has no ON or USING.', unfinished.step.word);
  return current;
}

function join(
  left: FromItem,
  { type }: JoinStep,
  right: FromItem,
  condition: Condition | undefined,
  end: number,
): Join {
  const { on, using } = condition ?? { on: null, using: [] };
  return { kind: 'join', type, left, right, on, using, span: { start: left.span.start, end } };
}
