/** Whether the rows of an endpoint can be followed as they arrive (docs/tail.md), for `logquay check`. */
import type { Endpoint } from '../endpoints';
import { QueryError } from '../errors';
import { COMPOSED_BOUNDS } from '../googlesql/bounds';
import { parseQuery } from '../googlesql/parser';
import { rowByRow } from '../googlesql/row-by-row';
import { compose } from '../sandbox';
import { storedQueryOf } from './stored-analyses';

/**
 * Why a live tail of the endpoint has no rows to give: neither its own query nor one of a caller over any of its tables looks at each
 * row by itself.
 *
 * @returns null: some query can be followed
 */
export function whyNotFollowed(endpoint: Endpoint): string | null {
  const own = refusalOf(endpoint.sql);
  if (own === null) return null;
  const stored = storedQueryOf(endpoint);
  const tables = endpoint.sandbox ? endpoint.cteTables : [];
  const isFollowed = tables.some((table) => {
    return refusalOf(compose(stored, `SELECT * FROM \`${table}\``, [table]).sql) === null;
  });
  return isFollowed ? null : own;
}

function refusalOf(sql: string): string | null {
  try {
    rowByRow(parseQuery(sql, COMPOSED_BOUNDS), sql);
    return null;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
}
