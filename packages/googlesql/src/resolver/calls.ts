/** Calls by name: which function, which overload, which part of a date. */
import { QueryError } from '../errors';
import { functionNames, type SqlFunction, namedFunction } from '../functions/catalogue';
import type { ScalarName } from '../functions/function-table';
import { matchFunction, type Match, type Slot } from '../functions/match';
import { signaturesOf, type Parameter } from '../functions/signature';
import type { Expr } from '../resolved';
import type { Argument, Call, Expression, Span } from '../tree';
import { capturingGroups } from '../pattern-cost';
import { typeText } from '../type-names';
import type { SqlType } from '../types';
import { shortType } from './access';
import { resolveAggregate } from './aggregates';
import { checkCollation, supportsEquality, supportsOrdering } from './comparable';
import type { Context } from './context';
import { convert } from './convert';
import { isPartName, partOfExpression, partsOfFunction } from './date-parts';
import { resolveExpr } from './expression';
import { resolveLambdaCall } from './lambdas';
import { noSignatureOfFunction, typeOfOperand } from './no-signature';
import { invalid, type Session } from './session';
import { functionNotFound } from './suggestion';

/** A function by the name a call wrote, without its SAFE. */
function functionOfCall({ path }: Call): { fn: SqlFunction; safe: boolean } {
  const { name, fn, safe } = namedFunction(path);
  const first = path[0];
  const last = path.at(-1);
  if (fn === undefined) {
    const span = { start: first?.span.start ?? 0, end: last?.span.end ?? 0 };
    throw functionNotFound('invalidQuery', name, span, functionNames());
  }
  return { fn, safe };
}

export function resolveCall(context: Context, call: Call): Expr {
  if (call.path.length === 1 && call.path[0]?.name.toUpperCase() === 'GROUPING')
    return resolveAggregate(context, call, null, false);
  const lambda = resolveLambdaCall(context, call);
  if (lambda !== null) return lambda;
  const { fn, safe } = functionOfCall(call);
  if (fn.mode !== 'scalar') return resolveAggregate(context, call, fn, safe);
  refuseModifiers(call, fn.name);
  return scalarCall(context, call, fn, safe);
}

function refuseModifiers(call: Call, name: string): void {
  const wrong =
    call.over !== null
      ? 'an OVER clause'
      : call.distinct
        ? 'DISTINCT'
        : call.star
          ? '*'
          : call.orderBy.length > 0
            ? 'ORDER BY'
            : call.limit !== null
              ? 'LIMIT'
              : call.nulls !== null
                ? 'IGNORE or RESPECT NULLS'
                : call.having !== null
                  ? 'HAVING'
                  : null;
  if (wrong !== null) throw invalid(`Function ${name} does not support ${wrong}.`, call.span);
}

function scalarCall(context: Context, call: Call, fn: SqlFunction, safe: boolean): Expr {
  const { session } = context;
  const given = argumentsOf(context, call.arguments, fn);
  const matched = chooseOverload(context, fn, given, call.span);
  const { values, match } = matched;
  const args: Expr[] = [];
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    session.budget.value(value.type, value.span);
    args.push(convert(session, value, match.types[i] ?? value.type));
  }
  // A DATE that becomes a DATETIME still has no clock.
  const isDate = values[0]?.type.kind === 'DATE' && /_(?:ADD|SUB|TRUNC)$/.test(fn.name);
  checkPart(fn, given.part, isDate ? values[0]?.type : args[0]?.type, call.span);
  checkArguments(fn, args);
  if (fn.category === 'range') checkRanges(session, fn, values, call.span);
  checkPath(session, fn, values);
  if (!safe) checkGroups(fn, values);
  if (fn.name === 'COLLATE') checkCollation(values[1]);
  const resolved: Expr = {
    kind: 'call',
    function: fn.name as ScalarName,
    safe,
    args,
    named: matched.named,
    part: given.part?.name ?? null,
    type: match.result,
    span: call.span,
  };
  // IF(x, y, ERROR('...')) has the type of y.
  return fn.name === 'ERROR' ? session.markUntyped(resolved) : resolved;
}

export interface GivenArguments {
  /** By position: an expression, or a keyword's text. null: an optional argument that was left out. */
  readonly slots: readonly ({ readonly expr: Expr } | { readonly keyword: string; readonly slot: Slot } | null)[];
  readonly named: ReadonlyMap<string, Expr>;
  readonly part: { readonly name: string; readonly span: Span } | null;
}

/** Arguments resolved; an INTERVAL before a date part is its number and its part. */
export function argumentsOf(context: Context, args: readonly Argument[], fn: SqlFunction): GivenArguments {
  const slots: (GivenArguments['slots'][number] | undefined)[] = [];
  const named = new Map<string, Expr>();
  let part: GivenArguments['part'] = null;
  const signatures = signaturesOf(fn);
  const positional = signatures.map((signature) => signature.positional);
  const kindAt = (i: number): Parameter['pattern']['kind'] | undefined =>
    positional.find((p) => p[i]?.pattern.kind === 'part' || p[i]?.pattern.kind === 'mode')?.[i]?.pattern.kind;
  for (const { name, expression, span } of args) {
    if (name !== null) {
      const at = namedPosition(positional, name.name);
      if (at === null) {
        if (!signatures.some((s) => s.parameters.some((p) => p.name === name.name.toLowerCase())))
          throw invalid(
            `Named argument ${name.name} not found in signature for call to function ${fn.name}.`,
            name.span,
          );
        named.set(name.name.toUpperCase(), resolveExpr(context, expression));
      } else {
        while (slots.length <= at) slots.push(undefined);
        slots[at] = { expr: resolveExpr(context, expression) };
      }
      continue;
    }
    if (named.size > 0) throw invalid('An argument without a name cannot follow one with a name.', span);
    const at = slots.length;
    if (expression.kind === 'interval' && kindAt(at + 1) === 'part' && expression.to === null) {
      slots.push({ expr: intervalAmount(context, expression.value) }, { keyword: expression.from, slot: 'part' });
      part = { name: expression.from, span };
      continue;
    }
    const kind = kindAt(at);
    const partName = kind === 'part' ? partOfExpression(expression, partFirst(fn, args)) : null;
    if (partName !== null) {
      slots.push({ keyword: partName, slot: 'part' });
      part = { name: partName, span };
    } else if (kind === 'mode' && expression.kind === 'path') {
      slots.push({ keyword: modeName(expression), slot: 'mode' });
    } else slots.push({ expr: resolveValue(context, fn, args, expression) });
  }
  return { slots: slots.map((slot) => slot ?? null), named, part };
}

/** `DATE_TRUNC('day', x)`, as PostgreSQL writes it, or `DATE_DIFF(DAY, a, b)` as others do: how it is written here. */
function partFirst({ name }: SqlFunction, [first, second, third]: readonly Argument[]): string | undefined {
  if (name.endsWith('_DIFF'))
    return third !== undefined && isPartName(first?.expression)
      ? `In GoogleSQL the later value comes first and the part last: ${name}(later, earlier, ${textOf(first)}).`
      : undefined;
  if (second === undefined || !name.endsWith('_TRUNC')) return undefined;
  const part = first?.expression.kind === 'literal' ? first.expression.value : textOf(first);
  if (first?.expression.kind === 'literal' ? !/^[a-z]+$/i.test(part) : !isPartName(first?.expression)) return undefined;
  return `In GoogleSQL the part comes second, without quotes: ${name}(x, ${part.toUpperCase()}).`;
}

function textOf(argument: Argument | undefined): string {
  const expression = argument?.expression;
  return expression?.kind === 'path' ? (expression.parts[0]?.name ?? '').toUpperCase() : '';
}

/** A name that the query does not have gets a hint where it is a part in the place of a value. */
function resolveValue(context: Context, fn: SqlFunction, args: readonly Argument[], expression: Expression): Expr {
  try {
    return resolveExpr(context, expression);
  } catch (error) {
    const hint = expression === args[0]?.expression && isPartName(expression) ? partFirst(fn, args) : undefined;
    if (!(error instanceof QueryError) || hint === undefined) throw error;
    throw new QueryError(error.fault, error.message, error.span, { ...error.details, hint });
  }
}

function namedPosition(positional: readonly (readonly Parameter[])[], name: string): number | null {
  for (const parameters of positional) {
    const at = parameters.findIndex((parameter) => parameter.name === name.toLowerCase());
    if (at >= 0) return at;
  }
  return null;
}

/** INTERVAL '5' DAY inside DATE_ADD is the number 5. */
function intervalAmount(context: Context, value: Expression): Expr {
  const amount = resolveExpr(context, value);
  if (amount.kind === 'literal' && amount.type.kind === 'STRING' && /^[+-]?\d+$/.test(amount.value ?? ''))
    return { ...amount, type: { kind: 'INT64' }, value: BigInt(amount.value ?? '0').toString() };
  return amount;
}

const MODES = new Set(['NFC', 'NFKC', 'NFD', 'NFKD']);

function modeName(expression: Expression & { kind: 'path' }): string {
  const name = (expression.parts[0]?.name ?? '').toUpperCase();
  if (expression.parts.length !== 1 || !MODES.has(name))
    throw invalid(`A normalization mode is one of ${[...MODES].join(', ')}.`, expression.span);
  return name;
}

/** What JSON_OBJECT takes, which no signature says: pairs of a key and a value, or an array of keys and one of values. */
function areMembers(slots: GivenArguments['slots']): boolean {
  const kinds = slots.map((slot) => (slot !== null && 'expr' in slot ? slot.expr.type : null));
  const [first, second] = kinds;
  if (first?.kind === 'ARRAY') return kinds.length === 2 && first.element.kind === 'STRING' && second?.kind === 'ARRAY';
  return kinds.length % 2 === 0 && kinds.every((type, i) => i % 2 === 1 || type?.kind === 'STRING');
}

/** The overload that the arguments mean, or an error that says what they are. */
export function chooseOverload(
  { session }: Context,
  fn: SqlFunction,
  { slots, named }: GivenArguments,
  span: Span,
): { match: Match; values: readonly (Expr | null)[]; named: Record<string, Expr> } {
  const shape = slots.map((slot): Slot =>
    slot === null ? 'absent' : 'expr' in slot ? session.operand(slot.expr) : slot.slot,
  );
  const namedOperands = new Map([...named].map(([name, expr]) => [name, session.operand(expr)]));
  const match = matchFunction(fn, shape, namedOperands);
  if (match === null || (fn.name === 'JSON_OBJECT' && !areMembers(slots))) {
    const types = slots.map((slot) =>
      slot === null ? 'DEFAULT' : 'keyword' in slot ? 'DATE_TIME_PART' : typeOfOperand(session, slot.expr),
    );
    throw noSignatureOfFunction(fn, types, span);
  }
  const values = slots.map((slot): Expr | null => {
    if (slot === null) return { kind: 'literal', type: { kind: 'INT64' }, value: '0', span };
    if ('expr' in slot) return slot.expr;
    return slot.slot === 'part' ? null : { kind: 'literal', type: { kind: 'STRING' }, value: slot.keyword, span };
  });
  const converted: Record<string, Expr> = {};
  for (const [name, expr] of named) converted[name] = convert(session, expr, match.named.get(name) ?? expr.type);
  return { match, values, named: converted };
}

function checkPart(fn: SqlFunction, part: GivenArguments['part'], type: SqlType | undefined, span: Span): void {
  const allowed = type === undefined ? undefined : partsOfFunction(fn.name, type.kind);
  if (allowed === undefined) return;
  if (part !== null && !allowed.has(part.name))
    throw invalid(
      `${fn.name} does not support the ${part.name} date part when the argument is ${type?.kind ?? ''} type.`,
      part.span,
    );
  if (part === null && fn.name === 'GENERATE_TIMESTAMP_ARRAY') throw invalid('Expected INTERVAL expression.', span);
}

/** `ordered` and `equated` arguments of a type that has no order, or no equality. */
function checkArguments(fn: SqlFunction, args: readonly Expr[]): void {
  const [first] = args;
  if (fn.of === 'ordered' && first !== undefined && !supportsOrdering(first.type))
    throw invalid(`${fn.name} is not defined for arguments of type ${shortType(first.type)}.`, first.span);
  const compared = fn.of === 'equated' ? args.at(-1) : undefined;
  if (compared !== undefined && !supportsEquality(compared.type))
    throw invalid(`${fn.name} is not defined for arguments of type ${typeText(compared.type)}.`, compared.span);
}

/** A NULL that is written as it stands could be a RANGE of any type. */
function checkRanges(session: Session, { name }: SqlFunction, values: readonly (Expr | null)[], span: Span): void {
  const [first, second] = values.map((value) => value !== null && session.isUntyped(value));
  if (name === 'RANGE') {
    if (first === true && second === true) throw invalid('At least one argument of RANGE must have a type.', span);
  } else if (first === true || (name === 'RANGE_OVERLAPS' && second === true))
    throw invalid(`A RANGE in ${name} cannot be literal NULL: give it a type, CAST(NULL AS RANGE<DATE>).`, span);
}

/** What takes the match of a group takes one: a pattern with more that is written out fails on every text. */
function checkGroups({ name }: SqlFunction, [, pattern]: readonly (Expr | null)[]): void {
  if (!/^REGEXP_EXTRACT/.test(name) || pattern?.kind !== 'literal' || pattern.type.kind !== 'STRING') return;
  const count = capturingGroups(pattern.value ?? '');
  if (count < 2) return;
  const message = `${name} takes a pattern with one capturing group at most; this one has ${count}.`;
  throw new QueryError('invalidQuery', message, pattern.span, { hint: 'A group that captures nothing: (?:...).' });
}

/** A JSONPath is written out, or a parameter as it is. */
function checkPath(session: Session, fn: SqlFunction, [, path]: readonly (Expr | null)[]): void {
  if (!/^JSON_(VALUE|QUERY|EXTRACT)/.test(fn.name) || path === undefined || path === null) return;
  const isWritten = path.kind === 'parameter' || (path.kind === 'literal' && !session.isExplicit(path));
  if (!isWritten) throw invalid('A JSONPath must be a STRING literal or a query parameter.', path.span);
}
