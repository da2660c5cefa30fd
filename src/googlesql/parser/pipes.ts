import type { Query, QueryBody } from '../syntax';
import type { Cursor } from './cursor';
import { parseFrom } from './from';

/** A query that begins with FROM: pipe syntax, refused by name. */
export function parseFromQuery(cursor: Cursor): QueryBody {
  const { start } = cursor.expect('FROM');
  const from = parseFrom(cursor);
  const span = cursor.spanFrom(start);
  cursor.refuse('pipe syntax', span);
  return {
    kind: 'select',
    distinct: false,
    as: null,
    items: [{ kind: 'select_star', of: null, except: [], replace: [], span }],
    from,
    where: null,
    groupBy: null,
    having: null,
    qualify: null,
    windows: [],
    span,
  };
}

export function parsePipes(cursor: Cursor, query: Query): Query {
  cursor.refuse('pipe syntax', cursor.token);
  cursor.fault('Pipe syntax is not supported.', cursor.token);
  return query;
}
