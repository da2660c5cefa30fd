/**
 * Collations, written out. The resolved tree says where a text is given one (`COLLATE(x, 'und:ci')`) and not where that counts.
 * Here each text's collation is found by GoogleSQL's rules of propagation; the calls are taken away, and put where values are
 * compared, grouped or sorted: `COLLATE` is there the key by which that is done.
 */
import type {
  Aggregate,
  Column,
  ComputedColumn,
  Cte,
  Expr,
  Relation,
  ResolvedQuery,
  SetRelation,
} from '../../../../googlesql/resolved';
import { mapRelation, visitQuery } from '../../../../googlesql/resolved-walk';
import type { Span } from '../../../../googlesql/syntax';
import { CollatedCalls } from './calls';
import { partOf } from './collation';
import { CollatedColumns } from './columns';
import { CollatedExpressions } from './expressions';
import { callOf, type Collated, columnRef, isKeyed, keyOf, mergedOf, plain, refuse } from './keys';

/** @throws QueryError for what BigQuery refuses of texts with a collation, and what is not reproduced here */
export function withCollations(query: ResolvedQuery): ResolvedQuery {
  let found = false;
  visitQuery(query, {
    expr: (expr) => (found ||= isCollate(expr) || (expr.kind === 'call' && expr.function === '$uncollated')),
  });
  return found ? new Writer().query(query) : query;
}

class Writer {
  private readonly columns = new CollatedColumns();
  private readonly expressions = new CollatedExpressions(this.columns, (query) => this.query(query));
  private readonly calls = new CollatedCalls(this.expressions);
  readonly #ctes = new Map<Cte, Cte>();

  query(query: ResolvedQuery): ResolvedQuery {
    const ctes = query.ctes.map((cte) => this.#cte(cte));
    return { ...query, ctes, relation: this.#relation(query.relation) };
  }

  #cte(cte: Cte): Cte {
    let known = this.#ctes.get(cte);
    if (known === undefined) this.#ctes.set(cte, (known = { ...cte, query: this.query(cte.query) }));
    return known;
  }

  // -------------------------------------------------------------------------------------- relations

  #relation(relation: Relation): Relation {
    switch (relation.kind) {
      case 'cte': {
        const cte = this.#cte(relation.cte);
        for (const { column, source } of relation.columns) this.columns.set(column, this.columns.of(source));
        return { ...relation, cte };
      }
      case 'unnest': {
        const input = relation.input && this.#relation(relation.input);
        const array = this.expressions.of(relation.array);
        this.columns.set(relation.element, partOf(array.collation, 0));
        return { ...relation, input, array: array.expr, on: relation.on && this.expressions.of(relation.on).expr };
      }
      case 'compute': {
        const input = this.#relation(relation.input);
        const columns = relation.columns.map(({ column, expr }) => {
          const value = this.expressions.of(expr);
          this.columns.set(column, value.collation);
          return { column, expr: value.expr };
        });
        return { ...relation, input, columns };
      }
      case 'aggregate':
        return this.#aggregate({ ...relation, input: this.#relation(relation.input) });
      case 'window': {
        const input = this.#relation(relation.input);
        const functions = relation.functions.map(({ column, call }) => {
          const value = this.calls.window(call);
          this.columns.set(column, value.collation);
          return { column, call: value.call };
        });
        return { ...relation, input, functions };
      }
      case 'sort':
        return {
          ...relation,
          input: this.#relation(relation.input),
          keys: relation.keys.map((key) => this.expressions.sortKey(key)),
        };
      case 'set':
        return this.#setOperation(
          { ...relation, inputs: relation.inputs.map((input) => this.query(input)) },
          placeIn(relation),
        );
      default:
        return mapRelation(relation, {
          expr: (expr) => this.expressions.of(expr).expr,
          relation: (input) => this.#relation(input),
          query: (query) => this.query(query),
        });
    }
  }

  /** Groups by keys of their texts; of those that are equal a group shows the least. */
  #aggregate(relation: Aggregate): Relation {
    const sets = relation.groupingSets;
    const computed: ComputedColumn[] = [];
    const shown: ComputedColumn[] = [];
    const more: Aggregate['aggregates'][number][] = [];
    const keyOfColumn = new Map<number, Column>();
    const keys = relation.keys.map(({ column, expr }) => {
      const value = this.expressions.of(expr);
      this.columns.set(column, value.collation);
      if (!isKeyed(value.collation)) return { column, expr: value.expr };
      const text = value.expr.kind === 'column' ? value.expr.column : this.columns.create(expr.type);
      if (value.expr.kind !== 'column') computed.push({ column: text, expr: value.expr });
      const { span } = expr;
      const key = this.columns.create({ kind: 'STRING' });
      keyOfColumn.set(column.id, key);
      const least = sets === null ? column : this.columns.create(expr.type);
      more.push({ column: least, call: callOf('MIN', [columnRef(text, span)], expr.type, span) });
      if (sets !== null) {
        // NULL where the grouping has no such key.
        const left = this.columns.create({ kind: 'INT64' });
        more.push({ column: left, call: callOf('GROUPING', [columnRef(key, span)], left.type, span) });
        const nought: Expr = { kind: 'literal', type: left.type, value: '0', span };
        const isThere = plain('$equal', [columnRef(left, span), nought], { kind: 'BOOL' }, span);
        const whens = [{ when: isThere, then: columnRef(least, span) }];
        shown.push({ column, expr: { kind: 'case', operand: null, whens, else: null, type: expr.type, span } });
      }
      return { column: key, expr: keyOf({ expr: columnRef(text, span) }, value.collation) };
    });
    const aggregates = relation.aggregates.map(({ column, call }) => {
      const value = this.calls.call(call);
      this.columns.set(column, value.collation);
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

  #setOperation(relation: SetRelation, span: Span): Relation {
    const { operator, distinct, inputs, columns } = relation;
    const collations = columns.map((column, i) => {
      const values = inputs.map(({ output }): Collated => {
        const source = output[i]!.column;
        return { expr: columnRef(source, span), collation: this.columns.of(source) };
      });
      const collation = mergedOf(values);
      this.columns.set(column, collation);
      return collation;
    });
    if (!distinct || !collations.some(isKeyed)) return relation;
    if (operator !== 'union')
      return refuse(
        `${operator.toUpperCase()} DISTINCT of texts that have a collation`,
        span,
        'IN (SELECT ...) in WHERE',
      );
    const all = columns.map(({ type }) => this.columns.create(type));
    const keys = all.map((from, i) => ({ column: columns[i] ?? from, expr: columnRef(from, span) }));
    all.forEach((column, i) => this.columns.set(column, collations[i] ?? null));
    return this.#aggregate({
      kind: 'aggregate',
      input: { ...relation, distinct: false, columns: all },
      keys,
      groupingSets: null,
      aggregates: [],
    });
  }
}

/** Of the first COLLATE in the inputs; of an expression of theirs where there is none. */
function placeIn({ inputs }: SetRelation): Span {
  let found: Expr | null = null;
  for (const query of inputs)
    visitQuery(query, {
      expr: (expr) => {
        if (found === null || (!isCollate(found) && isCollate(expr))) found = expr;
      },
    });
  return (found as Expr | null)?.span ?? { start: 0, end: 0 };
}

function isCollate(expr: Expr): boolean {
  return expr.kind === 'call' && expr.function === 'COLLATE';
}
