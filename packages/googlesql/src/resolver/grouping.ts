/** GROUP BY: keys out of positions, aliases and expressions, and what may be named after grouping. */
import type { Expr, Column, ColumnRef, Relation } from '../resolved';
import { operandsOf, type Replace } from '../resolved-walk';
import { typeText } from '../type-names';
import { QueryError } from '../errors';
import type { Expression, GroupBy, GroupingItem, OrderSuffix, PipeGroupBy, Span } from '../tree';
import { shortType } from './access';
import { supportsGrouping } from './comparable';
import { plainContext, type AggregateSink, type Context } from './context';
import { inferredName, resolveExpr } from './expression';
import type { ListItem } from './select-list';
import { invalid, type Session } from './session';

/** Equal for equal expressions. null: it holds a subquery, and no two subqueries are the same. */
export function fingerprint(expr: Expr): string | null {
  const parts: string[] = [];
  return write(expr, parts) ? parts.join(' ') : null;
}

export function sameExpr(a: Expr, b: Expr): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  const text = fingerprint(a);
  return text !== null && text === fingerprint(b);
}

/** False as soon as a subquery is met. */
function write(expr: Expr, parts: string[]): boolean {
  if (expr.kind === 'subquery') return false;
  parts.push(expr.kind, ...attributesOf(expr), '(');
  if (!operandsOf(expr).every((operand) => write(operand, parts))) return false;
  parts.push(')');
  return true;
}

/** What of an expression is neither an operand nor its place: with which operands there are, where some may be missing. */
function attributesOf(expr: Exclude<Expr, { kind: 'subquery' }>): readonly string[] {
  switch (expr.kind) {
    case 'literal':
      return [typeText(expr.type), JSON.stringify(expr.value)];
    case 'parameter':
      return [expr.name];
    case 'column':
      return [String(expr.column.id)];
    case 'field':
      return [String(expr.index)];
    case 'call':
      return [expr.function, String(expr.safe), expr.part ?? '-', typeText(expr.type), ...Object.keys(expr.named)];
    case 'cast':
      return [
        String(expr.safe),
        typeText(expr.type),
        JSON.stringify(expr.parameters ?? null),
        ...present(expr.format, expr.timeZone),
      ];
    case 'case':
      return present(expr.operand, expr.else);
    case 'make_array':
    case 'make_struct':
      return [typeText(expr.type)];
  }
}

const present = (...operands: readonly (Expr | null)[]): string[] =>
  operands.map((operand) => String(operand !== null));

export interface GroupKey {
  readonly column: Column;
  readonly expr: Expr;
}

export interface Groups {
  readonly keys: readonly GroupKey[];
  readonly sets: readonly (readonly number[])[] | null;
  /** The key of each select item that GROUP BY names by its alias or place. */
  readonly items: ReadonlyMap<ListItem, GroupKey>;
}

/** One group of all rows. */
export const ONE_GROUP: Groups = { keys: [], sets: null, items: new Map() };

/** Keys as they are found; a key that is written twice is one. */
class Keys {
  readonly list: GroupKey[] = [];
  readonly #positions = new Map<string | Expr, number>();
  readonly #names = new Map<string | Expr, string | null>();

  constructor(
    private readonly session: Session,
    items: readonly ListItem[],
  ) {
    for (const { expr, name } of items) {
      const key = identity(expr);
      if (!this.#names.has(key)) this.#names.set(key, name);
    }
  }

  /** @param alias of a key that is its own name for it */
  add(expr: Expr, span: Span, alias: string | null = null): number {
    const key = identity(expr);
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    if (!supportsGrouping(expr.type))
      throw invalid(`Grouping by expressions of type ${shortType(expr.type)} is not allowed.`, span);
    const name = alias ?? this.#names.get(key) ?? nameOf(expr);
    this.#positions.set(key, this.list.length);
    this.list.push({ column: this.session.column(name, expr.type), expr });
    return this.list.length - 1;
  }
}

/** The same for the same expressions; one with a subquery is the same as itself only. */
export function identity(expr: Expr): string | Expr {
  return fingerprint(expr) ?? expr;
}

function nameOf(expr: Expr): string | null {
  if (expr.kind === 'column') return expr.column.name || null;
  if (expr.kind !== 'field' || expr.input.type.kind !== 'STRUCT') return null;
  return expr.input.type.fields[expr.index]?.name ?? null;
}

/** Of what a literal has no name of its type before it. */
const PLAIN_LITERALS: ReadonlySet<string> = new Set(['STRING', 'BYTES', 'BOOL', 'INT64', 'FLOAT64', 'NULL']);

function isPlainLiteral(expression: Expression): boolean {
  if (expression.kind === 'unary') return isPlainLiteral(expression.operand);
  return expression.kind === 'literal' && PLAIN_LITERALS.has(expression.type);
}

/** `context` is the one of the FROM clause's rows. */
export function resolveGroupBy(context: Context, groupBy: GroupBy, items: readonly ListItem[]): Groups {
  const keys = new Keys(context.session, items);
  const named = new Map<ListItem, number>();
  const groups = (sets: Groups['sets']): Groups => {
    const all = [...named].flatMap(([item, at]) => keys.list.slice(at, at + 1).map((key) => [item, key] as const));
    return { keys: keys.list, sets, items: new Map(all) };
  };
  if (groupBy.all) {
    for (const item of items)
      if (!item.hasAggregate && !item.hasWindow && isPathLike(item.expr))
        named.set(item, keys.add(item.expr, item.span));
    return groups(null);
  }
  const inner = plainContext(context.session, context.scope, context.ctes, 'GROUP BY clause');
  const inSets = groupBy.items.some((item) => item.kind !== 'expression');
  const one = (expression: Expression): number => {
    const { expr, item } = groupExpr(inner, expression, items);
    if (inSets && isPlainLiteral(item?.written?.expression ?? expression))
      throw invalid('Cannot GROUP BY literal values.', expression.span);
    const at = keys.add(expr, expression.span);
    if (item !== null) named.set(item, at);
    return at;
  };
  return groups(groupingSets(groupBy.items, one));
}

/** What GROUP BY takes by itself alone. */
const ALONE = { rollup: 'ROLLUP', cube: 'CUBE', grouping_sets: 'GROUPING SETS' } as const;

/** null: every item is a plain key. @param one resolves a key and gives its index */
function groupingSets(
  items: readonly GroupingItem[],
  one: (expression: Expression) => number,
): readonly (readonly number[])[] | null {
  const set = items.find((item) => item.kind !== 'expression');
  if (set === undefined) {
    for (const item of items) if (item.kind === 'expression') one(item.expression);
    return null;
  }
  if (items.length === 1) return setsOf(set, one).map((keys) => [...new Set(keys)]);
  if (set.kind === 'list') throw invalid('GROUP BY () is allowed when there are no other grouping items.', set.span);
  throw invalid(
    `The GROUP BY clause only supports ${ALONE[set.kind]} when there are no other grouping elements.`,
    set.span,
  );
}

/** A column that the operator AGGREGATE gives of a key. */
interface KeyOutput {
  readonly name: string | null;
  readonly column: Column;
  readonly order: OrderSuffix | null;
}

/**
 * GROUP BY of the operator AGGREGATE: no places and no aliases of the list, but aliases of its own. A key of ROLLUP and its
 * like is one column however often it is written there, and has to have a name.
 *
 * @param context the one of the operator's input
 */
export function resolvePipeGroupBy(
  context: Context,
  groupBy: PipeGroupBy | null,
): { readonly groups: Groups; readonly outputs: readonly KeyOutput[] } {
  const keys = new Keys(context.session, []);
  const outputs: KeyOutput[] = [];
  if (groupBy === null) return { groups: ONE_GROUP, outputs };
  const inner = plainContext(context.session, context.scope, context.ctes, 'GROUP BY clause');
  const plain = new Map(
    groupBy.items.map((item, i) => [item.kind === 'expression' ? item.expression : null, groupBy.suffixes[i]] as const),
  );
  const one = (expression: Expression): number => {
    const written = plain.get(expression);
    const name = written?.alias?.name ?? inferredName(expression);
    const expr = resolveExpr(inner, expression);
    if (expression.kind === 'literal' && expression.type === 'INT64')
      throw invalid('GROUP BY ordinal not allowed in pipe AGGREGATE.', expression.span);
    if (written === undefined && name === null)
      throw invalid(
        'Anonymous columns are not allowed in grouping sets; use EXTEND before AGGREGATE to give the expression a name.',
        expression.span,
      );
    const known = keys.list.length;
    const at = keys.add(expr, expression.span, name);
    const key = keys.list[at];
    if (key !== undefined && (written !== undefined || at === known))
      outputs.push({ name, column: key.column, order: written?.order ?? null });
    return at;
  };
  const sets = groupingSets(groupBy.items, one);
  return { groups: { ...ONE_GROUP, keys: keys.list, sets }, outputs };
}

/** The groups of `input` with their aggregates; GROUPING(x) is over the column of the key x. */
export function grouped(session: Session, input: Relation, { keys, sets }: Groups, { calls }: AggregateSink): Relation {
  const aggregates = calls.map(({ column, call }) => {
    if (call.function !== 'GROUPING') return { column, call };
    const [arg] = call.args;
    const key = keys.find(({ expr }) => arg !== undefined && sameExpr(expr, arg));
    if (key === undefined) throw invalid('The argument of GROUPING must be one of the keys of GROUP BY.', call.span);
    return { column, call: { ...call, args: [session.ref(key.column, call.span)] } };
  });
  // GROUPING is of grouping sets: plain keys are one.
  const asked = calls.some(({ call }) => call.function === 'GROUPING');
  const groupingSets = sets === null && asked ? [keys.map((_, i) => i)] : sets;
  return { kind: 'aggregate', input, keys, groupingSets, aggregates };
}

const MAX_SETS = 4096;
const MAX_CUBE = 12;
const MAX_ROLLUP = 200;

function setsOf(item: GroupingItem, one: (expression: Expression) => number): number[][] {
  switch (item.kind) {
    case 'expression':
      return [[one(item.expression)]];
    case 'list':
      return [item.expressions.map(one)];
    case 'rollup': {
      if (item.sets.length > MAX_ROLLUP) throw invalid(`ROLLUP takes at most ${MAX_ROLLUP} groups.`, item.span);
      const parts = item.sets.map((set) => set.map(one));
      return Array.from({ length: parts.length + 1 }, (_, i) => parts.slice(0, parts.length - i).flat());
    }
    case 'cube': {
      const parts = item.sets.map((set) => set.map(one));
      if (parts.length > MAX_CUBE) throw invalid(`CUBE takes at most ${MAX_CUBE} groups.`, item.span);
      const count = 2 ** parts.length;
      return Array.from({ length: count }, (_, mask) =>
        parts.filter((__, i) => ((count - 1 - mask) >> (parts.length - 1 - i)) % 2 === 1).flat(),
      );
    }
    case 'grouping_sets': {
      const sets: number[][] = [];
      for (const inner of item.items) {
        sets.push(...setsOf(inner, one));
        if (sets.length > MAX_SETS) throw invalid(`GROUP BY makes more than ${MAX_SETS} grouping sets.`, item.span);
      }
      return sets;
    }
  }
}

/** `item`: the one of the select list that it names. */
function groupExpr(
  context: Context,
  expression: Expression,
  items: readonly ListItem[],
): { readonly expr: Expr; readonly item: ListItem | null } {
  if (expression.kind === 'literal') {
    if (expression.type !== 'INT64') throw invalid('Cannot GROUP BY literal values.', expression.span);
    const item = items[Number(expression.value) - 1];
    if (item === undefined)
      throw invalid(`GROUP BY is out of SELECT column number range: ${expression.value}.`, expression.span);
    return { expr: keyOf(item, expression.value, expression.span), item };
  }
  const [first] = expression.kind === 'path' ? expression.parts : [];
  if (first !== undefined && expression.kind === 'path') {
    const matches = items.filter((item) => item.name?.toLowerCase() === first.name.toLowerCase());
    const [match] = matches;
    if (matches.length > 1)
      throw invalid(
        `Name ${first.name} in GROUP BY clause is ambiguous; it may refer to multiple columns in the SELECT-list.`,
        first.span,
      );
    if (match !== undefined) {
      if (expression.parts.length > 1)
        throw invalid(`Cannot GROUP BY field references from SELECT list alias ${first.name}.`, expression.span);
      return { expr: keyOf(match, first.name, expression.span), item: match };
    }
  }
  return { expr: resolveExpr(context, expression), item: null };
}

function keyOf(item: ListItem, shown: string, span: Span): Expr {
  if (item.hasAggregate)
    throw invalid(`Column ${shown} contains an aggregation function, which is not allowed in GROUP BY.`, span);
  if (item.hasWindow)
    throw invalid(`Column ${shown} contains an analytic function, which is not allowed in GROUP BY.`, span);
  return item.expr;
}

/** GROUP BY ALL leaves constants out. */
function isPathLike(expr: Expr): boolean {
  return expr.kind !== 'literal' && expr.kind !== 'parameter';
}

/**
 * After grouping, a key's column or field path is the key, and any other column of FROM (their ids are in `from`) is
 * an error. A whole item of SELECT or ORDER BY that is a key's expression may be the key too: `AfterGrouping`.
 */
export function regroup(
  session: Session,
  keys: readonly GroupKey[],
  from: { readonly start: number; readonly end: number },
  clause: string,
  problem = 'is neither grouped nor aggregated',
): Replace {
  const columns = new Map<number, GroupKey>();
  const paths = new Map<string | Expr, GroupKey>();
  for (const key of keys) {
    if (key.expr.kind === 'column') columns.set(key.expr.column.id, key);
    else if (key.expr.kind === 'field') paths.set(identity(key.expr), key);
  }
  const column = ({ column: { id }, span }: ColumnRef, name: string | null): Expr | null => {
    const key = columns.get(id);
    if (key !== undefined) return session.ref(key.column, span);
    if (id < from.start || id >= from.end) return null;
    const message = `${clause} references column ${name ?? '*'} which ${problem}.`;
    throw new QueryError('invalidQuery', message, span, { note: { code: 'ungrouped' } });
  };
  return (expr) => {
    if (expr.kind === 'column') return column(expr, nameOf(expr)) ?? expr;
    if (expr.kind !== 'field') return undefined;
    const path = paths.size === 0 ? undefined : paths.get(identity(expr));
    if (path !== undefined) return session.ref(path.column, expr.span);
    // The row of an array without an alias has no name of its own.
    if (expr.input.kind === 'column') column(expr.input, nameOf(expr.input) ?? nameOf(expr));
    return undefined;
  };
}
