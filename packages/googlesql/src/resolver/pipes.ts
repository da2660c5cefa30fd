/**
 * Pipe operators, lowered to the relations of standard syntax: each takes the rows and names before it to those after it.
 * Names follow BigQuery's reference ("Pipe query syntax"): an operator sees the columns of its input and the table aliases that
 * are still there, and SELECT, AGGREGATE and AS take the aliases away.
 */
import type { Column, ComputedColumn, Relation, SortKey, Cte } from '../resolved';
import { replacing } from '../resolved-walk';
import type {
  OrderSuffix,
  PipeAggregate,
  OrderItem,
  PipeExtend,
  PipeJoin,
  PipeOperator,
  PipeSelect,
  PipeSet,
  PipeSetOperation,
  PipeWith,
  Query,
  SelectItem,
  Span,
} from '../tree';
import { checkedSortKey } from './aggregates';
import { type AggregateSink, type Context, plainContext, type WindowSink } from './context';
import { type Source, resolveFrom, type FromContext } from './from';
import { grouped, regroup, resolvePipeGroupBy } from './grouping';
import { NameList, scopeOf, type Scope } from './scope';
import { resolveSelectList, type ListItem, asValue } from './select-list';
import { invalid, type CteScope, type Session } from './session';
import { orderAfter } from '../row-order';
import { NO_SPAN } from '../resolved-nodes';
import { shortType } from './access';
import { supportsGrouping } from './comparable';
import { resolveCondition, resolveExpr } from './expression';
import { joinTo } from './joins';
import { resolveOrderBy } from './order';
import { dropColumns, renameColumns, setColumns } from './pipe-columns';
import { pivotOver } from './pivot';
import { limited, namesOf, resolveNamedBody, resolveQueryIn, resolveWith, type NamedQuery } from './queries';
import { resolveSetOperation } from './set-operations';
import { unpivotOver } from './unpivot';
import { checkNamedWindows, namedWindows, NESTED_WINDOW } from './windows';

/**
 * @param plain the context of the operator's input, `source`
 * @param start id of the first column of the query that the operator is part of
 */
function resolvePipeAggregate(
  plain: Context,
  { items, orders, groupBy }: PipeAggregate,
  { relation: input, list }: Source,
  start: number,
): Source & { readonly order: readonly SortKey[] } {
  const { session } = plain;
  const from = { start, end: session.mark() };
  const sink: AggregateSink = { calls: [], scope: plain.scope };
  const windows = 'Pipe AGGREGATE cannot include analytic/window functions.';
  const context: Context = { ...plain, aggregates: sink, windows };
  const resolved = items.flatMap((item, i) => {
    const order = orders[i] ?? null;
    return resolveSelectList(context, [item], list).map((one) => ({ ...one, order }));
  });
  for (const { hasAggregate, span } of resolved)
    if (!hasAggregate) throw invalid('Pipe AGGREGATE cannot include non-aggregate expressions.', span);

  const { groups, outputs } = resolvePipeGroupBy({ ...plain, windows }, groupBy);
  const replace = regroup(session, groups.keys, from, 'AGGREGATE list expression');
  const inList = replacing(replace);
  const own = new Set(sink.calls.map(({ column }) => column.id));
  const computed: ComputedColumn[] = [];
  const named = resolved.map(({ name, expr, order }) => {
    const final = inList.expr(expr);
    if (final.kind === 'column' && own.has(final.column.id)) return { name, column: final.column, order };
    const column = session.column(name, final.type);
    computed.push({ column, expr: final });
    return { name, column, order };
  });
  let relation: Relation = grouped(session, input, groups, sink);
  if (computed.length > 0) relation = { kind: 'compute', input: relation, columns: computed };

  const ascending: OrderSuffix | null = groupBy?.ordered === true ? { descending: false, nulls: null } : null;
  const all: readonly { name: string | null; column: Column; order: OrderSuffix | null }[] = [
    ...outputs.map((output) => ({ ...output, order: output.order ?? ascending })),
    ...named,
  ];
  const order = all.flatMap(({ column, order: suffix }) => {
    if (suffix === null) return [];
    return [
      checkedSortKey(session.ref(column, groupBy?.span ?? { start: 0, end: 0 }), suffix.descending, suffix.nulls),
    ];
  });
  return { relation, list: NameList.table(null, all), order };
}

/** A query of a FROM clause or with pipe operators; its WITH is resolved already. */
export function resolvePipes(session: Session, query: Query, outer: Scope | null, ctes: CteScope | null): NamedQuery {
  const pipeline = new Pipeline(session, outer, ctes);
  pipeline.begin(query);
  for (const operator of query.pipes)
    session.recover(
      () => pipeline.apply(operator),
      () => pipeline.giveUp(),
    );
  return pipeline.finish();
}

class Pipeline {
  private relation: Relation = { kind: 'single_row' };
  private list = NameList.empty;
  /** What the rows are ordered by, columns all of them; null: they have no order. */
  private order: readonly SortKey[] | null = null;
  /** The topmost relation gives the rows in that order. */
  private sorted = false;
  /** WITH entries of the query before the pipes, and of the operator WITH. */
  private readonly entries: Cte[] = [];
  /** Columns of this query have this id or a later one. */
  private readonly start: number;

  constructor(
    private readonly session: Session,
    private readonly outer: Scope | null,
    private ctes: CteScope | null,
  ) {
    this.start = session.mark();
  }

  /** What is before the first operator. */
  begin({ body, orderBy, limit }: Query): void {
    if (body.kind === 'from_query') {
      this.take(resolveFrom(this.from(), body.from));
      return;
    }
    const { query, names } = resolveNamedBody(this.session, body, this.outer, this.ctes, { orderBy, limit });
    this.entries.push(...query.ctes);
    this.list = names;
    this.relation = query.ordered ? this.takeOrder(query.relation) : query.relation;
  }

  apply(operator: PipeOperator): void {
    this.session.budget.columns(1);
    if (orderAfter(operator) === false) this.order = null;
    // A column that SET, DROP or RENAME does not find may be one of those.
    if (this.list.open) this.session.survey?.useUnknown();
    switch (operator.kind) {
      case 'pipe_select':
        return this.select(operator);
      case 'pipe_extend':
        return this.extend(operator);
      case 'pipe_set':
        return this.set(operator);
      case 'pipe_drop':
        this.list = dropColumns(this.list, operator, this.scope);
        return;
      case 'pipe_rename':
        this.list = renameColumns(this.list, operator, this.scope);
        return;
      case 'pipe_as':
        this.list = this.list.aliased(operator.alias.name);
        return;
      case 'pipe_where': {
        const windows = this.windowSink();
        const context: Context = { ...this.plain('pipe WHERE clause'), windows };
        const condition = resolveCondition(context, operator.condition, 'The WHERE condition');
        this.addWindows(windows);
        this.relation = { kind: 'filter', input: this.relation, condition };
        return;
      }
      case 'pipe_aggregate': {
        const { relation, list, order } = resolvePipeAggregate(
          this.plain('pipe AGGREGATE'),
          operator,
          this.source,
          this.start,
        );
        this.take({ relation, list });
        this.order = order.length === 0 ? null : order;
        return;
      }
      case 'pipe_distinct':
        return this.distinct(operator.span);
      case 'pipe_join':
        return this.join(operator);
      case 'pipe_order_by':
        return this.orderBy(operator.items);
      case 'pipe_limit': {
        this.sort();
        this.relation = limited(this.session, this.relation, operator.limit, this.ctes);
        this.sorted = this.order !== null;
        return;
      }
      case 'pipe_set_operation':
        return this.setOperation(operator);
      case 'pipe_pivot':
        return this.take(pivotOver(this.from(), this.source, operator, operator.span));
      case 'pipe_unpivot':
        return this.take(unpivotOver(this.from(), this.source, operator, operator.span));
      case 'pipe_with':
        return this.with(operator);
    }
  }

  /** In a survey: an operator was at fault, and what it would have named is not known. */
  giveUp(): void {
    this.list = this.list.opened();
  }

  finish(): NamedQuery {
    this.sort();
    const { relation, list } = this;
    const output = list.columns.map(({ name, column }) => ({ name, column }));
    const [only] = list.columns;
    const valueTable = only !== undefined && list.columns.length === 1 && only.valueTable;
    const ordered = this.order !== null;
    if (list.open) this.session.survey?.markUnknown(output);
    // A column that is read by nothing has to be there all the same.
    for (const { column } of list.columns) this.session.ref(column, NO_SPAN);
    return { query: { ctes: this.entries, relation, output, valueTable, ordered }, names: list };
  }

  private get scope(): Scope {
    return scopeOf(this.list, this.outer);
  }

  private get source(): Source {
    return { relation: this.relation, list: this.list };
  }

  private from(): FromContext {
    const { session, outer, ctes } = this;
    return { session, outer, ctes, left: NameList.empty };
  }

  private plain(clause: string): Context {
    return plainContext(this.session, this.scope, this.ctes, clause);
  }

  private take({ relation, list }: Source): void {
    this.relation = relation;
    this.list = list;
    this.sorted = false;
  }

  private windowSink(named: WindowSink['named'] = namedWindows([])): WindowSink {
    return { calls: [], named, scope: this.scope };
  }

  private addWindows({ calls }: WindowSink): void {
    if (calls.length > 0) this.relation = { kind: 'window', input: this.relation, functions: calls };
  }

  private compute(columns: readonly ComputedColumn[]): void {
    if (columns.length === 0) return;
    this.relation = { kind: 'compute', input: this.relation, columns };
    this.sorted = false;
  }

  /** The items of SELECT, EXTEND and WINDOW as columns. */
  private items(
    items: readonly SelectItem[],
    windows: PipeSelect['windows'],
    operator: string,
  ): { name: string | null; column: Column; item: ListItem }[] {
    const named = namedWindows(windows);
    const sink = this.windowSink(named);
    const context: Context = { ...this.plain(`pipe ${operator}`), windows: sink };
    const resolved = resolveSelectList(context, items, this.list);
    checkNamedWindows({ ...context, windows: NESTED_WINDOW }, named);
    this.addWindows(sink);
    const computed: ComputedColumn[] = [];
    const columns = resolved.map((item) => ({ name: item.name, column: this.columnOf(item, computed), item }));
    this.compute(computed);
    return columns;
  }

  /** A bare column of this query stays itself; everything else is computed. */
  private columnOf({ name, expr }: Pick<ListItem, 'name' | 'expr'>, computed: ComputedColumn[]): Column {
    if (expr.kind === 'column' && expr.column.id >= this.start) return expr.column;
    const column = this.session.column(name, expr.type);
    this.session.rememberLiteral(column, expr);
    computed.push({ column, expr });
    return column;
  }

  private select({ items, distinct, as, windows, span }: PipeSelect): void {
    const output = this.items(items, windows, 'SELECT').map(({ name, column }) => ({ name, column }));
    const open = this.list.open && items.some(({ kind }) => kind === 'select_star');
    if (as === null) this.list = NameList.table(null, output, open);
    else {
      const value = asValue(this.session, as, span, this.relation, output);
      this.take({ relation: value.relation, list: NameList.value(null, value.column) });
    }
    if (distinct) this.distinct(span);
  }

  private extend({ items, windows, operator }: PipeExtend): void {
    const added = this.items(items, windows, operator);
    if (operator === 'WINDOW')
      for (const { item } of added)
        if (!item.hasWindow)
          throw invalid('Pipe WINDOW expression must include a window function call (with an OVER clause).', item.span);
    this.list = this.list.extended(added);
  }

  private set(operator: PipeSet): void {
    const windows = this.windowSink();
    const context: Context = { ...this.plain('pipe SET clause'), windows };
    const exprs = operator.items.map(({ expression }) => resolveExpr(context, expression));
    this.addWindows(windows);
    const columns = exprs.map((expr, i): ComputedColumn => {
      return { column: this.session.column(operator.items[i]?.column.name ?? null, expr.type), expr };
    });
    const { scope } = this;
    this.compute(columns);
    this.list = setColumns(
      this.list,
      operator,
      columns.map(({ column }) => column),
      scope,
    );
  }

  /** Rows told apart by all columns; aliases reach those columns of theirs that are among them. */
  private distinct(span: Span): void {
    const { session, list } = this;
    const keys = new Map<number, ComputedColumn>();
    for (const [i, { name, column }] of list.columns.entries()) {
      if (!supportsGrouping(column.type))
        throw invalid(
          `Column ${name ?? i + 1} of type ${shortType(column.type)} is not supported in pipe DISTINCT.`,
          span,
        );
      if (!keys.has(column.id))
        keys.set(column.id, { column: session.column(name, column.type), expr: session.ref(column, span) });
    }
    const input = this.relation;
    // Rows that are distinct already stay so: DuckDB plans a chain of DISTINCT in exponential time.
    if (input.kind === 'aggregate' && input.aggregates.length === 0 && input.groupingSets === null)
      if (input.keys.length === keys.size && input.keys.every(({ column }) => keys.has(column.id))) return;
    const relation: Relation = {
      kind: 'aggregate',
      input,
      keys: [...keys.values()],
      groupingSets: null,
      aggregates: [],
    };
    this.take({ relation, list: list.mapped((column) => keys.get(column.id)?.column) });
  }

  private join(join: PipeJoin): void {
    this.take(joinTo(this.from(), this.source, join));
  }

  private orderBy(items: readonly OrderItem[]): void {
    const windows = this.windowSink();
    const context: Context = { ...this.plain('pipe ORDER BY clause'), windows };
    const columns = this.list.columns.map(({ column }) => column);
    const keys = resolveOrderBy(context, items, columns);
    this.addWindows(windows);
    this.order = this.columnKeys(keys);
    this.sorted = false;
  }

  /** Each key as a column, so that the rows can be put into its order again above other operators. */
  private columnKeys(keys: readonly SortKey[]): SortKey[] {
    const computed: ComputedColumn[] = [];
    const columns = keys.map((key): SortKey => {
      const column = this.columnOf({ name: null, expr: key.expr }, computed);
      return { ...key, expr: this.session.ref(column, key.expr.span) };
    });
    this.compute(computed);
    return columns;
  }

  private sort(): void {
    if (this.order === null || this.sorted) return;
    this.relation = { kind: 'sort', input: this.relation, keys: this.order };
    this.sorted = true;
  }

  /** An ordered relation, whose order is then that of the rows. */
  private takeOrder(relation: Relation): Relation {
    switch (relation.kind) {
      case 'sort': {
        this.relation = relation.input;
        this.order = this.columnKeys(relation.keys);
        this.sort();
        return this.relation;
      }
      case 'limit': {
        const input = this.takeOrder(relation.input);
        this.sorted = true;
        return { ...relation, input };
      }
      case 'query':
        this.entries.push(...relation.query.ctes);
        return this.takeOrder(relation.query.relation);
      default:
        throw new Error(`Rows of ${relation.kind} have no order.`);
    }
  }

  private setOperation(operator: PipeSetOperation): void {
    const { query: first } = this.finish();
    const inputs = [
      { ...first, ctes: [] },
      ...operator.inputs.map((input) => resolveQueryIn(this.session, input, this.outer, this.ctes)),
    ];
    const spans = [operator.span, ...operator.inputs.map(({ span }) => span)];
    const query = resolveSetOperation(this.session, operator, inputs, spans);
    this.take({ relation: query.relation, list: namesOf(this.session, query) });
  }

  private with(operator: PipeWith): void {
    const { list, scope } = resolveWith(this.session, operator.with, this.ctes);
    this.entries.push(...list);
    this.ctes = scope;
  }
}
