/**
 * The edits that give a stored SELECT a guard column, and put what may fail in its select list under the same guard
 * (docs/decisions/fence.md).
 */
import {
  hasAggregate,
  isAggregateCall,
  forEachChild,
  walk,
  type SyntaxNode,
  type Expression,
  type GroupingItem,
  type Select,
  type SelectExpression,
  type SelectStar,
  type Span,
} from '@logquay/googlesql/syntax';
import type { Edit } from '@logquay/googlesql/consumer';
import { fromGuards, tableGuards, type FromContext, type FromGuards } from './from-guards';
import { Unfenceable } from './source-text';
import { isVolatile, mayFail, ownMayFail } from './written-totality';

const NO_FROM: FromGuards = { conditions: [], columns: [] };

/** @throws Unfenceable */
export function guardSelect(context: FromContext, select: Select, guard: string): Edit[] {
  if (select.as !== null) throw new Unfenceable(`SELECT AS ${select.as.toUpperCase()}`);
  const from = select.from === null ? NO_FROM : fromGuards(context, select.from);
  refuseWholeRows(select, from);
  refuseStars(context, select);
  const conditions = [...from.conditions];
  if (select.where !== null) conditions.push(conditionText(context, select.where));
  const rows = conditions.length === 0 ? null : conditions.join(' AND ');

  const { groupBy, having, qualify } = select;
  const grouped =
    groupBy !== null || having !== null || select.items.some(isGrouped) || (qualify !== null && hasAggregate(qualify));
  const groups = rows === null || !grouped ? rows : `LOGICAL_OR(${rows})`;
  if (
    select.windows.some(({ window }) =>
      [...window.partitionBy, ...window.orderBy.map(expressionOf)].some((expression) => mayFail(expression)),
    )
  )
    throw new Unfenceable('a WINDOW clause with an expression that may fail');
  const later = [having, qualify].filter((condition) => condition !== null);
  for (const condition of later) refuseAliases(condition, select);
  const all = [...(groups === null ? [] : [groups]), ...later.map((condition) => conditionText(context, condition))];

  const edits: Edit[] = [];
  for (const item of select.items) if (item.kind === 'select_star') edits.push(...starEdits(context, item, from));
  if (rows !== null) edits.push(...new Mask(context, rows, groups ?? rows).edits(select, grouped));
  const end = select.items.at(-1)?.span.end ?? select.span.end;
  edits.push({ start: end, end, by: `, ${all.length === 0 ? 'TRUE' : all.join(' AND ')} AS ${guard}` });
  return edits;
}

const expressionOf = ({ expression }: { readonly expression: Expression }): Expression => expression;

function isGrouped(item: Select['items'][number]): boolean {
  return item.kind === 'select_expression' && hasAggregate(item.expression);
}

function conditionText({ source }: FromContext, condition: Expression): string {
  if (isVolatile(condition)) throw new Unfenceable('a condition that is different each time');
  return `(${source.expression(condition.span)}) IS TRUE`;
}

/** HAVING and QUALIFY may name a select-list alias, which the select list itself may not. */
function refuseAliases(condition: Expression, { items }: Select): void {
  const aliases = new Set(items.flatMap((item) => (item.kind === 'select_expression' ? [aliasOf(item)] : [])));
  walk(condition, (node) => {
    if (node.kind === 'path' && aliases.has(node.parts[0]?.name.toLowerCase() ?? ''))
      throw new Unfenceable('HAVING or QUALIFY with an alias of the select list');
  });
}

/** The alias that an expression is given; a name that it has by itself means the same everywhere. */
function aliasOf({ alias, expression }: SelectExpression): string {
  const name = alias?.name.toLowerCase() ?? '';
  const own = expression.kind === 'path' ? expression.parts.at(-1)?.name.toLowerCase() : undefined;
  return name === own ? '' : name;
}

/** A row as a value would have the guard among its fields. */
function refuseWholeRows(select: Select, { columns }: FromGuards): void {
  const aliases = new Set(columns.map(({ alias }) => alias));
  const stars = new Set<SyntaxNode | null>();
  walk(select, (node) => {
    if (node.kind === 'select') for (const item of node.items) if (item.kind === 'select_star') stars.add(item.of);
    if (
      node.kind === 'path' &&
      !stars.has(node) &&
      node.parts.length === 1 &&
      aliases.has(node.parts[0]?.name.toLowerCase() ?? '')
    )
      throw new Unfenceable('a row used as a value');
  });
}

/** A star lists the guard columns of what it is of: they are left out. */
function starEdits({ source }: FromContext, { of, except, span }: SelectStar, { columns }: FromGuards): Edit[] {
  const alias = of?.kind === 'path' && of.parts.length === 1 ? of.parts[0]?.name.toLowerCase() : undefined;
  const listed = of === null ? columns : columns.filter((column) => column.alias === alias);
  const names = [...new Set(listed.map(({ guard }) => guard))].join(', ');
  if (names === '') return [];
  const last = except.at(-1);
  if (last !== undefined) return [insert(last.span.end, `, ${names}`)];
  return [insert(source.find('*', of?.span.end ?? span.start) + 1, ` EXCEPT (${names})`)];
}

/** Subqueries in expressions get no guard column, and are to see none of those of the CTEs that they read. */
function refuseStars(context: FromContext, select: Select): void {
  const visit = (node: SyntaxNode, inExpression: boolean): void => {
    if (node.kind === 'subquery_item' && !inExpression) return;
    if (inExpression && node.kind === 'query' && node.with !== null && context.scope.size > 0)
      throw new Unfenceable('a WITH in a subquery');
    if (inExpression && (node.kind === 'from_query' || (node.kind === 'query' && node.pipes.length > 0)))
      throw new Unfenceable('pipe syntax');
    if (inExpression && node.kind === 'select') {
      const from = { ...NO_FROM, columns: node.from === null ? [] : tableGuards(context, node.from) };
      refuseWholeRows(node, from);
      if (node.items.some((item) => item.kind === 'select_star' && starEdits(context, item, from).length > 0))
        throw new Unfenceable('a star over a CTE in a subquery');
    }
    const below = inExpression || node.kind === 'query';
    forEachChild(node, (child) => visit(child, below));
  };
  forEachChild(select, (child) => visit(child, false));
}

const insert = (at: number, by: string): Edit => ({ start: at, end: at, by });

/** Puts the topmost parts that may fail under IF: on rows within aggregates and windows, on groups around them. */
class Mask {
  readonly #edits: Edit[] = [];

  constructor(
    private readonly context: FromContext,
    private readonly rows: string,
    private readonly groups: string,
  ) {}

  edits({ items, groupBy, having, qualify }: Select, grouped: boolean): Edit[] {
    const keys = grouped ? this.#keys(groupBy?.items ?? []) : new Map<string, Expression>();
    for (const [at, item] of items.entries()) {
      if (item.kind === 'select_star') {
        for (const { expression } of item.replace) this.#mask(expression, this.rows);
        continue;
      }
      const { expression } = item;
      if (!mayFail(expression)) continue;
      const text = this.context.source.expression(expression.span);
      const isKey =
        groupBy?.all === true || keys.has(`#${at + 1}`) || keys.has(`.${item.alias?.name.toLowerCase() ?? ''}`);
      if (grouped && !hasAggregate(expression) && (isKey || keys.has(text))) this.#wrap(expression.span, this.rows);
      else if (grouped && holdsKey(text, keys)) throw new Unfenceable('a key of GROUP BY within a select item');
      else this.#mask(expression, grouped ? this.groups : this.rows);
    }
    for (const condition of [having, qualify])
      if (condition !== null && holdsKey(this.context.source.expression(condition.span), keys))
        throw new Unfenceable('a key of GROUP BY within HAVING or QUALIFY');
    for (const key of keys.values()) if (mayFail(key)) this.#wrap(key.span, this.rows);
    return this.#edits;
  }

  /** Keys of GROUP BY: `#1` the place of a select item, `.name` its alias, else the text of an expression. */
  #keys(items: readonly GroupingItem[]): Map<string, Expression> {
    const keys = new Map<string, Expression>();
    for (const item of items) {
      if (item.kind !== 'expression') {
        if (hasFallibleKey(item)) throw new Unfenceable('grouping sets of expressions that may fail');
        continue;
      }
      const { expression } = item;
      if (expression.kind === 'literal') keys.set(`#${expression.value}`, expression);
      else if (expression.kind === 'path' && expression.parts.length === 1)
        keys.set(`.${expression.parts[0]?.name.toLowerCase() ?? ''}`, expression);
      else if (mayFail(expression)) keys.set(this.context.source.expression(expression.span), expression);
    }
    return keys;
  }

  #mask(node: SyntaxNode, guard: string): void {
    if (!mayFail(node)) return;
    if (node.kind === 'query') return this.#checkQuery(node);
    if (isAggregateCall(node)) return forEachChild(node, (child) => this.#mask(child, this.rows));
    if (!ownMayFail(node) || isWindow(node)) return forEachChild(node, (child) => this.#mask(child, guard));
    this.#wrap(node.span, guard);
    this.#maskBeforehand(node, guard);
  }

  /** Below a guard already: only aggregates and windows are computed before it is looked at. */
  #maskBeforehand(node: SyntaxNode, guard: string): void {
    forEachChild(node, (child) => {
      if (child.kind === 'query') this.#checkQuery(child);
      else if (isAggregateCall(child) || isWindow(child)) this.#mask(child, guard);
      else this.#maskBeforehand(child, guard);
    });
  }

  /** A subquery over arrays of the row is under the row's guard; one over tables has rows of its own. */
  #checkQuery(query: SyntaxNode): void {
    if (!mayFail(query)) return;
    walk(query, (node) => {
      if (node.kind === 'table_path') throw new Unfenceable('a subquery of something that may fail');
    });
  }

  #wrap(span: Span, guard: string): void {
    const { start, end } = this.context.source.balanced(span);
    this.#edits.push(insert(start, `IF(${guard}, `), insert(end, ', NULL)'));
  }
}

/** Whether a text holds an expression that GROUP BY has as a key: under IF it would be another. */
function holdsKey(text: string, keys: ReadonlyMap<string, Expression>): boolean {
  return [...keys.keys()].some((key) => !/^[#.]/.test(key) && text.includes(key));
}

function isWindow(node: SyntaxNode): boolean {
  return node.kind === 'call' && node.over !== null;
}

function hasFallibleKey(item: GroupingItem): boolean {
  switch (item.kind) {
    case 'expression':
      return mayFail(item.expression);
    case 'list':
      return item.expressions.some((expression) => mayFail(expression));
    case 'rollup':
    case 'cube':
      return item.sets.some((set) => set.some((expression) => mayFail(expression)));
    case 'grouping_sets':
      return item.items.some(hasFallibleKey);
  }
}
