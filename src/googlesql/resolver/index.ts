/** From the syntax tree to the resolved tree: every name a column, every expression typed, every conversion written. */
import { QueryError } from '../../errors';
import type { ResolvedQuery } from '../resolved';
import type { Query } from '../syntax';
import { resolveQueryIn } from './queries';
import { MAX_RESULT_FIELDS, sizeOf, tooLarge } from './size';
import { Session, type Environment } from './session';

export type { Environment } from './session';
export { nearest } from './suggestion';

/**
 * The resolved tree of a parsed query. `text` is what was parsed; spans count in it. Throws QueryError: `unknownField`
 * for a column or field that is not there, `invalidQuery` for every other error of meaning, an unknown table or
 * function among them, `resourcesExceeded` for chains of operators beyond what can be walked.
 */
export function resolveQuery(query: Query, text: string, environment: Environment): ResolvedQuery {
  try {
    const resolved = resolveQueryIn(new Session(environment, text), query, null, null);
    const fields = resolved.output.reduce((sum, { column }) => sum + sizeOf(column.type), 0);
    if (fields > MAX_RESULT_FIELDS) {
      throw tooLarge(`A result has at most ${MAX_RESULT_FIELDS} columns, fields of structs included.`, query.body.span);
    }
    return resolved;
  } catch (error) {
    if (error instanceof RangeError)
      throw new QueryError('resourcesExceeded', 'The query is too deep to be resolved.', query.span);
    throw error;
  }
}
