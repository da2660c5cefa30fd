/** Queries: WITH, then a SELECT, a set operation or a query in parentheses, then ORDER BY and LIMIT. */
import type { ComputedColumn, Cte, OutputColumn, Relation, ResolvedQuery } from '../resolved';
import type { LimitClause, OrderItem, Query, QueryBody } from '../syntax';
import { sameType } from '../type-names';
import type { SqlType } from '../types';
import { plainContext, type Context } from './context';
import { convert } from './convert';
import { resolveLimitCount } from './limit';
import { resolveOrderBy } from './order';
import { NameList, scopeOf, type Scope, type Target } from './scope';
import { resolveSelect } from './select';
import { invalid, type CteScope, type Session } from './session';
import { resolveSetOperation } from './set-operations';

/** A subquery of an expression: it sees the rows around it. */
export function resolveQueryAt(context: Context, query: Query): ResolvedQuery {
  return resolveQueryIn(context.session, query, context.scope, context.ctes);
}

/** A query among the rows `outer` (null: none) and the CTEs around it. */
export function resolveQueryIn(
  session: Session,
  query: Query,
  outer: Scope | null,
  ctes: CteScope | null,
): ResolvedQuery {
  const { list, scope } = resolveWith(session, query, ctes);
  const body = session.recover(
    () => resolveBody(session, query.body, outer, scope, { orderBy: query.orderBy, limit: query.limit }),
    () => unknownQuery(session),
  );
  return list.length === 0 ? body : { ...body, ctes: [...list, ...body.ctes] };
}

/** What a survey goes on with in the place of a query at fault: its columns are not known. */
function unknownQuery({ survey }: Session): ResolvedQuery {
  const output: OutputColumn[] = [];
  survey?.markUnknown(output);
  return { ctes: [], relation: { kind: 'single_row' }, output, valueTable: false, ordered: false };
}

/** A CTE sees earlier ones and those of enclosing queries, not itself, and no rows. */
function resolveWith(session: Session, query: Query, ctes: CteScope | null): { list: Cte[]; scope: CteScope | null } {
  if (query.with === null) return { list: [], scope: ctes };
  if (query.with.recursive) throw invalid('WITH RECURSIVE is not supported.', query.with.span);
  const list: Cte[] = [];
  let scope = ctes;
  const seen = new Set<string>();
  for (const { name, query: body } of query.with.entries) {
    const key = name.name.toLowerCase();
    if (seen.has(key))
      session.recover(
        () => {
          throw invalid(`Duplicate alias ${name.name} for WITH subquery.`, name.span);
        },
        () => undefined,
      );
    seen.add(key);
    const cte: Cte = { id: session.cteId(), name: name.name, query: resolveQueryIn(session, body, null, scope) };
    list.push(cte);
    scope = { names: new Map([[key, cte]]), parent: scope };
  }
  return { list, scope };
}

/** What stands behind a body: ORDER BY and LIMIT. */
export interface Tail {
  readonly orderBy: readonly OrderItem[];
  readonly limit: LimitClause | null;
}

const NO_TAIL: Tail = { orderBy: [], limit: null };

export function resolveBody(
  session: Session,
  body: QueryBody,
  outer: Scope | null,
  ctes: CteScope | null,
  tail: Tail = NO_TAIL,
): ResolvedQuery {
  switch (body.kind) {
    case 'select':
      return resolveSelect(session, body, outer, ctes, tail);
    case 'set_operation': {
      const inputs = body.inputs.map((input) => resolveBody(session, input, outer, ctes));
      return withTail(session, resolveSetOperation(session, body, inputs), outer, ctes, tail);
    }
    case 'query': {
      const inner = resolveQueryIn(session, body, outer, ctes);
      if (tail.orderBy.length === 0 && tail.limit === null) return inner;
      const wrapped: ResolvedQuery = { ...inner, ctes: [], relation: { kind: 'query', query: inner } };
      return withTail(session, wrapped, outer, ctes, tail);
    }
  }
}

/** ORDER BY after a set operation or parentheses sees the names of the result only. */
function withTail(
  session: Session,
  query: ResolvedQuery,
  outer: Scope | null,
  ctes: CteScope | null,
  { orderBy, limit }: Tail,
): ResolvedQuery {
  const list = NameList.table(null, query.output);
  const only = query.output[0];
  const names = query.valueTable && only !== undefined ? NameList.value(null, only.column) : list;
  const context = plainContext(session, scopeOf(names, outer), ctes, 'ORDER BY after a set operation');
  const columns = query.output.map(({ column }) => column);
  const keys = resolveOrderBy(context, orderBy, columns);
  let relation: Relation = query.relation;
  if (keys.length > 0) relation = { kind: 'sort', input: relation, keys };
  relation = limited(session, relation, limit, ctes);
  return { ...query, relation, ordered: query.ordered || keys.length > 0 };
}

export function limited(session: Session, input: Relation, limit: LimitClause | null, ctes: CteScope | null): Relation {
  if (limit === null) return input;
  const context = plainContext(session, null, ctes, 'LIMIT');
  const count = resolveLimitCount(context, limit.count, 'LIMIT');
  const offset = limit.offset === null ? null : resolveLimitCount(context, limit.offset, 'OFFSET');
  return { kind: 'limit', input, count, offset };
}

/** The query with its columns cast to `types`, if they are not of them already. */
export function castOutputs(session: Session, query: ResolvedQuery, types: readonly SqlType[]): ResolvedQuery {
  const computed: ComputedColumn[] = [];
  const output = query.output.map((out, i): OutputColumn => {
    const type = types[i] ?? out.column.type;
    if (sameType(out.column.type, type)) return out;
    const literal = session.literalExpr(out.column);
    const span = literal?.span ?? { start: 0, end: 0 };
    const column = session.column(out.name, type);
    computed.push({ column, expr: convert(session, literal ?? session.ref(out.column, span), type) });
    return { name: out.name, column };
  });
  if (computed.length === 0) return query;
  const relation: Relation = { kind: 'compute', input: { kind: 'query', query }, columns: computed };
  return { ...query, ctes: [], relation, output };
}

/** The names a select list lends to ORDER BY and the like; two of one name are ambiguous. */
export function aliasTargets(
  items: readonly { readonly name: string | null; readonly target: () => Target }[],
): Map<string, Target> {
  const targets = new Map<string, Target>();
  for (const { name, target } of items) {
    if (name === null) continue;
    const key = name.toLowerCase();
    targets.set(key, targets.has(key) ? { kind: 'ambiguous' } : target());
  }
  return targets;
}
