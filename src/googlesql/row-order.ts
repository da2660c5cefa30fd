import type { Query } from './syntax';

/** Whether a query has an ORDER BY of its own: without one, GoogleSQL promises no order of its rows. */
export function fixesOrder({ orderBy, body }: Query): boolean {
  return orderBy.length > 0 || (body.kind === 'query' && fixesOrder(body));
}
