import type { Expression, FromItem, OrderItem, Query, Select, Span, SubqueryItem } from '../syntax';

/**
 * What a construct that this service refuses leaves in the tree: its table and its expressions as a plain SELECT, for
 * scoping to find outside tables and forbidden functions in. It never runs (ParsedQuery.unsupported).
 */
export function standInSelect(from: FromItem | null, expressions: readonly Expression[], span: Span): Select {
  return {
    kind: 'select',
    distinct: false,
    as: null,
    items: [{ kind: 'select_star', of: null, except: [], replace: [], span }],
    from,
    where: { kind: 'array', elementType: null, elements: expressions, span },
    groupBy: null,
    having: null,
    qualify: null,
    windows: [],
    span,
  };
}

/** `( body ) AS alias` as a table. */
export function standInTable(
  body: Query['body'],
  orderBy: readonly OrderItem[],
  alias: SubqueryItem['alias'],
): SubqueryItem {
  const query: Query = { kind: 'query', with: null, body, orderBy, limit: null, pipes: [], span: body.span };
  return { kind: 'subquery_item', query, alias, span: body.span };
}
