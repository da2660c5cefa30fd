/** Operators: arithmetic, comparison, logic, and the tests that are spelt with words. */
import { QueryError } from '../errors';
import { findFunction, OPERATORS } from '../functions/catalogue';
import type { ScalarName } from '../functions/function-table';
import { matchFunction } from '../functions/match';
import type { Expr, FunctionCall, OutputColumn, Relation } from '../resolved';
import { called } from '../resolved-nodes';
import type {
  Between,
  Binary,
  BinaryOperator,
  Expression,
  InList,
  InUnnest,
  IsTest,
  Literal,
  Span,
  Unary,
  QuantifiedLike,
} from '../tree';
import { typeText, NUMBERS } from '../type-names';
import type { SqlType } from '../types';
import { shortType } from './access';
import { supportsEquality, supportsOrdering } from './comparable';
import type { Context } from './context';
import { convert } from './convert';
import { resolveExpr } from './expression';
import { resolveLiteral } from './literals';
import { noSignatureOfOperator, typeOfOperand } from './no-signature';
import { invalid } from './session';
import { resolveQueryAt } from './queries';

/** Operators that the literal NULL may stand at; at any other it is surely a mistake, and an error. */
const TAKES_NULL: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['and', 'or', '<<', '>>']);

/** AND and OR of a chain become one call of many operands. */
const FLAT: ReadonlySet<BinaryOperator> = new Set<BinaryOperator>(['and', 'or']);

/**
 * An operator applied: its operands converted to the overload that fits them best.
 *
 * @param place of the operator, for messages; span: of the whole expression
 */
export function applyOperator(
  { session }: Context,
  name: ScalarName,
  operands: readonly Expr[],
  span: Span,
  shown: string,
  place = span,
): FunctionCall {
  const fn = findFunction(name);
  if (fn === undefined) throw new Error(`no operator ${name}`);
  const match = matchFunction(
    fn,
    operands.map((operand) => session.operand(operand)),
    new Map(),
  );
  if (match === null) {
    const types = operands.map((operand) => typeOfOperand(session, operand));
    throw noSignatureOfOperator(fn, shown, types, place);
  }
  const args = operands.map((operand, i) => convert(session, operand, match.types[i] ?? operand.type));
  return called(name, args, match.result, span);
}

/** A chain such as `a + b + c` is a spine that leans left: walked in a loop, however long it is. */
export function resolveBinary(context: Context, expression: Binary): Expr {
  const spine: Binary[] = [];
  let leftmost: Expression = expression;
  while (leftmost.kind === 'binary') {
    spine.push(leftmost);
    leftmost = leftmost.left;
  }
  let left = resolveExpr(context, leftmost);
  for (let i = spine.length - 1; i >= 0; i--) {
    const first = spine[i];
    if (first === undefined) break;
    const operands = [left, resolveExpr(context, first.right)];
    let last = first;
    while (FLAT.has(first.operator) && spine[i - 1]?.operator === first.operator) {
      last = spine[--i] ?? last;
      operands.push(resolveExpr(context, last.right));
    }
    left = combine(context, last, operands);
  }
  return left;
}

function nullOperand(operator: string, span: Span): QueryError {
  const hint =
    operator === '=' ? 'In GoogleSQL: x IS NULL.' : operator === '!=' ? 'In GoogleSQL: x IS NOT NULL.' : null;
  const message = `Operands of ${operator.toUpperCase()} cannot be literal NULL.`;
  return new QueryError('invalidQuery', message, span, hint === null ? {} : { hint });
}

/** A binary operator over resolved operands; AND and OR take any number of them. */
function combine(
  context: Context,
  { operator, operatorSpan, span }: Pick<Binary, 'operator' | 'operatorSpan' | 'span'>,
  operands: readonly Expr[],
): Expr {
  if (!TAKES_NULL.has(operator) && operands.some((operand) => isBareNull(context, operand)))
    throw nullOperand(operator, operatorSpan);
  const call = applyOperator(context, OPERATORS[operator], operands, span, operator.toUpperCase(), operatorSpan);
  if (operator === '=' || operator === '!=') checkComparable(call.args, supportsEquality, 'Equality', operatorSpan);
  else if (operator === '<' || operator === '<=' || operator === '>' || operator === '>=')
    checkComparable(call.args, supportsOrdering, `The operator ${operator}`, operatorSpan);
  return operator === 'not like' ? negated(call) : call;
}

function isBareNull({ session }: Context, operand: Expr): boolean {
  return operand.kind === 'literal' && session.isUntyped(operand);
}

function checkComparable(args: readonly Expr[], supports: (type: SqlType) => boolean, what: string, span: Span): void {
  for (const { type } of args)
    if (!supports(type)) throw invalid(`${what} is not defined for arguments of type ${shortType(type)}.`, span);
}

export function negated(expr: Expr): FunctionCall {
  const { span } = expr;
  return called('$not', [expr], { kind: 'BOOL' }, span);
}

/** The number behind a sign: `-2` is a literal, and a position in ORDER BY; `-(2)` is neither. */
export function signedNumber({ operand, span }: Unary): Literal | null {
  const isNumber = operand.kind === 'literal' && (operand.type === 'INT64' || operand.type === 'FLOAT64');
  return isNumber && operand.span.end === span.end ? operand : null;
}

export function resolveUnary(context: Context, unary: Unary): Expr {
  const { operator, operand, span } = unary;
  const number = operator === '-' ? signedNumber(unary) : null;
  if (number !== null) return { ...resolveLiteral(context.session, number, true), span };
  const value = resolveExpr(context, operand);
  if (isBareNull(context, value)) throw invalid(`Operands of ${operator.toUpperCase()} cannot be literal NULL.`, span);
  switch (operator) {
    case '+':
      if (!NUMBERS.has(value.type.kind))
        throw invalid(`Operands of + must be numeric type but was ${typeText(value.type)}.`, span);
      return value;
    case '-':
      return applyOperator(context, '$negate', [value], span, '-');
    case '~':
      return applyOperator(context, '$bit_not', [value], span, '~');
    case 'not':
      return applyOperator(context, '$not', [value], span, 'NOT');
  }
}

export function resolveBetween(context: Context, { operand, low, high, negated: not, span }: Between): Expr {
  const operands = [operand, low, high].map((part) => resolveExpr(context, part));
  const call = applyOperator(context, '$between', operands, span, 'BETWEEN');
  checkComparable(call.args, supportsOrdering, 'BETWEEN', span);
  return not ? negated(call) : call;
}

export function resolveInList(context: Context, { operand, items, negated: not, span }: InList): Expr {
  const operands = [operand, ...items].map((part) => resolveExpr(context, part));
  const call = applyOperator(context, '$in', operands, span, 'IN');
  checkComparable(call.args, supportsEquality, 'IN', span);
  return not ? negated(call) : call;
}

export function resolveInUnnest(context: Context, { operand, array, negated: not, span }: InUnnest): Expr {
  const operands = [resolveExpr(context, operand), resolveExpr(context, array)];
  if (operands[1] !== undefined && isBareNull(context, operands[1]))
    throw invalid('Second argument of IN UNNEST must be an array but was literal NULL.', array.span);
  const given = operands[1]?.type;
  if (given !== undefined && given.kind !== 'ARRAY')
    throw invalid(`Second argument of IN UNNEST must be an array but was ${shortType(given)}.`, array.span);
  const call = applyOperator(context, '$in_unnest', operands, span, 'IN UNNEST');
  checkComparable(call.args.slice(0, 1), supportsEquality, 'IN UNNEST', span);
  return not ? negated(call) : call;
}

export function resolveIs(context: Context, { operand, test, other, negated: not, span }: IsTest): Expr {
  const value = resolveExpr(context, operand);
  const call = isTest(context, value, test, other, span);
  return not ? negated(call) : call;
}

function isTest(
  context: Context,
  value: Expr,
  test: IsTest['test'],
  other: Expression | null,
  span: Span,
): FunctionCall {
  switch (test) {
    case 'distinct': {
      if (other === null) throw new Error('IS DISTINCT FROM has a right side');
      const call = applyOperator(
        context,
        '$is_distinct_from',
        [value, resolveExpr(context, other)],
        span,
        'IS DISTINCT FROM',
      );
      checkComparable(call.args, supportsEquality, 'IS DISTINCT FROM', span);
      return call;
    }
    case 'true':
      return applyOperator(context, '$is_true', [value], span, 'IS TRUE');
    case 'false':
      return applyOperator(context, '$is_false', [value], span, 'IS FALSE');
    case 'unknown':
    case 'null': {
      if (test === 'unknown' && value.type.kind !== 'BOOL' && !context.session.isUntyped(value))
        throw invalid(`IS UNKNOWN takes BOOL, not ${shortType(value.type)}.`, span);
      const type: SqlType = { kind: 'BOOL' };
      return called('$is_null', [value], type, span);
    }
  }
}

const BOOL: SqlType = { kind: 'BOOL' };

/**
 * LIKE ANY and LIKE ALL, with NOT or without: OR and AND over a list of patterns; over rows of patterns, whether TRUE or FALSE is
 * IN what the comparisons give, which takes NULLs and no rows at all as the language wants it.
 */
export function resolveQuantifiedLike(context: Context, node: QuantifiedLike): Expr {
  const { negated: isNegated, all, items, operatorSpan, span } = node;
  const operand = resolveExpr(context, node.operand);
  const compared = (pattern: Expr): Expr => {
    // A pattern may be NULL here.
    const like = { ...applyOperator(context, '$like', [operand, pattern], operatorSpan, 'LIKE'), span };
    return isNegated ? negated(like) : like;
  };
  if (node.array !== null || node.query !== null) return overRows(context, node, compared);
  const tests = items.map((item) => compared(resolveExpr(context, item)));
  const [first] = tests;
  if (first === undefined) throw new Error('A list of patterns has one.');
  if (tests.length === 1) return first;
  return combine(context, { operator: all ? 'and' : 'or', operatorSpan, span }, tests);
}

function overRows(context: Context, node: QuantifiedLike, compared: (pattern: Expr) => Expr): Expr {
  const { session } = context;
  const { span, all } = node;
  const { relation: input, pattern } = patterns(context, node);
  const expr = compared(pattern);
  const column = session.column(null, BOOL);
  const relation: Relation = { kind: 'compute', input, columns: [{ column, expr }] };
  const output: OutputColumn[] = [{ name: null, column }];
  const query = { ctes: [], relation, output, valueTable: false, ordered: false };
  const sought: Expr = { kind: 'literal', type: BOOL, value: String(!all), span };
  const found: Expr = { kind: 'subquery', mode: 'in', operand: sought, query, type: BOOL, span };
  return all ? negated(found) : found;
}

/** The patterns as rows. */
function patterns(context: Context, { array, query, span }: QuantifiedLike): { relation: Relation; pattern: Expr } {
  const { session } = context;
  if (array !== null) {
    const list = resolveExpr(context, array);
    if (list.type.kind !== 'ARRAY') throw invalid('The patterns of LIKE UNNEST are an array.', array.span);
    const element = session.column(null, list.type.element);
    const unnest = { kind: 'unnest', input: null, array: list, element, offset: null, outer: false, on: null } as const;
    return { relation: unnest, pattern: session.ref(element, array.span) };
  }
  if (query === null) throw new Error('Patterns are a list, an array or a query.');
  const resolved = resolveQueryAt(context, query);
  const [only, second] = resolved.output;
  if (only === undefined || second !== undefined) throw invalid('A subquery of patterns has one column.', query.span);
  return { relation: { kind: 'query', query: resolved }, pattern: session.ref(only.column, span) };
}
