/**
 * SELECT. Its parts are resolved in the order of the language (FROM, WHERE, the select list, GROUP BY, HAVING, QUALIFY,
 * ORDER BY) and stacked in the order of execution: FROM, WHERE, grouping, HAVING, windows, the select list, QUALIFY,
 * DISTINCT, ORDER BY, LIMIT.
 */
import type { Column, ComputedColumn, Expr, OutputColumn, Relation, ResolvedQuery, SortKey } from '../resolved';
import type { Select, Span } from '../tree';
import { hasAggregate } from '../tree-walk';
import { shortType } from './access';
import { NESTED } from './aggregates';
import { supportsGrouping } from './comparable';
import { plainContext, type AggregateSink, type Context, type NamedWindows, type WindowSink } from './context';
import { resolveCondition } from './expression';
import { resolveFrom, type Source } from './from';
import { grouped, ONE_GROUP, regroup, resolveGroupBy, type GroupKey, type Groups, sameExpr } from './grouping';
import { resolveOrderBy } from './order';
import { aliasTargets, limited, type Tail } from './queries';
import { mapWindow, replacing, type Replace } from '../resolved-walk';
import { NameList, scopeOf, type Scope, type Target } from './scope';
import { resolveSelectList, type ListItem, asValue } from './select-list';
import { invalid, type CteScope, type Session } from './session';
import { checkNamedWindows, namedWindows, NESTED_WINDOW } from './windows';

export function resolveSelect(
  session: Session,
  select: Select,
  outer: Scope | null,
  ctes: CteScope | null,
  tail: Tail,
): ResolvedQuery {
  return new SelectResolver(session, select, outer, ctes, tail).resolve();
}

/** `clause`: as errors name it. */
interface AfterGrouping {
  readonly item: (item: ListItem) => Expr;
  /** An item of ORDER BY. `before`: what it is of the rows before grouping. */
  readonly orderKey: (expr: Expr, before: (expr: Expr) => Expr) => Expr;
  readonly replace: (clause: string) => Replace;
}

class SelectResolver {
  private readonly aggregates: AggregateSink['calls'] = [];
  private readonly named: NamedWindows;
  /** Ids of FROM's columns: from `start`, before `end`. */
  private from = { start: 0, end: 0 };

  constructor(
    private readonly session: Session,
    private readonly select: Select,
    private readonly outer: Scope | null,
    private readonly ctes: CteScope | null,
    private readonly tail: Tail,
  ) {
    this.named = namedWindows(select.windows);
  }

  resolve(): ResolvedQuery {
    const { session, select } = this;
    if (select.from === null) this.checkWithoutFrom();
    const source = this.resolveFrom();
    const scope = scopeOf(source.list, this.outer);
    let relation = source.relation;
    if (select.where !== null) {
      const context = plainContext(session, scope, this.ctes, 'WHERE clause');
      relation = {
        kind: 'filter',
        input: relation,
        condition: resolveCondition(context, select.where, 'The WHERE condition'),
      };
    }
    const listWindows = this.windowSink(scope);
    const listContext: Context = {
      session,
      scope,
      ctes: this.ctes,
      aggregates: select.from === null ? 'not allowed in SELECT without FROM clause' : this.sink(scope),
      windows: select.from === null ? 'SELECT without FROM clause cannot use analytic functions.' : listWindows,
    };
    const items = resolveSelectList(listContext, select.items, select.from === null ? null : source.list);
    const groups = this.resolveGroups(listContext, items);
    const after = this.afterGrouping(groups);
    const finals = items.map((item) =>
      session.recover(
        () => after.item(item),
        () => session.unknownExpr(item.span),
      ),
    );
    const later = this.sink(this.scopeBeforeGrouping(scope, items));
    const having = session.recover(
      () => this.resolveHaving(scope, later, items, finals, groups),
      () => null,
    );

    const computed: ComputedColumn[] = [];
    let output = items.map((item, i) => this.outputColumn(item, finals[i] ?? item.expr, computed));
    const lateWindows = this.windowSink(this.aliasScope(scope, items, output, NESTED_WINDOW));
    const qualify = session.recover(
      () => this.resolveQualify(scope, later, items, output, after, listWindows, lateWindows),
      () => null,
    );
    const beforeOrder = session.mark();
    const order = session.recover(
      () => this.resolveOrder(scope, later, items, output, groups, after, lateWindows),
      () => [],
    );

    // Into sinks of its own: only what is used is computed.
    checkNamedWindows({ ...listContext, aggregates: { calls: [], scope }, windows: NESTED_WINDOW }, this.named);
    if (groups !== null) relation = grouped(session, relation, groups, later);
    if (having !== null) relation = { kind: 'filter', input: relation, condition: having };
    relation = windowed(relation, listWindows, after.replace('SELECT list expression'));
    if (computed.length > 0) relation = { kind: 'compute', input: relation, columns: computed };
    relation = windowed(relation, lateWindows, after.replace('ORDER BY clause expression'));
    if (qualify !== null) relation = { kind: 'filter', input: relation, condition: qualify };
    if (select.as !== null) {
      const row = asValue(session, select.as, select.span, relation, output);
      relation = row.relation;
      output = [{ name: null, column: row.column }];
    }
    let keys = order;
    if (select.distinct) ({ relation, output, keys } = this.distinct(relation, output, order, finals, beforeOrder));
    if (keys.length > 0) relation = { kind: 'sort', input: relation, keys };
    relation = limited(session, relation, this.tail.limit, this.ctes);
    if (source.list.open && select.items.some(({ kind }) => kind === 'select_star'))
      session.survey?.markUnknown(output);
    return { ctes: [], relation, output, valueTable: select.as !== null, ordered: keys.length > 0 };
  }

  /** Without FROM there is one row and nothing to do with it. */
  private checkWithoutFrom(): void {
    const { select, tail } = this;
    const [order] = tail.orderBy;
    const parts: [string, Span | null | undefined][] = [
      ['WHERE', select.where?.span],
      ['GROUP BY', select.groupBy?.span],
      ['SELECT DISTINCT', select.distinct ? select.span : null],
      ['ORDER BY', order?.span],
    ];
    for (const [name, span] of parts)
      if (span)
        throw invalid(
          `Query without FROM clause cannot have ${name === 'ORDER BY' ? 'an' : 'a'} ${name} clause.`,
          span,
        );
  }

  private resolveFrom(): Source {
    const { session, select, outer, ctes } = this;
    const start = session.mark();
    const source: Source =
      select.from === null
        ? { relation: { kind: 'single_row' }, list: NameList.empty }
        : resolveFrom({ session, outer, ctes, left: NameList.empty }, select.from);
    this.from = { start, end: session.mark() };
    return source;
  }

  private sink(scope: Scope): AggregateSink {
    return { calls: this.aggregates, scope };
  }

  private windowSink(scope: Scope): WindowSink {
    return { calls: [], named: this.named, scope };
  }

  private resolveGroups(context: Context, items: readonly ListItem[]): Groups | null {
    const { groupBy } = this.select;
    if (groupBy !== null)
      return this.session.recover(
        () => resolveGroupBy(context, groupBy, items),
        () => ({ ...ONE_GROUP, keys: [this.unknownKey(groupBy.span)] }),
      );
    const { qualify } = this.select;
    return this.aggregates.length > 0 || (qualify !== null && hasAggregate(qualify)) ? ONE_GROUP : null;
  }

  private unknownKey(span: Span): GroupKey {
    const expr = this.session.unknownExpr(span);
    return { column: this.session.column(null, expr.type), expr };
  }

  private afterGrouping(groups: Groups | null): AfterGrouping {
    // What a key at fault would have grouped is not known.
    const unknown = groups?.keys.some(({ expr }) => this.session.survey?.isUnknown(expr));
    if (groups === null || unknown === true)
      return { item: ({ expr }) => expr, orderKey: (expr) => expr, replace: () => () => undefined };
    const replace = (clause: string): Replace => regroup(this.session, groups.keys, this.from, clause);
    // Of names that are there after grouping it is made of these; otherwise it may be a key as a whole.
    const whole = (expr: Expr, clause: string, before: () => Expr): Expr => {
      try {
        return replacing(replace(clause)).expr(expr);
      } catch (error) {
        const written = before();
        const key = groups.keys.find((one) => sameExpr(one.expr, written));
        if (key === undefined) throw error;
        return this.session.ref(key.column, expr.span);
      }
    };
    return {
      item: (item) => {
        const key = groups.items.get(item);
        if (key !== undefined) return this.session.ref(key.column, item.span);
        return whole(item.expr, 'SELECT list expression', () => item.expr);
      },
      orderKey: (expr, before) => whole(expr, 'ORDER BY clause expression', () => before(expr)),
      replace,
    };
  }

  /** Names in aggregates behind the select list: its aliases stand for their expressions of the rows before grouping. */
  private scopeBeforeGrouping(scope: Scope, items: readonly ListItem[]): Scope {
    return withAliases(scope, items, ({ hasAggregate: aggregated, hasWindow, expr }) => {
      if (aggregated) return { kind: 'refused', message: NESTED };
      if (hasWindow)
        return { kind: 'refused', message: 'Analytic functions cannot be arguments to aggregate functions.' };
      return { kind: 'alias', expr };
    });
  }

  private resolveHaving(
    scope: Scope,
    aggregates: AggregateSink,
    items: readonly ListItem[],
    finals: readonly Expr[],
    groups: Groups | null,
  ): Expr | null {
    const { having } = this.select;
    if (having === null) return null;
    if (groups === null)
      throw invalid('The HAVING clause requires GROUP BY or aggregation to be present.', having.span);
    const where = 'is not allowed in HAVING clause';
    const context: Context = {
      session: this.session,
      scope: withAliases(scope, items, (item, i) =>
        item.hasWindow
          ? { kind: 'refused', message: `Column ${item.name ?? ''} contains an analytic function, which ${where}.` }
          : { kind: 'alias', expr: finals[i] ?? item.expr },
      ),
      ctes: this.ctes,
      aggregates,
      windows: 'Analytic function not allowed in HAVING clause.',
    };
    const condition = resolveCondition(context, having, 'The HAVING condition');
    return replacing(regroup(this.session, groups.keys, this.from, 'HAVING clause expression')).expr(condition);
  }

  /** A bare column of this SELECT stays itself; everything else is computed. */
  private outputColumn(item: ListItem, expr: Expr, computed: ComputedColumn[]): OutputColumn {
    if (expr.kind === 'column' && expr.column.id >= this.from.start) return { name: item.name, column: expr.column };
    const column = this.session.column(item.name, expr.type);
    this.session.rememberLiteral(column, expr);
    computed.push({ column, expr });
    return { name: item.name, column };
  }

  /** @param windows why no alias of a window function may be used; null: it may */
  private aliasScope(
    scope: Scope,
    items: readonly ListItem[],
    output: readonly OutputColumn[],
    windows: string | null = null,
  ): Scope {
    return withAliases(scope, items, ({ hasWindow }, i) => {
      if (hasWindow && windows !== null) return { kind: 'refused', message: windows };
      const column = output[i]?.column;
      if (column === undefined) throw new Error('every item has a column');
      return { kind: 'column', column };
    });
  }

  private resolveQualify(
    scope: Scope,
    aggregates: AggregateSink,
    items: readonly ListItem[],
    output: readonly OutputColumn[],
    after: AfterGrouping,
    list: WindowSink,
    windows: WindowSink,
  ): Expr | null {
    const { qualify } = this.select;
    if (qualify === null) return null;
    const context: Context = {
      session: this.session,
      scope: this.aliasScope(scope, items, output),
      ctes: this.ctes,
      aggregates,
      windows,
    };
    const condition = replacing(after.replace('QUALIFY clause expression')).expr(
      resolveCondition(context, qualify, 'The QUALIFY condition'),
    );
    if (list.calls.length + windows.calls.length === 0)
      throw invalid('The QUALIFY clause requires analytic function to be present.', qualify.span);
    return condition;
  }

  private resolveOrder(
    scope: Scope,
    aggregates: AggregateSink,
    items: readonly ListItem[],
    output: readonly OutputColumn[],
    groups: Groups | null,
    after: AfterGrouping,
    windows: WindowSink,
  ): SortKey[] {
    const { distinct } = this.select;
    const context: Context = {
      session: this.session,
      scope: this.aliasScope(scope, items, output),
      ctes: this.ctes,
      aggregates: distinct
        ? 'not allowed in ORDER BY clause after SELECT DISTINCT'
        : groups === null
          ? 'not allowed in ORDER BY clause without GROUP BY or SELECT list aggregation'
          : aggregates,
      windows: distinct
        ? 'Analytic function not allowed in ORDER BY clause after SELECT DISTINCT.'
        : { ...windows, named: namedWindows([]) },
    };
    const columns = output.map(({ column }) => column);
    const written = new Map(columns.map((column, i) => [column.id, items[i]?.expr]));
    const before = replacing((expr) => (expr.kind === 'column' ? written.get(expr.column.id) : undefined)).expr;
    return resolveOrderBy(context, this.tail.orderBy, columns, (expr) => after.orderKey(expr, before));
  }

  /** Rows told apart by all output columns; ORDER BY then sees these only. */
  private distinct(
    input: Relation,
    output: readonly OutputColumn[],
    order: readonly SortKey[],
    finals: readonly Expr[],
    beforeOrder: number,
  ): { relation: Relation; output: OutputColumn[]; keys: SortKey[] } {
    const { session, select } = this;
    const keys = new Map<number, { column: Column; expr: Expr }>();
    const distinct = output.map(({ name, column }, i): OutputColumn => {
      if (!supportsGrouping(column.type))
        throw invalid(
          `Column ${name ?? i + 1} of type ${shortType(column.type)} cannot be used in SELECT DISTINCT.`,
          select.span,
        );
      const key = keys.get(column.id) ?? {
        column: session.column(name, column.type),
        expr: session.ref(column, select.span),
      };
      keys.set(column.id, key);
      return { name, column: key.column };
    });
    const paths = finals.flatMap((expr, i) => {
      const key = output[i] === undefined ? undefined : keys.get(output[i].column.id);
      return key === undefined ? [] : [{ column: key.column, expr }];
    });
    const all = [...keys.values()];
    const replace = regroup(
      session,
      [...all, ...paths],
      { start: this.from.start, end: beforeOrder },
      'ORDER BY clause expression',
      'is not visible after SELECT DISTINCT',
    );
    const after: Replace = (expr) =>
      expr.kind === 'column' && all.some((key) => key.column === expr.column) ? expr : replace(expr);
    return {
      relation: { kind: 'aggregate', input, keys: all, groupingSets: null, aggregates: [] },
      output: distinct,
      keys: order.map((key) => ({ ...key, expr: replacing(after).expr(key.expr) })),
    };
  }
}

/** The scope with the aliases of the select list before all else. */
function withAliases(scope: Scope, items: readonly ListItem[], target: (item: ListItem, at: number) => Target): Scope {
  const overrides = aliasTargets(items.map((item, i) => ({ name: item.name, target: () => target(item, i) })));
  return { ...scope, overrides };
}

function windowed(input: Relation, { calls }: WindowSink, replace: Replace): Relation {
  if (calls.length === 0) return input;
  return {
    kind: 'window',
    input,
    functions: calls.map(({ column, call }) => ({ column, call: mapWindow(call, replacing(replace).expr) })),
  };
}
