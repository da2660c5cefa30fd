import { analyseConsumer, type ConsumerText, readStatement } from '@logquay/googlesql/consumer';
import { QueryError, type NamedType, type Roles, rolesOf } from '@logquay/googlesql/types';
import { isAggregateCall, walk, type Query } from '@logquay/googlesql/syntax';
import { LqlError, readLql, toSql } from '@logquay/googlesql/lql';

/** The rows that a query looks at, in no order and without its limit. */
export interface RowSource {
  /** SQL that another query can be put around. */
  readonly sql: string;
  readonly columns: readonly NamedType[];
  readonly roles: Roles;
}

/** null: the query has faults, or gives other rows than those of its tables, such as groups. */
export function rowSource(given: ConsumerText): RowSource | null {
  try {
    const sql = given.language === 'lql' ? rowsOfLql(given) : rowsOfSql(given.text);
    if (sql === null) return null;
    const { columns, roles } = analyseConsumer({ ...given, language: 'sql', text: sql });
    return columns === null ? null : { sql, columns, roles: roles ?? rolesOf(columns) };
  } catch (error) {
    if (error instanceof QueryError || error instanceof LqlError) return null;
    throw error;
  }
}

function rowsOfLql({ text, tables, now }: ConsumerText): string | null {
  const reading = readLql(text, { tables: tables.map(({ name }) => name), now, typed: true });
  if (reading.kind === 'blank') return null;
  const { rules, table: name } = reading;
  const { columns = null, roles } = tables.find((one) => one.name === name) ?? {};
  const { sql } = toSql({ ...rules, select: [], chart: null }, { name, columns, roles });
  return rowsOfSql(sql);
}

function rowsOfSql(sent: string): string | null {
  const { query, text, unsupported } = readStatement(sent);
  if (unsupported.length > 0 || query.pipes.length > 0 || isGrouped(query)) return null;
  return text.slice(query.span.start, query.body.span.end);
}

function isGrouped({ body }: Query): boolean {
  if (body.kind !== 'select' || body.groupBy !== null || body.distinct) return true;
  let aggregate = false;
  walk(body, (node) => {
    aggregate ||= isAggregateCall(node);
    return node.kind !== 'query' && !aggregate;
  });
  return aggregate;
}
