/**
 * The rows that a caller may see, as tables of their own (docs/decisions/fence.md).
 *
 * What DuckDB evaluates, on which rows and in which order, it decides by all rows that it reads. So behind the fence a query that can fail is
 * run in two steps: the rows that the stored query shows are written into temporary tables, and all that can fail is computed over these.
 */
import {
  columnsRead,
  type ScalarName,
  type Aggregate,
  type AggregateCall,
  type Column,
  type ComputedColumn,
  type Cte,
  type CteScan,
  type Expr,
  type JoinRelation,
  type Relation,
  type ResolvedQuery,
  called,
  NO_SPAN,
  columnRef,
  queryOf,
  callExpressions,
  mapOperands,
  mapRelation,
  queriesOf,
  relationsBelow,
  replacing,
  visitQuery,
  type Mapping,
  visibleColumns,
  aggregateFailsItself,
  failsItself,
} from '@logquay/googlesql';
import type { Span } from '@logquay/googlesql/syntax';
import type { SqlType } from '@logquay/googlesql/types';
import { aggregateRow } from '../functions/aggregate-functions';
import { isClosed, outerColumns, outerColumnsOf } from './ctes';
import { conjuncts } from './subquery-lists';

export interface OwnRows {
  /** The query over the tables, which are among its CTEs. */
  readonly query: ResolvedQuery;
  readonly isTable: (cte: Cte) => boolean;
  /** Whether it is one of the first step. */
  readonly isFirst: (cte: Cte) => boolean;
  /** Whether the answer may depend on the order of the tables' rows. */
  readonly readsOrder: boolean;
  /** Whether what a CTE computes, or all but the CTEs, can fail. */
  readonly canFail: (cte: Cte | null) => boolean;
}

/**
 * @param consumer place of the caller's own text; null: all of it is the stored query's
 * @param printed expressions that can fail as they are printed
 * @returns null: nothing can fail
 */
export function withOwnRows(query: ResolvedQuery, consumer: Span | null, printed: ReadonlySet<Expr>): OwnRows | null {
  const separation = new Separation(query, consumer, printed);
  if (!separation.isNeeded) return null;
  const { relation, made, tables, first } = separation.result();
  const isTable = ({ id }: Cte): boolean => tables.has(id);
  const isFirst = ({ id }: Cte): boolean => first.has(id);
  const others = made.filter((cte) => !isTable(cte)).map((cte) => cte.query);
  const readsOrder =
    !isFreeOfOrder(withoutCut({ ...query, ctes: [], relation })) || !others.every((one) => isFreeOfOrder(one));
  const reached = new Set<Cte>();
  for (const cte of made) if (isTable(cte)) addReached(cte.query, reached);
  const separated = { ...query, ctes: [...[...reached].filter((cte) => !made.includes(cte)), ...made], relation };
  const canFail = (cte: Cte | null): boolean => cte === null || (!isFirst(cte) && made.some(({ id }) => id === cte.id));
  return { query: withFieldsRead(separated, isTable), isTable, isFirst, readsOrder, canFail };
}

class Separation {
  /** Tables, and CTEs of the consumer over them, each behind what it reads. */
  readonly #made: Cte[] = [];
  readonly #tables = new Set<number>();
  /** Tables that nothing which can fail is computed for. */
  readonly #first = new Set<number>();
  /** CTEs of the consumer that are read more than once, as they have become. */
  readonly #shared = new Map<Cte, Cte>();
  readonly #reads = new Map<number, number>();
  /** Places of expressions that can fail as they are printed, of which some were rewritten before. */
  readonly #failing = new Set<string>();
  /** Places in conditions of the stored query that read a parameter: which rows are the caller's, they decide. */
  readonly #pins = new Set<string>();
  readonly #areFailing = new WeakMap<Relation, boolean>();
  readonly #areFirst = new WeakMap<Relation, boolean>();
  readonly #hidden = new WeakSet<Expr>();
  #lastId = 0;

  constructor(
    private readonly query: ResolvedQuery,
    private readonly consumer: Span | null,
    printed: ReadonlySet<Expr>,
  ) {
    visitQuery(query, {
      relation: (relation) => {
        this.#notePins(relation);
        if (relation.kind !== 'cte') return;
        const { id } = relation.cte;
        this.#lastId = Math.max(this.#lastId, id);
        this.#reads.set(id, (this.#reads.get(id) ?? 0) + 1);
      },
    });
    for (const expr of printed) if (!this.#isTheAuthors(expr)) this.#failing.add(placeOf(expr));
  }

  #notePins(relation: Relation): void {
    const condition = relation.kind === 'filter' ? relation.condition : 'on' in relation ? relation.on : null;
    for (const one of condition === null ? [] : conjuncts(condition)) {
      if (this.#isConsumers(one.span)) continue;
      const parts: Expr[] = [];
      visitQuery(queryOf(conditionOf(one)), { expr: (expr) => void parts.push(expr) });
      if (parts.some(({ kind }) => kind === 'parameter')) for (const part of parts) this.#pins.add(placeOf(part));
    }
  }

  /** Columns that nothing reads are not printed. */
  get isNeeded(): boolean {
    return this.#failing.size > 0 || relationsBelow(this.query).some(aggregatesFail);
  }

  result(): { relation: Relation; made: readonly Cte[]; tables: ReadonlySet<number>; first: ReadonlySet<number> } {
    const relation = this.#over(this.query.relation, []);
    return { relation, made: this.#made, tables: this.#tables, first: this.#first };
  }

  /**
   * A relation over tables.
   *
   * @param conditions that its rows have to hold, each of which goes into it
   */
  #over(relation: Relation, conditions: readonly Expr[]): Relation {
    if (!readsRows(relation)) return relation;
    if (this.#isFirst(relation)) {
      const table = this.#table(filtered(relation, conditions));
      this.#first.add(table.cte.id);
      return table;
    }
    switch (relation.kind) {
      case 'filter': {
        const all = [...conjuncts(relation.condition), ...conditions];
        const below = all.filter((condition) => this.#goesInto(condition, relation.input));
        const above = all.filter((condition) => !below.includes(condition)).map(this.#expr);
        return filtered(this.#over(relation.input, below), above);
      }
      case 'join':
        return this.#join(relation, conditions);
      case 'query':
        return { ...relation, query: this.#subquery(relation.query, conditions) };
      case 'cte':
        return this.#cte(relation, conditions);
      default:
        return mapRelation(relation, this.#operator(conditions));
    }
  }

  /** @param below conditions of its input */
  #operator(below: readonly Expr[]): Mapping {
    return {
      expr: this.#expr,
      relation: (input) => this.#over(input, below),
      query: (query) => this.#subquery(query),
    };
  }

  #subquery(query: ResolvedQuery, conditions: readonly Expr[] = []): ResolvedQuery {
    return { ...query, ctes: [], relation: this.#over(query.relation, conditions) };
  }

  /** Whether a relation is computed into a table: it reads rows, cannot fail, and gives the same rows in whatever order those lie. */
  #isFirst(relation: Relation): boolean {
    let isFirst = this.#areFirst.get(relation);
    if (isFirst === undefined) {
      const query = queryOf(relation);
      isFirst = readsRows(relation) && !this.#canFail(relation) && this.#isFreeOfOrder(query) && isClosed(query);
      this.#areFirst.set(relation, isFirst);
    }
    return isFirst;
  }

  #isFreeOfOrder(query: ResolvedQuery): boolean {
    return isFreeOfOrder(query, (cte) => this.#isStored(cte) || this.#isFreeOfOrder(cte.query));
  }

  /** The rows of a CTE of the stored query are all that is known of it: where it can fail, too, they are a table before anything reads them. */
  #cte(scan: CteScan, conditions: readonly Expr[]): Relation {
    const { cte, columns } = scan;
    if (this.#isShared(cte)) {
      let shared = this.#shared.get(cte);
      if (shared === undefined) {
        shared = { ...cte, query: this.#subquery(cte.query) };
        this.#shared.set(cte, shared);
        this.#made.push(shared);
      }
      return { ...scan, cte: shared };
    }
    const query = this.#subquery(
      cte.query,
      conditions.map((condition) => ofSources(condition, scan)),
    );
    const rows: Relation = { kind: 'query', query };
    const computed = columns.map(({ column, source }) => ({ column, expr: columnRef(source) }));
    const input = this.#isStored(cte) && !this.#hasRowsOfTable(query.relation) ? this.#table(rows) : rows;
    return { kind: 'compute', input, columns: computed };
  }

  /** Whether there is a row for each row of a table. */
  #hasRowsOfTable(relation: Relation): boolean {
    if (relation.kind === 'compute') return this.#hasRowsOfTable(relation.input);
    if (relation.kind === 'query') return this.#hasRowsOfTable(relation.query.relation);
    return relation.kind === 'cte' && this.#tables.has(relation.cte.id);
  }

  readonly #expr = (expr: Expr): Expr => mapOperands(expr, { expr: this.#expr, query: this.#inner });

  /**
   * A subquery that can fail, whose equalities with columns of the row around it are not seen as such. DuckDB else evaluates it on
   * all rows that it reads, not on those alone that belong to a row around it.
   */
  readonly #inner = (written: ResolvedQuery): ResolvedQuery => {
    if (!readsRows(written.relation)) return written;
    const query = this.#subquery(written);
    if (!this.#canFail(query.relation)) return query;
    const outer = outerColumns(query);
    return replacing((part) => {
      if (this.#hidden.has(part)) return part;
      if (part.kind !== 'column' || !outer.has(part.column.id) || ['ARRAY', 'STRUCT'].includes(part.type.kind))
        return undefined;
      const hidden = callOf('COALESCE', [part, part], part);
      this.#hidden.add(hidden);
      return hidden;
    }).query(query);
  };

  #join(join: JoinRelation, conditions: readonly Expr[]): Relation {
    const ofSides = filteredSides(join).map((side) => ({
      side,
      below: conditions.filter((condition) => this.#goesInto(condition, side)),
    }));
    const over = (side: Relation): Relation => this.#over(side, ofSides.find((one) => one.side === side)?.below ?? []);
    const joined: Relation = {
      ...join,
      left: over(join.left),
      right: over(join.right),
      on: join.on && this.#expr(join.on),
    };
    return filtered(
      joined,
      conditions.filter((condition) => !ofSides.some(({ below }) => below.includes(condition))),
    );
  }

  /**
   * Whether a condition leaves rows out before anything else is evaluated: in a table, or by how rows are joined. Any other is evaluated
   * where it is written.
   */
  #goesInto(condition: Expr, input: Relation): boolean {
    const asRelation = conditionOf(condition);
    if (this.#canFail(asRelation) || readsRows(asRelation)) return false;
    const columns = new Set(visibleColumns(input).map(({ id }) => id));
    if (![...outerColumnsOf(condition)].every((id) => columns.has(id))) return false;
    if (this.#isFirst(input)) return true;
    switch (input.kind) {
      case 'filter':
      case 'compute':
      case 'sort':
        return this.#goesInto(condition, input.input);
      case 'unnest':
        return input.input !== null && this.#goesInto(condition, input.input);
      case 'query':
        return this.#goesInto(condition, input.query.relation);
      case 'cte':
        return !this.#isShared(input.cte) && this.#goesInto(ofSources(condition, input), input.cte.query.relation);
      case 'join':
        if (filteredSides(input).some((side) => this.#goesInto(condition, side))) return true;
        return input.type === 'inner' && condition.kind === 'call' && condition.function === '$equal';
      default:
        return false;
    }
  }

  #table(relation: Relation): CteScan {
    const query = queryOf(relation, ...visibleColumns(relation));
    const cte: Cte = { id: ++this.#lastId, name: 'own rows', span: NO_SPAN, query };
    this.#tables.add(cte.id);
    this.#made.push(cte);
    return { kind: 'cte', cte, columns: query.output.map(({ column }) => ({ column, source: column })) };
  }

  #isShared(cte: Cte): boolean {
    return !this.#isStored(cte) && (this.#reads.get(cte.id) ?? 0) > 1;
  }

  #isStored({ span }: Cte): boolean {
    return !this.#isConsumers(span);
  }

  /** Whether anything that a relation evaluates may fail on some row. */
  #canFail(relation: Relation): boolean {
    const known = this.#areFailing.get(relation);
    if (known !== undefined) return known;
    let fails = false;
    visitQuery(queryOf(relation), {
      relation: (one) => {
        if (one.kind === 'cte') fails ||= !this.#tables.has(one.cte.id) && this.#canFail(one.cte.query.relation);
        fails ||= aggregatesFail(one);
      },
      expr: (expr) => {
        fails ||= (failsItself(expr) && !this.#isTheAuthors(expr)) || this.#failing.has(placeOf(expr));
      },
    });
    this.#areFailing.set(relation, fails);
    return fails;
  }

  /**
   * Whether an expression of the stored query may fail before the caller's rows are known: in a condition that finds them by a parameter, or
   * computed of parameters alone, for every row or for none.
   */
  #isTheAuthors(expr: Expr): boolean {
    if (this.#isConsumers(expr.span)) return false;
    return this.#pins.has(placeOf(expr)) || (expr.kind !== 'subquery' && columnsRead([expr]).size === 0);
  }

  #isConsumers({ start }: Span): boolean {
    const { consumer } = this;
    return consumer !== null && start >= consumer.start && start < consumer.end;
  }
}

const placeOf = ({ kind, span }: Expr): string => `${kind} ${span.start}-${span.end}`;

const conditionsAlone = new WeakMap<Expr, Relation>();

/** A relation that evaluates an expression, to look at that as one looks at relations. */
function conditionOf(condition: Expr): Relation {
  let relation = conditionsAlone.get(condition);
  if (relation === undefined) {
    relation = { kind: 'filter', input: { kind: 'single_row' }, condition };
    conditionsAlone.set(condition, relation);
  }
  return relation;
}

function filtered(input: Relation, conditions: readonly Expr[]): Relation {
  const [first] = conditions;
  if (first === undefined) return input;
  return { kind: 'filter', input, condition: conditions.length === 1 ? first : callOf('$and', conditions, first) };
}

/** @param like has its type and place */
function callOf(name: ScalarName, args: readonly Expr[], { type, span }: Expr): Expr {
  return called(name, args, type, span);
}

/** A condition of a CTE's scan as one of the CTE's own rows. */
function ofSources(condition: Expr, { columns }: CteScan): Expr {
  const sources = new Map(columns.map(({ column, source }) => [column.id, source]));
  return replacing((part) => {
    const source = part.kind === 'column' ? sources.get(part.column.id) : undefined;
    return source && columnRef(source);
  }).expr(condition);
}

/** Sides of a join whose rows it does not keep in any case. */
function filteredSides({ type, left, right }: JoinRelation): readonly Relation[] {
  return [
    ...(type === 'inner' || type === 'left' ? [left] : []),
    ...(type === 'inner' || type === 'right' ? [right] : []),
  ];
}

/** DuckDB bounds what an aggregate gathers by its memory alone. */
function aggregatesFail(relation: Relation): boolean {
  if (relation.kind === 'aggregate') return relation.aggregates.some(({ call }) => aggregateFailsItself(call, false));
  return relation.kind === 'window' && relation.functions.some(({ call }) => aggregateFailsItself(call.call, false));
}

/** Whether it reads a table, through CTEs too. */
function readsRows(relation: Relation): boolean {
  let reads = reading.get(relation);
  if (reads !== undefined) return reads;
  reads = false;
  visitQuery(queryOf(relation), {
    relation: (one) => {
      reads ||= one.kind === 'table' || (one.kind === 'cte' && readsRows(one.cte.query.relation));
    },
  });
  reading.set(relation, reads);
  return reads;
}

const reading = new WeakMap<Relation, boolean>();

/** A query without the LIMIT that ends it: which rows that cuts off decides on an error only where a value of a row cannot be written. */
function withoutCut(query: ResolvedQuery): ResolvedQuery {
  let { relation } = query;
  while (relation.kind === 'limit' && query.output.every(({ column }) => !holdsArray(column.type))) {
    relation = relation.input;
  }
  return { ...query, relation };
}

/**
 * Whether a query gives the same rows whatever the order of what it reads.
 *
 * @param ofCte whether a CTE does
 */
function isFreeOfOrder(query: ResolvedQuery, ofCte = (_cte: Cte): boolean => true): boolean {
  let isFree = true;
  visitQuery(query, {
    relation: (one) => {
      switch (one.kind) {
        case 'aggregate':
          isFree &&= isAggregateFreeOfOrder(one);
          break;
        case 'cte':
          isFree &&= ofCte(one.cte);
          break;
        case 'join':
        case 'limit':
        case 'set':
        case 'window':
          isFree = false;
          break;
        default:
      }
    },
  });
  return isFree;
}

function isAggregateFreeOfOrder({ keys, aggregates }: Aggregate): boolean {
  const isFree = (call: AggregateCall): boolean =>
    aggregateRow(call).isFreeOfOrder &&
    callExpressions(call).length === call.args.length &&
    call.args.every(({ type }) => type.kind !== 'FLOAT64');
  return keys.every(({ expr }) => expr.type.kind !== 'FLOAT64') && aggregates.every(({ call }) => isFree(call));
}

function holdsArray(type: SqlType): boolean {
  return type.kind === 'ARRAY' || (type.kind === 'STRUCT' && type.fields.some((field) => holdsArray(field.type)));
}

/** Adds the CTEs that a query reads and does not define, each behind what it reads. */
function addReached(query: ResolvedQuery, into: Set<Cte>): void {
  const read = new Set<Cte>();
  const own = new Set<Cte>();
  const note = ({ ctes }: ResolvedQuery): void => ctes.forEach((cte) => own.add(cte));
  note(query);
  visitQuery(query, {
    relation: (relation) => {
      if (relation.kind === 'cte') read.add(relation.cte);
      queriesOf(relation).forEach(note);
    },
    expr: (expr) => {
      if (expr.kind === 'subquery') note(expr.query);
    },
  });
  for (const cte of read) {
    if (own.has(cte) || into.has(cte)) continue;
    addReached(cte.query, into);
    into.add(cte);
  }
}

/** Beyond the columns of queries, and before those of `Context`. */
const FIRST_FIELD = 1_000_000_000;

/** Of a record that is read in part the tables have those fields alone, as columns of their own. */
function withFieldsRead(query: ResolvedQuery, isTable: (cte: Cte) => boolean): ResolvedQuery {
  const fields = new Map<number, Map<string, ComputedColumn>>();
  let lastId = FIRST_FIELD;
  /** Columns of the tables that the query around reads by itself. */
  let scanned: ReadonlySet<number> = new Set();
  const whole = (one: ResolvedQuery): ResolvedQuery => {
    const before = scanned;
    scanned = columnsOfTables(one, isTable);
    const mapped = mapQuery(one);
    scanned = before;
    return mapped;
  };
  const fieldsOf = (columns: readonly Column[]): ComputedColumn[] =>
    columns.flatMap(({ id }) => [...(fields.get(id)?.values() ?? [])]);
  const fieldOf = (part: Expr): Expr | null => {
    const path = pathOf(part);
    if (path === null || path.steps === '' || !scanned.has(path.column.id)) return null;
    const ofColumn = fields.get(path.column.id) ?? new Map<string, ComputedColumn>();
    fields.set(path.column.id, ofColumn);
    const field = ofColumn.get(path.steps) ?? { column: { id: ++lastId, name: '', type: part.type }, expr: part };
    ofColumn.set(path.steps, field);
    return columnRef(field.column);
  };
  const made = new Map<Cte, Cte>();
  const cteOf = (cte: Cte): Cte => {
    const known = made.get(cte) ?? {
      ...cte,
      query: isTable(cte) ? withOutput(whole(cte.query)) : whole(cte.query),
    };
    made.set(cte, known);
    return known;
  };
  /** With those fields of its columns too that something above reads. */
  const withOutput = (shown: ResolvedQuery): ResolvedQuery => {
    const { relation, output } = shown;
    const wanted = fieldsOf(output.map(({ column }) => column));
    const visible = new Set(visibleColumns(relation));
    const columns = wanted.filter(({ column }) => !visible.has(column));
    return {
      ...shown,
      relation: columns.length === 0 ? relation : { kind: 'compute', input: relation, columns },
      output: [...output, ...wanted.map(({ column }) => ({ name: null, column }))],
    };
  };
  const mapQuery = (one: ResolvedQuery): ResolvedQuery => ({ ...one, relation: mapping.relation(one.relation) });
  const mapping: Mapping = {
    expr: (part) => fieldOf(part) ?? mapOperands(part, mapping),
    query: mapQuery,
    relation: (relation) => {
      if (relation.kind === 'query') return { ...relation, query: withOutput(mapQuery(relation.query)) };
      if (relation.kind !== 'cte') return mapRelation(relation, mapping);
      const more = isTable(relation.cte) ? fieldsOf(relation.columns.map(({ column }) => column)) : [];
      const columns = [...relation.columns, ...more.map(({ column }) => ({ column, source: column }))];
      return { ...relation, cte: cteOf(relation.cte), columns };
    },
  };
  // Once to find them all.
  query.ctes.forEach(cteOf);
  whole({ ...query, ctes: [] });
  made.clear();
  return { ...whole({ ...query, ctes: [] }), ctes: query.ctes.map(cteOf) };
}

function columnsOfTables(query: ResolvedQuery, isTable: (cte: Cte) => boolean): ReadonlySet<number> {
  const columns = new Set<number>();
  visitQuery(query, {
    relation: (relation) => {
      if (relation.kind === 'cte' && isTable(relation.cte)) relation.columns.forEach((c) => columns.add(c.column.id));
    },
  });
  return columns;
}

/** A column and the way to a part of it that is always there, or NULL; null: the expression is something else. */
function pathOf(expr: Expr): { readonly column: Column; readonly steps: string } | null {
  if (expr.kind === 'column') return { column: expr.column, steps: '' };
  if (expr.kind === 'field') {
    const input = pathOf(expr.input);
    return input && { ...input, steps: `${input.steps}.${expr.index}` };
  }
  if (expr.kind !== 'call' || expr.function !== '$safe_at' || expr.safe) return null;
  const [list, index] = expr.args;
  const input = list === undefined || index?.kind !== 'literal' ? null : pathOf(list);
  return input && { ...input, steps: `${input.steps}[${String((index as { value: unknown }).value)}]` };
}
