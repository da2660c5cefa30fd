/**
 * A query over tables in parts. Where a part stores a list as its only element, its UNNEST becomes that element: no row
 * multiplies or goes, and only the fields that are read are taken from the table. Parts of different shape become branches of
 * a UNION ALL, as far up as rows are still looked at one by one.
 */
import {
  type Column,
  type ComputedColumn,
  type Cte,
  type CteScan,
  type Expr,
  type Limit,
  type OutputColumn,
  type Relation,
  type ResolvedQuery,
  type Sort,
  type TableScan,
  type UnnestScan,
  mapOperands,
  mapRelation,
  replacing,
  visitQuery,
  type Mapping,
  visibleColumns,
  called,
  NO_SPAN,
  columnRef,
} from '@logquay/googlesql';
import { FIRST_INSTANT, LAST_INSTANT, type SqlType, type TableSchema } from '@logquay/googlesql/types';
import type { Span } from '@logquay/googlesql/syntax';
import { conjuncts } from '../relations/subquery-lists';
import { amongFirst, filteredTable } from './first-rows';
import { isLarge, PartScan } from './part-scan';
import { CorrelatedRow, StoredPlace, type Place } from './place';
import { Union, type Branch } from './union';
import type { Part } from '../../data/part';
import { PrintBudget } from '../context';
import type { ListShape } from './physical-type';

export interface OverParts {
  readonly query: ResolvedQuery;
  /** What each table scan in it is of. */
  readonly scans: ReadonlyMap<TableSchema, PartScan>;
  /** Columns of its output whose JSON lacks brackets, by their places. */
  readonly unbracketed: UnbracketedColumns;
}

export type UnbracketedColumns = ReadonlyMap<number, { readonly type: SqlType; readonly shape: ListShape }>;

export type PartsOf = (table: TableSchema) => readonly Part[];

/** Whether the query as written can be printed as it is: all its tables are one relation with lists, and without records. */
export function readsPlainTables(query: ResolvedQuery, partsOf: PartsOf): boolean {
  let plain = true;
  visitQuery(query, {
    relation: (relation) => {
      if (relation.kind !== 'table') return;
      const parts = partsOf(relation.table);
      const hasRecords = relation.table.columns.some(({ type }) => type.kind === 'STRUCT');
      plain &&= parts.length === 1 && parts[0]!.single.size === 0 && !hasRecords;
    },
  });
  return plain;
}

/**
 * @param isComputedOnce whether a CTE is computed once, and not written out where it is read
 * @param leavesBrackets whether values of a type may come in the output without the brackets of lists
 * @throws QueryError resourcesExceeded where it becomes too long
 */
export function overParts(
  query: ResolvedQuery,
  partsOf: PartsOf,
  isComputedOnce: (cte: Cte) => boolean,
  leavesBrackets: (type: SqlType) => boolean,
): OverParts {
  return new Rewriting(query, partsOf, isComputedOnce, leavesBrackets).result();
}

/**
 * The same for CTEs that are tables, and computed first. What reads them stays as it is: what it is evaluated on must not depend on the
 * shape that rows of others gave the parts.
 *
 * @throws QueryError as overParts
 */
export function tablesOverParts(
  query: ResolvedQuery,
  partsOf: PartsOf,
  isComputedOnce: (cte: Cte) => boolean,
  isFirst: (cte: Cte) => boolean,
): OverParts {
  return new Rewriting(query, partsOf, isComputedOnce, () => false).ofTables(isFirst);
}

/** The places of columns around an expression, the innermost last. */
type Scope = readonly ReadonlyMap<number, Place>[];

class Rewriting {
  readonly #scans = new Map<TableSchema, PartScan>();
  readonly #computed = new Map<number, Cte>();
  readonly #unbracketed = new Map<number, { readonly type: SqlType; readonly shape: ListShape }>();
  readonly #budget = new PrintBudget();
  #lastId = 0;

  constructor(
    private readonly query: ResolvedQuery,
    private readonly partsOf: PartsOf,
    private readonly isComputedOnce: (cte: Cte) => boolean,
    private readonly leavesBrackets: (type: SqlType) => boolean,
  ) {
    const note = ({ id }: Column): void => void (this.#lastId = Math.max(this.#lastId, id));
    visitQuery(query, { relation: (relation) => visibleColumns(relation).forEach(note) });
  }

  result(): OverParts {
    const branch = this.#one(this.query.relation, []);
    const query = this.#output(this.query, branch, [], this.leavesBrackets);
    const ctes = [...this.#computed.values()];
    return { query: { ...query, ctes }, scans: this.#scans, unbracketed: this.#unbracketed };
  }

  ofTables(isFirst: (cte: Cte) => boolean): OverParts {
    const made = new Map<Cte, Cte>();
    const cteOf = (cte: Cte): Cte => {
      let known = made.get(cte);
      if (known === undefined) {
        known = { ...cte, query: isFirst(cte) ? this.#withItsColumns(cte.query) : mapping.query(cte.query) };
        made.set(cte, known);
      }
      return known;
    };
    const mapping: Mapping = {
      expr: (expr) => mapOperands(expr, mapping),
      relation: (relation) =>
        relation.kind === 'cte' ? { ...relation, cte: cteOf(relation.cte) } : mapRelation(relation, mapping),
      query: (query) => ({ ...query, ctes: query.ctes.map(cteOf), relation: mapping.relation(query.relation) }),
    };
    const relation = mapping.relation(this.query.relation);
    const ctes = [...this.#computed.values(), ...this.query.ctes.flatMap((cte) => made.get(cte) ?? [])];
    return { query: { ...this.query, ctes, relation }, scans: this.#scans, unbracketed: new Map() };
  }

  /** A query over parts that shows the columns it has. */
  #withItsColumns(query: ResolvedQuery): ResolvedQuery {
    const { relation, output } = this.#query(query, []);
    const renamed = query.output.flatMap(({ column }, i): ComputedColumn[] => {
      const now = output[i]!.column;
      return now.id === column.id ? [] : [{ column, expr: columnRef(now) }];
    });
    return { ...query, ctes: [], relation: withComputed(relation, renamed) };
  }

  readonly #newId = (): number => ++this.#lastId;

  /** With the values of its columns as the query has them. */
  #query(query: ResolvedQuery, scope: Scope): ResolvedQuery {
    return this.#output(query, this.#one(query.relation, scope), scope, () => false);
  }

  /** With the values of its columns as the query has them, but for the brackets of some. @param branch its relation */
  #output(
    query: ResolvedQuery,
    branch: Branch,
    scope: Scope,
    leavesBrackets: (type: SqlType) => boolean,
  ): ResolvedQuery {
    const inner = [...scope, branch.places];
    const computed: ComputedColumn[] = [];
    const output = query.output.map(({ name, column }, i): OutputColumn => {
      const place = placeOfColumn(column, inner);
      if (place === null) return { name, column };
      const json = query.valueTable || !leavesBrackets(place.type) ? null : place.unbracketed();
      if (json !== null && json.shape !== null) this.#unbracketed.set(i, { type: place.type, shape: json.shape });
      const expr = json?.expr ?? place.value(NO_SPAN);
      if (expr.kind === 'column') return { name, column: expr.column };
      const own = { ...column, id: this.#newId() };
      computed.push({ column: own, expr });
      return { name, column: own };
    });
    return { ...query, ctes: [], relation: withComputed(branch.relation, computed), output };
  }

  /** A relation as one branch. @param recomputed what it shows is computed in it: an outer join may make all of it NULL */
  #one(relation: Relation, scope: Scope, recomputed = false): Branch {
    const branches = this.#branches(relation, scope, false);
    return branches.length === 1 && !recomputed ? branches[0]! : this.#union(branches, relation);
  }

  #union(branches: readonly Branch[], written: Relation): Branch {
    return new Union(branches, this.#newId).asBranch(visibleColumns(written));
  }

  /** @param apart whether the newest part is to be a branch of its own */
  #branches(relation: Relation, scope: Scope, apart: boolean): readonly Branch[] {
    this.#budget.step();
    switch (relation.kind) {
      case 'single_row':
        return [{ relation, places: NO_PLACES }];
      case 'table':
        return this.#table(relation, apart);
      case 'cte':
        return this.#cte(relation, scope, apart);
      case 'query':
        return this.#branches(relation.query.relation, scope, apart);
      case 'unnest':
        return this.#eachInput(relation.input, [relation.array, relation.on], scope, apart, (input) =>
          this.#unnest(relation, input, scope),
        );
      case 'filter':
        return this.#eachInput(relation.input, [relation.condition], scope, apart, (input) => ({
          ...input,
          relation: this.#filtered(input.relation, relation.condition, [...scope, input.places]),
        }));
      case 'compute': {
        const exprs = relation.columns.map(({ expr }) => expr);
        return this.#eachInput(relation.input, exprs, scope, apart, (input) => {
          const places = new Map(input.places);
          const computed: ComputedColumn[] = [];
          for (const { column, expr } of relation.columns) {
            const place = this.#placeOf(expr, [...scope, input.places]);
            if (place === null) computed.push({ column, expr: this.#expr(expr, [...scope, input.places]) });
            else places.set(column.id, place);
          }
          return { relation: withComputed(input.relation, computed), places };
        });
      }
      case 'join': {
        const left = this.#one(relation.left, scope, relation.type === 'right' || relation.type === 'full');
        const right = this.#one(relation.right, scope, relation.type === 'left' || relation.type === 'full');
        const places = new Map([...left.places, ...right.places]);
        const on = relation.on && this.#expr(relation.on, [...scope, places]);
        return [{ relation: { ...relation, left: left.relation, right: right.relation, on }, places }];
      }
      case 'sort':
      case 'window':
        return [this.#above(relation, this.#one(relation.input, scope), scope)];
      case 'aggregate':
        return [{ ...this.#above(relation, this.#one(relation.input, scope), scope), places: NO_PLACES }];
      case 'limit':
        return [this.#limit(relation, scope)];
      case 'set': {
        const inputs = relation.inputs.map((query) => this.#query(query, scope));
        return [{ relation: { ...relation, inputs }, places: NO_PLACES }];
      }
    }
  }

  /** An operator over a branch, with the expressions that it evaluates replaced. */
  #above(relation: Exclude<Relation, UnnestScan>, input: Branch, scope: Scope): Branch {
    const inner = [...scope, input.places];
    const mapping = { expr: (expr: Expr) => this.#expr(expr, inner), relation: () => input.relation, query: unchanged };
    return { relation: mapRelation(relation, mapping), places: input.places };
  }

  /** An operator that looks at one row at a time, over each branch of its input. */
  #eachInput(
    input: Relation | null,
    exprs: readonly (Expr | null)[],
    scope: Scope,
    apart: boolean,
    over: (input: Branch) => Branch,
  ): readonly Branch[] {
    if (input === null) return [over({ relation: { kind: 'single_row' }, places: NO_PLACES })];
    const branches = this.#branches(input, scope, apart);
    // Branches in branches would multiply.
    if (branches.length > 1 && exprs.some((expr) => expr !== null && readsTables(expr))) {
      return [over(this.#union(branches, input))];
    }
    return branches.map(over);
  }

  #table(relation: TableScan, apart: boolean): readonly Branch[] {
    const groups = groupsOf(newestFirst(this.partsOf(relation.table)));
    return (apart ? withNewestApart(groups) : groups).map(({ single, parts: ofGroup }) => {
      const scan = new PartScan(relation.table, ofGroup, single, this.#newId);
      this.#scans.set(scan.relation.table, scan);
      const places = relation.columns.map(
        ({ column, source }) => [column.id, new StoredPlace(scan, [source], column.type)] as const,
      );
      return { relation: scan.relation, places: new Map(places) };
    });
  }

  #cte(relation: CteScan, scope: Scope, apart: boolean): readonly Branch[] {
    const { cte, columns } = relation;
    if (this.isComputedOnce(cte)) return [{ relation: this.#scanOfComputed(relation), places: NO_PLACES }];
    return this.#branches(cte.query.relation, scope, apart).map((branch) => {
      const inner = [...scope, branch.places];
      const places = new Map<number, Place>();
      const computed: ComputedColumn[] = [];
      for (const { column, source } of columns) {
        const place = placeOfColumn(source, inner);
        if (place !== null) places.set(column.id, place);
        else computed.push({ column, expr: columnRef(source) });
      }
      return { relation: withComputed(branch.relation, computed), places };
    });
  }

  #scanOfComputed({ cte, columns }: CteScan): CteScan {
    let computed = this.#computed.get(cte.id);
    if (computed === undefined) this.#computed.set(cte.id, (computed = { ...cte, query: this.#query(cte.query, []) }));
    const { output } = computed.query;
    const renamed = columns.map(({ column, source }) => ({
      column,
      source: output[cte.query.output.findIndex((o) => o.column.id === source.id)]!.column,
    }));
    return { kind: 'cte', cte: computed, columns: renamed };
  }

  #unnest(scan: UnnestScan, input: Branch, scope: Scope): Branch {
    const inner = [...scope, input.places];
    const keepsList = scan.outer && scan.on !== null;
    const element = keepsList ? null : (this.#placeOf(scan.array, inner)?.element() ?? null);
    if (element === null) {
      const array = this.#expr(scan.array, inner);
      const on = scan.on && this.#expr(scan.on, inner);
      return { relation: { ...scan, input: scan.input && input.relation, array, on }, places: input.places };
    }
    const row = scan.input === null ? new CorrelatedRow(this.#newId) : null;
    const places = new Map([...input.places, [scan.element.id, row === null ? element : row.place(element)]]);
    const offset = scan.offset === null ? [] : [{ column: scan.offset, expr: integer(0, scan.array.span) }];
    const relation = withComputed(row === null ? input.relation : row.relation, offset);
    return { relation: scan.on === null ? relation : this.#filtered(relation, scan.on, [...scope, places]), places };
  }

  /** The place that an expression reads: of a column, a field, or the first element of a list that has no other. */
  #placeOf(expr: Expr, scope: Scope): Place | null {
    if (expr.kind === 'column') return placeOfColumn(expr.column, scope);
    if (expr.kind === 'field') return this.#placeOf(expr.input, scope)?.field(expr.index) ?? null;
    if (!isCall(expr, '$at') && !isCall(expr, '$safe_at')) return null;
    const [list, index] = expr.args;
    if (list === undefined || index?.kind !== 'literal' || index.value !== '0') return null;
    return this.#placeOf(list, scope)?.element() ?? null;
  }

  /** A filter, of which an EXISTS that has become a condition on the row is next to the others. */
  #filtered(input: Relation, written: Expr, scope: Scope): Relation {
    const all = conjuncts(this.#expr(this.#bounding(written, scope), scope));
    const conditions = all.flatMap((condition) => conditionsOnRow(condition));
    const [first] = conditions;
    return first === undefined ? input : { kind: 'filter', input, condition: allOf(conditions, written) };
  }

  /** What is left of a condition without bounds that every row is within: their columns need not be read. */
  #bounding(written: Expr, scope: Scope): Expr {
    const all = conjuncts(written);
    const rest = all.filter((condition) => !this.#alwaysHolds(condition, scope));
    return rest.length === all.length ? written : allOf(rest, written);
  }

  #alwaysHolds(condition: Expr, scope: Scope): boolean {
    const bound = isCall(condition, '$greater_or_equal')
      ? FIRST_INSTANT
      : isCall(condition, '$less_or_equal')
        ? LAST_INSTANT
        : null;
    if (bound === null || condition.kind !== 'call') return false;
    const [value, limit] = condition.args;
    if (limit?.kind !== 'literal' || limit.type.kind !== 'TIMESTAMP' || limit.value !== String(bound)) return false;
    const place = this.#placeOf(value!, scope);
    return place !== null && place.isRequired && place.type.kind === 'TIMESTAMP';
  }

  /** The first rows of all parts are among the first rows of each branch of them. */
  #limit(limit: Limit, scope: Scope): Branch {
    const { input: sort } = limit;
    const most = sort.kind === 'sort' && sort.keys.every(({ expr }) => isPath(expr)) ? mostRows(limit) : null;
    if (sort.kind !== 'sort' || most === null) return this.#above(limit, this.#one(limit.input, scope), scope);
    const branches = this.#firstByTime(sort, scope, most) ?? this.#branches(sort.input, scope, true);
    const sorted = (branch: Branch): Branch => this.#above(sort, branch, scope);
    if (branches.length === 1) return this.#above(limit, sorted(branches[0]!), scope);
    const first = branches.map(sorted).map(({ relation, places }): Branch => {
      return { relation: { kind: 'limit', input: relation, count: most, offset: null }, places };
    });
    return this.#above(limit, sorted(this.#union(first, sort.input)), scope);
  }

  /** Branches of what is sorted by time first, without most rows that are not among the first; null: that is not worth it. */
  #firstByTime({ input, keys: [key] }: Sort, scope: Scope, most: Expr): readonly Branch[] | null {
    // Inside of a subquery its filters may read a row around it, which another subquery in there would be too far from.
    if (scope.length > 0 || !this.#isOverLargeTable(input)) return null;
    const branches = this.#branches(input, scope, false);
    const searched = branches.map((branch): Branch => {
      const place = key === undefined ? null : this.#placeOf(key.expr, [...scope, branch.places]);
      if (key === undefined || place === null || !place.isRequired || place.type.kind !== 'TIMESTAMP') return branch;
      const table = filteredTable(branch.relation);
      if (table === null || !this.#scans.get(table.scan.table)!.isWorthSearching(table.areCheap)) return branch;
      const expr = place.value(key.expr.span);
      if (expr.kind !== 'column') return branch;
      return { ...branch, relation: amongFirst(branch.relation, { ...key, expr }, most) };
    });
    return searched.some((branch, i) => branch !== branches[i]) ? searched : null;
  }

  /** Whether there is nothing but a large table below: what is looked at twice holds no other LIMIT that is. */
  #isOverLargeTable(relation: Relation): boolean {
    switch (relation.kind) {
      case 'table':
        return isLarge(this.partsOf(relation.table));
      case 'filter':
      case 'compute':
        return this.#isOverLargeTable(relation.input);
      case 'unnest':
        return relation.input !== null && this.#isOverLargeTable(relation.input);
      case 'query':
        return this.#isOverLargeTable(relation.query.relation);
      case 'cte':
        return !this.isComputedOnce(relation.cte) && this.#isOverLargeTable(relation.cte.query.relation);
      default:
        return false;
    }
  }

  #expr(expr: Expr, scope: Scope): Expr {
    this.#budget.step();
    const place = this.#placeOf(expr, scope);
    if (place !== null) return place.value(expr.span);
    if (isCall(expr, 'ARRAY_LENGTH') && this.#placeOf(expr.args[0]!, scope)?.element()) return integer(1, expr.span);
    return mapOperands(expr, {
      expr: (operand) => this.#expr(operand, scope),
      query: (query) => this.#query(query, scope),
    });
  }
}

const NO_PLACES: ReadonlyMap<number, Place> = new Map();

function unchanged<T>(part: T): T {
  return part;
}

interface Group {
  readonly single: ReadonlySet<string>;
  readonly parts: readonly Part[];
}

/** A part that grows has the newest rows. */
function newestFirst(parts: readonly Part[]): readonly Part[] {
  const grows = ({ latest }: Part): boolean => latest === null;
  return [...parts].sort((a, b) =>
    grows(a) || grows(b)
      ? Number(grows(b)) - Number(grows(a))
      : a.latest! < b.latest!
        ? 1
        : a.latest! > b.latest!
          ? -1
          : 0,
  );
}

/**
 * The groups with the newest part of the first one by itself: there DuckDB picks rows by their time alone and fetches the rest of
 * them late, which it does not do through a UNION ALL. What it finds there lets it skip most of all others.
 */
function withNewestApart([first, ...others]: readonly Group[]): readonly Group[] {
  if (first === undefined || first.parts.length < 2) return first === undefined ? [] : [first, ...others];
  const { single, parts } = first;
  return [{ single, parts: parts.slice(0, 1) }, { single, parts: parts.slice(1) }, ...others];
}

/**
 * Parts that are read alike: those that store as single what most rows do, and all others, as lists. Two groups at most, so that
 * a query does not become longer with every odd part.
 */
function groupsOf(parts: readonly Part[]): Group[] {
  const largest = parts.reduce((most, part) => (part.rows > most.rows ? part : most));
  const alike = (part: Part): boolean => [...largest.single].every((path) => part.single.has(path));
  const others = parts.filter((part) => !alike(part));
  const groups = [{ single: largest.single, parts: parts.filter(alike) }];
  return others.length === 0 ? groups : [...groups, { single: new Set(), parts: others }];
}

function placeOfColumn({ id }: Column, scope: Scope): Place | null {
  for (let i = scope.length - 1; i >= 0; i--) {
    const place = scope[i]!.get(id);
    if (place !== undefined) return place;
  }
  return null;
}

/** Conditions together, which take the place of one; none: TRUE. */
function allOf(conditions: readonly Expr[], { type, span }: Expr): Expr {
  const [first] = conditions;
  if (first === undefined) return { kind: 'literal', type, value: 'true', span };
  return conditions.length === 1 ? first : called('$and', conditions, type, span);
}

function isCall(expr: Expr, name: string): expr is Extract<Expr, { kind: 'call' }> {
  return expr.kind === 'call' && expr.function === name && !expr.safe;
}

/** Whether an expression is a column or a part of one. */
function isPath(expr: Expr): boolean {
  return expr.kind === 'column' || (expr.kind === 'field' && isPath(expr.input));
}

function integer(value: number, span: Span): Expr {
  return { kind: 'literal', type: { kind: 'INT64' }, value: String(value), span };
}

function withComputed(input: Relation, columns: readonly ComputedColumn[]): Relation {
  return columns.length === 0 ? input : { kind: 'compute', input, columns };
}

/** More rows are not taken of each part: they are as many as it has. */
const MOST_FIRST = 100_000n;

/** How many rows a LIMIT reads at most; null: many, or not known from the text. */
function mostRows({ count, offset }: Limit): Expr | null {
  if (count.kind === 'parameter' && offset === null) return count;
  if (count.kind !== 'literal' || (offset !== null && offset.kind !== 'literal')) return null;
  const most = BigInt(count.value ?? '0') + BigInt(offset?.value ?? '0');
  return most > MOST_FIRST ? null : { ...count, value: String(most) };
}

/** What holds where `EXISTS (SELECT ... WHERE ...)` of one row does; any other condition is itself. */
function conditionsOnRow(condition: Expr): readonly Expr[] {
  if (condition.kind !== 'subquery' || condition.mode !== 'exists') return [condition];
  return conditionsOf(condition.query.relation) ?? [condition];
}

/** The conditions of a relation of one row, which it has where they hold; null: it reads others. */
function conditionsOf(relation: Relation, computed = new Map<number, Expr>()): readonly Expr[] | null {
  if (relation.kind === 'single_row') return [];
  if (relation.kind !== 'filter' && relation.kind !== 'compute') return null;
  const before = conditionsOf(relation.input, computed);
  if (before === null) return null;
  const onRow = (expr: Expr): Expr =>
    replacing((part) => (part.kind === 'column' ? computed.get(part.column.id) : undefined)).expr(expr);
  if (relation.kind === 'filter') return [...before, ...conjuncts(onRow(relation.condition))];
  for (const { column, expr } of relation.columns) computed.set(column.id, onRow(expr));
  return before;
}

function readsTables(expr: Expr): boolean {
  let reads = false;
  const visitor = {
    relation: (relation: Relation): void => {
      reads ||= relation.kind === 'table' || relation.kind === 'cte';
    },
  };
  const pending = [expr];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'subquery') visitQuery(next.query, visitor);
    mapOperands(next, { expr: (operand) => (pending.push(operand), operand), query: unchanged });
  }
  return reads;
}
