/** Queries: WITH, then a SELECT, a set operation or a query in parentheses, then ORDER BY and LIMIT; or pipes. */
import type { ComputedColumn, Cte, OutputColumn, Relation, ResolvedQuery } from '../resolved';
import type { LimitClause, OrderItem, Query, QueryBody, WithClause } from '../tree';
import { sameType } from '../type-names';
import type { SqlType } from '../types';
import { plainContext, type Context } from './context';
import { convert } from './convert';
import { resolveOrderBy, resolveLimitCount } from './order';
import { resolvePipes } from './pipes';
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
  return resolveNamedQuery(session, query, outer, ctes).query;
}

/** A query, and the names that a FROM around it sees of its rows where it gives the query no alias. */
export interface NamedQuery {
  readonly query: ResolvedQuery;
  readonly names: NameList;
}

export function resolveNamedQuery(
  session: Session,
  query: Query,
  outer: Scope | null,
  ctes: CteScope | null,
): NamedQuery {
  const { body, orderBy, limit, pipes } = query;
  const { list, scope } = resolveWith(session, query.with, ctes);
  const piped = pipes.length > 0 || body.kind === 'from_query';
  const named = session.recover(
    () =>
      piped
        ? resolvePipes(session, query, outer, scope)
        : resolveNamedBody(session, body, outer, scope, { orderBy, limit }),
    () => namedQuery(session, unknownQuery(session)),
  );
  return list.length === 0 ? named : { ...named, query: { ...named.query, ctes: [...list, ...named.query.ctes] } };
}

/** What a survey goes on with in the place of a query at fault: its columns are not known. */
function unknownQuery({ survey }: Session): ResolvedQuery {
  const output: OutputColumn[] = [];
  survey?.markUnknown(output);
  return { ctes: [], relation: { kind: 'single_row' }, output, valueTable: false, ordered: false };
}

/** A CTE sees earlier ones and those of enclosing queries, not itself, and no rows. */
export function resolveWith(
  session: Session,
  clause: WithClause | null,
  ctes: CteScope | null,
): { list: Cte[]; scope: CteScope | null } {
  if (clause === null) return { list: [], scope: ctes };
  if (clause.recursive) throw invalid('WITH RECURSIVE is not supported.', clause.span);
  const list: Cte[] = [];
  let scope = ctes;
  const seen = new Set<string>();
  for (const { name, query: body } of clause.entries) {
    const key = name.name.toLowerCase();
    if (seen.has(key))
      session.recover(
        () => {
          throw invalid(`Duplicate alias ${name.name} for WITH subquery.`, name.span);
        },
        () => undefined,
      );
    seen.add(key);
    const id = session.cteId();
    const cte: Cte = { id, name: name.name, span: name.span, query: resolveQueryIn(session, body, null, scope) };
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

export function resolveNamedBody(
  session: Session,
  body: QueryBody,
  outer: Scope | null,
  ctes: CteScope | null,
  tail: Tail = NO_TAIL,
): NamedQuery {
  switch (body.kind) {
    case 'select':
      return namedQuery(session, resolveSelect(session, body, outer, ctes, tail));
    case 'set_operation': {
      const inputs = body.inputs.map((input) => resolveNamedBody(session, input, outer, ctes).query);
      const spans = body.inputs.map(({ span }) => span);
      return namedQuery(
        session,
        withTail(session, resolveSetOperation(session, body, inputs, spans), outer, ctes, tail),
      );
    }
    case 'query': {
      const inner = resolveNamedQuery(session, body, outer, ctes);
      if (tail.orderBy.length === 0 && tail.limit === null) return inner;
      const { query } = inner;
      const wrapped: ResolvedQuery = { ...query, ctes: [], relation: { kind: 'query', query } };
      return namedQuery(session, withTail(session, wrapped, outer, ctes, tail));
    }
    case 'from_query':
      throw new Error('A FROM query has no body.');
  }
}

/** A query whose rows have no alias. */
function namedQuery(session: Session, query: ResolvedQuery): NamedQuery {
  return { query, names: namesOf(session, query) };
}

/** The names of a query's columns; in a survey not all of them may be known. */
export function namesOf({ survey }: Session, { output, valueTable }: ResolvedQuery): NameList {
  const [only] = output;
  if (valueTable && only !== undefined) return NameList.value(null, only.column);
  return NameList.table(null, output, survey?.isUnknown(output));
}

/** ORDER BY after a set operation or parentheses sees the names of the result only. */
function withTail(
  session: Session,
  query: ResolvedQuery,
  outer: Scope | null,
  ctes: CteScope | null,
  { orderBy, limit }: Tail,
): ResolvedQuery {
  const context = plainContext(
    session,
    scopeOf(namesOf(session, query), outer),
    ctes,
    'ORDER BY after a set operation',
  );
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
