/**
 * Collations, written out. The resolved tree says where a text is given one (`COLLATE(x, 'und:ci')`) and not where that counts.
 * Here each text's collation is found by GoogleSQL's rules of propagation; the calls are taken away, and put where values are
 * compared, grouped or sorted: there `COLLATE` stands for the key by which that is done.
 */
import type {
  Aggregate,
  AggregateCall,
  Column,
  ComputedColumn,
  Cte,
  Expr,
  FunctionCall,
  Relation,
  ResolvedCase,
  ResolvedQuery,
  SetRelation,
  SortKey,
  SubqueryExpr,
  WindowCall,
} from '../../../../googlesql/resolved';
import { mapRelation, visitQuery } from '../../../../googlesql/resolved-walk';
import type { SqlType } from '../../../../googlesql/types';
import { adapted, type Collation, ofParts, partOf } from './collation';
import { callOf, type Collated, columnRef, isKeyed, keyOf, mergedOf, nameOfCollation, plain, refuse } from './keys';
import { COMPARISONS, FIRST_ALONE, HANDING_ON, LOSING, REFUSED, REJECTING } from './rules';
import { checkRejected, refuseFunction } from './refusals';

/** @throws QueryError for what BigQuery refuses of texts with a collation, and what is not reproduced here */
export function withCollations(query: ResolvedQuery): ResolvedQuery {
  let found = false;
  visitQuery(query, { expr: (expr) => (found ||= expr.kind === 'call' && expr.function === 'COLLATE') });
  return found ? new Writer().query(query) : query;
}

/** Above those of a query, and below those that its translation makes. */
const FIRST_COLUMN = 1_000_000_000;

class Writer {
  readonly #columns = new Map<number, Collation>();
  readonly #ctes = new Map<Cte, Cte>();
  #lastColumn = FIRST_COLUMN;

  query(query: ResolvedQuery): ResolvedQuery {
    const ctes = query.ctes.map((cte) => this.#cte(cte));
    return { ...query, ctes, relation: this.#relation(query.relation) };
  }

  #cte(cte: Cte): Cte {
    let known = this.#ctes.get(cte);
    if (known === undefined) this.#ctes.set(cte, (known = { ...cte, query: this.query(cte.query) }));
    return known;
  }

  #column(type: SqlType): Column {
    return { id: this.#lastColumn++, name: '', type };
  }

  #of({ id }: Column): Collation {
    return this.#columns.get(id) ?? null;
  }

  #set({ id }: Column, collation: Collation): void {
    if (collation !== null) this.#columns.set(id, collation);
  }

  // -------------------------------------------------------------------------------------- relations

  #relation(relation: Relation): Relation {
    switch (relation.kind) {
      case 'cte': {
        const cte = this.#cte(relation.cte);
        for (const { column, source } of relation.columns) this.#set(column, this.#of(source));
        return { ...relation, cte };
      }
      case 'unnest': {
        const input = relation.input && this.#relation(relation.input);
        const array = this.#expr(relation.array);
        this.#set(relation.element, partOf(array.collation, 0));
        return { ...relation, input, array: array.expr, on: relation.on && this.#expr(relation.on).expr };
      }
      case 'compute': {
        const input = this.#relation(relation.input);
        const columns = relation.columns.map(({ column, expr }) => {
          const value = this.#expr(expr);
          this.#set(column, value.collation);
          return { column, expr: value.expr };
        });
        return { ...relation, input, columns };
      }
      case 'aggregate':
        return this.#aggregate({ ...relation, input: this.#relation(relation.input) });
      case 'window': {
        const input = this.#relation(relation.input);
        const functions = relation.functions.map(({ column, call }) => {
          const value = this.#window(call);
          this.#set(column, value.collation);
          return { column, call: value.call };
        });
        return { ...relation, input, functions };
      }
      case 'sort':
        return {
          ...relation,
          input: this.#relation(relation.input),
          keys: relation.keys.map((key) => this.#sortKey(key)),
        };
      case 'set':
        return this.#setOperation({ ...relation, inputs: relation.inputs.map((input) => this.query(input)) });
      default:
        return mapRelation(relation, {
          expr: (expr) => this.#expr(expr).expr,
          relation: (input) => this.#relation(input),
          query: (query) => this.query(query),
        });
    }
  }

  #sortKey(key: SortKey): SortKey {
    return { ...key, expr: this.#key(key.expr) };
  }

  #key(expr: Expr): Expr {
    const value = this.#expr(expr);
    return keyOf(value, value.collation);
  }

  /** Groups by keys of their texts; of those that are equal a group shows the least. */
  #aggregate(relation: Aggregate): Relation {
    const sets = relation.groupingSets;
    const computed: ComputedColumn[] = [];
    const shown: ComputedColumn[] = [];
    const more: Aggregate['aggregates'][number][] = [];
    const keyOfColumn = new Map<number, Column>();
    const keys = relation.keys.map(({ column, expr }) => {
      const value = this.#expr(expr);
      this.#set(column, value.collation);
      if (!isKeyed(value.collation)) return { column, expr: value.expr };
      const text = value.expr.kind === 'column' ? value.expr.column : this.#column(expr.type);
      if (value.expr.kind !== 'column') computed.push({ column: text, expr: value.expr });
      const { span } = expr;
      const key = this.#column({ kind: 'STRING' });
      keyOfColumn.set(column.id, key);
      const least = sets === null ? column : this.#column(expr.type);
      more.push({ column: least, call: callOf('MIN', [columnRef(text, span)], expr.type, span) });
      if (sets !== null) {
        // NULL where the grouping has no such key.
        const left = this.#column({ kind: 'INT64' });
        more.push({ column: left, call: callOf('GROUPING', [columnRef(key, span)], left.type, span) });
        const nought: Expr = { kind: 'literal', type: left.type, value: '0', span };
        const isThere = plain('$equal', [columnRef(left, span), nought], { kind: 'BOOL' }, span);
        const whens = [{ when: isThere, then: columnRef(least, span) }];
        shown.push({ column, expr: { kind: 'case', operand: null, whens, else: null, type: expr.type, span } });
      }
      return { column: key, expr: keyOf({ expr: columnRef(text, span) }, value.collation) };
    });
    const aggregates = relation.aggregates.map(({ column, call }) => {
      const value = this.#call(call);
      this.#set(column, value.collation);
      if (call.function !== 'GROUPING') return { column, call: value.call };
      const renamed = (arg: Expr): Expr => {
        const key = arg.kind === 'column' ? keyOfColumn.get(arg.column.id) : undefined;
        return key === undefined ? arg : columnRef(key, arg.span);
      };
      return { column, call: { ...value.call, args: value.call.args.map(renamed) } };
    });
    const input: Relation =
      computed.length === 0 ? relation.input : { kind: 'compute', input: relation.input, columns: computed };
    const grouped: Aggregate = { ...relation, input, keys, aggregates: [...aggregates, ...more] };
    return shown.length === 0 ? grouped : { kind: 'compute', input: grouped, columns: shown };
  }

  #setOperation(relation: SetRelation): Relation {
    const { operator, distinct, inputs, columns } = relation;
    const span = { start: 0, end: 0 };
    const collations = columns.map((column, i) => {
      const values = inputs.map(({ output }): Collated => {
        const source = output[i]!.column;
        return { expr: columnRef(source, span), collation: this.#of(source) };
      });
      const collation = mergedOf(values);
      this.#set(column, collation);
      return collation;
    });
    if (!distinct || !collations.some(isKeyed)) return relation;
    if (operator !== 'union')
      return refuse(
        `${operator.toUpperCase()} DISTINCT of texts that have a collation`,
        span,
        'IN (SELECT ...) in WHERE',
      );
    const all = columns.map(({ type }) => this.#column(type));
    const keys = columns.map((column, i) => ({ column, expr: columnRef(all[i]!, span) }));
    all.forEach((column, i) => this.#set(column, collations[i] ?? null));
    return this.#aggregate({
      kind: 'aggregate',
      input: { ...relation, distinct: false, columns: all },
      keys,
      groupingSets: null,
      aggregates: [],
    });
  }

  // ------------------------------------------------------------------------ aggregates and windows

  #window(window: WindowCall): { readonly call: WindowCall; readonly collation: Collation } {
    const { call, collation } = this.#call(window.call);
    const partitionBy = window.partitionBy.map((expr) => this.#key(expr));
    const orderBy = window.orderBy.map((key) => this.#sortKey(key));
    return { call: { ...window, call, partitionBy, orderBy }, collation };
  }

  #call(call: AggregateCall): { readonly call: AggregateCall; readonly collation: Collation } {
    const args = call.args.map((arg) => this.#expr(arg));
    const written: AggregateCall = {
      ...call,
      args: args.map(({ expr }) => expr),
      having: call.having && { ...call.having, expr: this.#extreme(call.having) },
      orderBy: call.orderBy.map((key) => this.#sortKey(key)),
    };
    const name = call.function;
    if (args.every(({ collation }) => collation === null)) return { call: written, collation: null };
    if (REJECTING.has(name)) checkRejected(args, call.span);
    if (!args.some(({ collation }) => isKeyed(collation)) && name !== 'MIN' && name !== 'MAX' && !HANDING_ON.has(name))
      return { call: written, collation: null };
    const keyed = args.map((arg) => keyOf(arg, arg.collation));
    const [first, second] = args;
    switch (name) {
      case 'COUNT':
      case 'APPROX_COUNT_DISTINCT':
        return { call: call.distinct || name !== 'COUNT' ? { ...written, args: keyed } : written, collation: null };
      case 'MIN':
      case 'MAX': {
        const { collation } = first!;
        if (!isKeyed(collation)) return { call: written, collation };
        const by: AggregateCall = {
          ...written,
          function: `${name}_BY`,
          args: [first!.expr, keyed[0]!],
          distinct: false,
        };
        return { call: by, collation };
      }
      case 'MIN_BY':
      case 'MAX_BY':
        if (isKeyed(second!.collation)) return refuseFunction(name, call.span);
        return { call: written, collation: first!.collation };
    }
    if (!HANDING_ON.has(name)) return refuseFunction(name, call.span);
    if (call.distinct && name !== 'ANY_VALUE')
      return refuse(
        `${name} with DISTINCT of texts that have a collation`,
        call.span,
        'SELECT DISTINCT in a subquery below it',
      );
    return { call: written, collation: this.#handedOn(name, args, call.type, call.span) };
  }

  /** Google's reference takes the order of code points there, and BigQuery's documents say nothing of it. */
  #extreme({ kind, expr }: NonNullable<AggregateCall['having']>): Expr {
    const value = this.#expr(expr);
    if (!isKeyed(value.collation)) return value.expr;
    const what = `HAVING ${kind.toUpperCase()} of a text with a collation`;
    return refuse(what, expr.span, `HAVING ${kind.toUpperCase()} COLLATE(x, '')`);
  }

  #handedOn(name: string, args: readonly Collated[], type: SqlType, span: Expr['span']): Collation {
    const given = args.map(({ expr, collation }): Collated => {
      const become = adapted(collation, expr.type, type);
      return become === undefined ? refuseFunction(name, span) : { expr, collation: become };
    });
    return mergedOf(given, name);
  }

  // ------------------------------------------------------------------------------------ expressions

  #expr(expr: Expr): Collated {
    switch (expr.kind) {
      case 'literal':
      case 'parameter':
        return { expr, collation: null };
      case 'column':
        return { expr, collation: this.#of(expr.column) };
      case 'field': {
        const input = this.#expr(expr.input);
        return { expr: { ...expr, input: input.expr }, collation: partOf(input.collation, expr.index) };
      }
      case 'call':
        return this.#function(expr);
      case 'cast': {
        const input = this.#expr(expr.input);
        if (input.collation !== null && typeof input.collation !== 'string')
          return refuse('CAST of a value with texts that have a collation', expr.span, "COLLATE(x, '') of each text");
        const format = expr.format && this.#expr(expr.format).expr;
        const timeZone = expr.timeZone && this.#expr(expr.timeZone).expr;
        return { expr: { ...expr, input: input.expr, format, timeZone }, collation: null };
      }
      case 'case':
        return this.#case(expr);
      case 'make_array': {
        const elements = expr.elements.map((element) => this.#expr(element));
        return { expr: { ...expr, elements: elements.map((e) => e.expr) }, collation: ofParts([mergedOf(elements)]) };
      }
      case 'make_struct': {
        const fields = expr.fields.map((field) => this.#expr(field));
        return {
          expr: { ...expr, fields: fields.map((f) => f.expr) },
          collation: ofParts(fields.map((f) => f.collation)),
        };
      }
      case 'subquery':
        return this.#subquery(expr);
    }
  }

  #case(expr: ResolvedCase): Collated {
    const operand = expr.operand && this.#expr(expr.operand);
    const whens = expr.whens.map(({ when, then }) => ({ when: this.#expr(when), then: this.#expr(then) }));
    const otherwise = expr.else && this.#expr(expr.else);
    const results = whens.map(({ then }) => then);
    const compared = operand === null ? null : mergedOf([operand, ...whens.map(({ when }) => when)], 'CASE');
    return {
      expr: {
        ...expr,
        operand: operand && keyOf(operand, compared),
        whens: whens.map(({ when, then }) => ({ when: keyOf(when, compared), then: then.expr })),
        else: otherwise && otherwise.expr,
      },
      collation: mergedOf(otherwise === null ? results : [...results, otherwise], 'CASE'),
    };
  }

  #subquery(expr: SubqueryExpr): Collated {
    const operand = expr.operand && this.#expr(expr.operand);
    const query = this.query(expr.query);
    const written = { ...expr, operand: operand && operand.expr, query };
    const output = query.output[0]?.column;
    if (output === undefined || expr.mode === 'exists') return { expr: written, collation: null };
    const found: Collated = { expr: columnRef(output, expr.span), collation: this.#of(output) };
    if (expr.mode === 'scalar') return { expr: written, collation: found.collation };
    if (operand === null) return { expr: written, collation: ofParts([found.collation]) };
    const compared = mergedOf([operand, found], 'IN');
    if (!isKeyed(compared)) return { expr: written, collation: null };
    const column = this.#column({ kind: 'STRING' });
    const columns = [{ column, expr: keyOf(found, compared) }];
    const keys: ResolvedQuery = {
      ...query,
      relation: { kind: 'compute', input: query.relation, columns },
      output: [{ name: null, column }],
    };
    return { expr: { ...written, operand: keyOf(operand, compared), query: keys }, collation: null };
  }

  #function(call: FunctionCall): Collated {
    const { function: name, type, span } = call;
    const args = call.args.map((arg) => this.#expr(arg));
    const named = Object.entries(call.named).map(([key, value]) => [key, this.#expr(value)] as const);
    if (name === 'COLLATE') return { expr: args[0]!.expr, collation: nameOfCollation(args[1]!.expr) };
    const written: FunctionCall = {
      ...call,
      args: args.map(({ expr }) => expr),
      named: Object.fromEntries(named.map(([key, { expr }]) => [key, expr])),
    };
    const given = [...args, ...named.map(([, value]) => value)];
    if (given.every(({ collation }) => collation === null)) return { expr: written, collation: null };
    if (REJECTING.has(name)) checkRejected(args, span);
    if (COMPARISONS.has(name)) {
      const compared = mergedOf(args, name);
      return { expr: { ...written, args: args.map((arg) => keyOf(arg, compared)) }, collation: null };
    }
    if (name === '$in_unnest') return { expr: this.#inUnnest(written, args), collation: null };
    if (LOSING.has(name)) return { expr: written, collation: null };
    if (REFUSED.has(name) && given.some(({ collation }) => isKeyed(collation))) return refuseFunction(name, span);
    const handing = FIRST_ALONE.has(name) ? args.slice(0, 1) : given;
    return { expr: written, collation: this.#handedOn(name, handing, type, span) };
  }

  #inUnnest(call: FunctionCall, [value, list]: readonly Collated[]): Expr {
    const { span } = call;
    const type: SqlType = list!.expr.type.kind === 'ARRAY' ? list!.expr.type.element : { kind: 'STRING' };
    const column = this.#column(type);
    const each: Collated = { expr: columnRef(column, span), collation: partOf(list!.collation, 0) };
    const compared = mergedOf([value!, each], '$in_unnest');
    if (!isKeyed(compared)) return call;
    const key = this.#column({ kind: 'STRING' });
    const unnest: Relation = {
      kind: 'unnest',
      input: null,
      array: list!.expr,
      element: column,
      offset: null,
      outer: false,
      on: null,
    };
    const relation: Relation = {
      kind: 'compute',
      input: unnest,
      columns: [{ column: key, expr: keyOf(each, compared) }],
    };
    const query: ResolvedQuery = {
      ctes: [],
      relation,
      output: [{ name: null, column: key }],
      valueTable: false,
      ordered: false,
    };
    const keys: Expr = {
      kind: 'subquery',
      mode: 'array',
      operand: null,
      query,
      type: { kind: 'ARRAY', element: key.type },
      span,
    };
    return { ...call, args: [keyOf(value!, compared), keys] };
  }
}
