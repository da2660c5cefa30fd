/** Expressions without COLLATE, but where values are compared: there are keys. */
import type {
  Expr,
  FunctionCall,
  Relation,
  ResolvedCase,
  ResolvedQuery,
  SortKey,
  SubqueryExpr,
} from '../../../../googlesql/resolved';
import type { SqlType } from '../../../../googlesql/types';
import { adapted, type Collation, ofParts, partOf } from './collation';
import type { CollatedColumns } from './columns';
import { type Collated, columnRef, isKeyed, keyOf, mergedOf, nameOfCollation, refuse } from './keys';
import { checkRejected, refuseFunction } from './refusals';
import { COMPARISONS, FIRST_ALONE, LOSING, REFUSED, REJECTING } from './rules';

export class CollatedExpressions {
  constructor(
    private readonly columns: CollatedColumns,
    /** The query of a subquery, written out like all. */
    private readonly query: (query: ResolvedQuery) => ResolvedQuery,
  ) {}

  /** What the expression is, and the collation of its value. @throws QueryError */
  of(expr: Expr): Collated {
    switch (expr.kind) {
      case 'literal':
      case 'parameter':
        return { expr, collation: null };
      case 'column':
        return { expr, collation: this.columns.of(expr.column) };
      case 'field': {
        const input = this.of(expr.input);
        return { expr: { ...expr, input: input.expr }, collation: partOf(input.collation, expr.index) };
      }
      case 'call':
        return this.#function(expr);
      case 'cast': {
        const input = this.of(expr.input);
        if (input.collation !== null && typeof input.collation !== 'string')
          return refuse('CAST of a value with texts that have a collation', expr.span, "COLLATE(x, '') of each text");
        const format = expr.format && this.of(expr.format).expr;
        const timeZone = expr.timeZone && this.of(expr.timeZone).expr;
        return { expr: { ...expr, input: input.expr, format, timeZone }, collation: null };
      }
      case 'case':
        return this.#case(expr);
      case 'make_array': {
        const elements = expr.elements.map((element) => this.of(element));
        return { expr: { ...expr, elements: elements.map((e) => e.expr) }, collation: ofParts([mergedOf(elements)]) };
      }
      case 'make_struct': {
        const fields = expr.fields.map((field) => this.of(field));
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
    const operand = expr.operand && this.of(expr.operand);
    const whens = expr.whens.map(({ when, then }) => ({ when: this.of(when), then: this.of(then) }));
    const otherwise = expr.else && this.of(expr.else);
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
    const operand = expr.operand && this.of(expr.operand);
    const query = this.query(expr.query);
    const written = { ...expr, operand: operand && operand.expr, query };
    const output = query.output[0]?.column;
    if (output === undefined || expr.mode === 'exists') return { expr: written, collation: null };
    const found: Collated = { expr: columnRef(output, expr.span), collation: this.columns.of(output) };
    if (expr.mode === 'scalar') return { expr: written, collation: found.collation };
    if (operand === null) return { expr: written, collation: ofParts([found.collation]) };
    const compared = mergedOf([operand, found], 'IN');
    if (!isKeyed(compared)) return { expr: written, collation: null };
    const column = this.columns.create({ kind: 'STRING' });
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
    const args = call.args.map((arg) => this.of(arg));
    const named = Object.entries(call.named).map(([key, value]) => [key, this.of(value)] as const);
    if (name === '$uncollated')
      return isKeyed(args[0]!.collation) ? refuseFunction(call.part ?? '', span) : { ...args[0]!, collation: null };
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
    return { expr: written, collation: handedOn(name, handing, type, span) };
  }

  #inUnnest(call: FunctionCall, [value, list]: readonly Collated[]): Expr {
    const { span } = call;
    const type: SqlType = list!.expr.type.kind === 'ARRAY' ? list!.expr.type.element : { kind: 'STRING' };
    const column = this.columns.create(type);
    const each: Collated = { expr: columnRef(column, span), collation: partOf(list!.collation, 0) };
    const compared = mergedOf([value!, each], '$in_unnest');
    if (!isKeyed(compared)) return call;
    const key = this.columns.create({ kind: 'STRING' });
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

  sortKey(key: SortKey): SortKey {
    return { ...key, expr: this.key(key.expr) };
  }

  /** What the value is compared by among others of the same expression. */
  key(expr: Expr): Expr {
    const value = this.of(expr);
    return keyOf(value, value.collation);
  }
}

/** The collation that a function gives its result. @throws QueryError where it cannot be told */
export function handedOn(name: string, args: readonly Collated[], type: SqlType, span: Expr['span']): Collation {
  const given = args.map(({ expr, collation }): Collated => {
    const become = adapted(collation, expr.type, type);
    return become === undefined ? refuseFunction(name, span) : { expr, collation: become };
  });
  return mergedOf(given, name);
}
