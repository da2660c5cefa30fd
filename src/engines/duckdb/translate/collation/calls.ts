/** Calls of aggregate and window functions over keys. */
import type { AggregateCall, Expr, WindowCall } from '../../../../googlesql/resolved';
import type { Collation } from './collation';
import { type CollatedExpressions, handedOn } from './expressions';
import { isKeyed, keyOf, refuse } from './keys';
import { checkRejected, refuseFunction } from './refusals';
import { HANDING_ON, REJECTING } from './rules';

const EXTREMES: ReadonlySet<string> = new Set(['MIN', 'MAX', 'MIN_BY', 'MAX_BY']);

export class CollatedCalls {
  constructor(private readonly expressions: CollatedExpressions) {}

  window(window: WindowCall): { readonly call: WindowCall; readonly collation: Collation } {
    const { call, collation } = this.call(window.call);
    const partitionBy = window.partitionBy.map((expr) => this.expressions.key(expr));
    const orderBy = window.orderBy.map((key) => this.expressions.sortKey(key));
    return { call: { ...window, call, partitionBy, orderBy }, collation };
  }

  call(call: AggregateCall): { readonly call: AggregateCall; readonly collation: Collation } {
    const args = call.args.map((arg) => this.expressions.of(arg));
    const written: AggregateCall = {
      ...call,
      args: args.map(({ expr }) => expr),
      having: call.having && { ...call.having, expr: this.#extreme(call.having) },
      orderBy: call.orderBy.map((key) => this.expressions.sortKey(key)),
    };
    const name = call.function;
    if (args.every(({ collation }) => collation === null)) return { call: written, collation: null };
    if (REJECTING.has(name)) checkRejected(args, call.span);
    const keyed = args.some(({ collation }) => isKeyed(collation));
    if (!keyed && !HANDING_ON.has(name) && !EXTREMES.has(name)) return { call: written, collation: null };
    const [first, second] = args;
    switch (name) {
      case 'COUNT':
      case 'APPROX_COUNT_DISTINCT': {
        if (name === 'COUNT' && !call.distinct) return { call: written, collation: null };
        return { call: { ...written, args: args.map((arg) => keyOf(arg, arg.collation)) }, collation: null };
      }
      case 'MIN':
      case 'MAX': {
        const { collation } = first!;
        if (!isKeyed(collation)) return { call: written, collation };
        const by: AggregateCall = {
          ...written,
          function: `${name}_BY`,
          args: [first!.expr, keyOf(first!, collation)],
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
    if (keyed && call.distinct && name !== 'ANY_VALUE')
      return refuse(
        `${name} with DISTINCT of texts that have a collation`,
        call.span,
        'SELECT DISTINCT in a subquery below it',
      );
    return { call: written, collation: handedOn(name, args, call.type, call.span) };
  }

  /** Google's reference takes the order of code points there, and BigQuery's documents say nothing of it. */
  #extreme({ kind, expr }: NonNullable<AggregateCall['having']>): Expr {
    const value = this.expressions.of(expr);
    if (!isKeyed(value.collation)) return value.expr;
    const what = `HAVING ${kind.toUpperCase()} of a text with a collation`;
    return refuse(what, expr.span, `HAVING ${kind.toUpperCase()} COLLATE(x, '')`);
  }
}
