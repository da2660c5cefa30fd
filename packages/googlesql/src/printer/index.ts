/**
 * GoogleSQL printed from the resolved tree: a statement that gives the rows of the query, with every name written out.
 * Nothing of the text that the tree came from is in it but names and literals.
 *
 * Fenced (docs/decisions/fence.md): where tables have guard columns, whatever may fail is evaluated only on rows whose
 * guards do not say FALSE.
 */
import { QueryError } from '../errors';
import { columnsOfCtesRead } from '../columns-read';
import type { ResolvedQuery } from '../resolved';
import { Names, PREFIX } from './names';
import { PrintSession } from './session';
import { statementSql } from './queries';

export { placesThatCanFail, queryCanFail } from '../totality';

export interface PrintOptions {
  /**
   * BOOL columns of tables, by lower-case table name: TRUE on the rows that may be seen. Tables that are not here hide
   * no rows.
   */
  readonly guards?: ReadonlyMap<string, string>;
}

export interface PrintedQuery {
  readonly sql: string;
  /** Lower-case names of the parameters in it. */
  readonly parameters: readonly string[];
}

/** @throws QueryError `resourcesExceeded` where the query is too long or too deep when it is written out */
export function printQuery(query: ResolvedQuery, { guards = new Map() }: PrintOptions = {}): PrintedQuery {
  const read = columnsOfCtesRead(query);
  const print = (names: Names): PrintedQuery => {
    const session = new PrintSession(names, guards, read);
    const sql = statementSql(session, query);
    return { sql, parameters: [...session.parameters] };
  };
  try {
    const names = new Names(PREFIX);
    const printed = print(names);
    const prefix = names.freePrefix();
    return prefix === PREFIX ? printed : print(new Names(prefix));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new QueryError('resourcesExceeded', 'The query is too deep to be written out.', null);
  }
}
