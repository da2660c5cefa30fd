/** From the syntax tree to the resolved tree: every name a column, every expression typed, every conversion written. */
import { QueryError } from '../errors';
import type { ResolvedQuery } from '../resolved';
import type { Query } from '../tree';
import { resolveQueryIn } from './queries';
import { Session, type Environment, MAX_RESULT_FIELDS, sizeOf, tooLarge } from './session';
import { Survey, TooManyFaults } from './survey';

export type { Candidate } from './scope';
export type { Candidates, Environment } from './session';
export { functionNotFound, nearest, nearestNames, suggestion } from './suggestion';

/** What could be resolved of a query, and what could not. */
export interface SurveyedQuery {
  /** Must not run where there are faults: it has NULLs in their places. null: not even so much. */
  readonly resolved: ResolvedQuery | null;
  /** In the order of the text, at most twenty. */
  readonly faults: readonly QueryError[];
}

/**
 * The resolved tree of a parsed query. `text` is what was parsed; spans count in it. Throws QueryError: `unknownField`
 * for a column or field that is not there, `invalidQuery` for every other error of meaning, an unknown table or
 * function among them, `resourcesExceeded` for chains of operators beyond what can be walked.
 */
export function resolveQuery(query: Query, text: string, environment: Environment): ResolvedQuery {
  return resolveIn(new Session(environment, text), query);
}

/** As `resolveQuery`, but goes on behind a fault and gives all that can be told from each other. */
export function surveyMeaning(query: Query, text: string, environment: Environment): SurveyedQuery {
  const survey = new Survey();
  try {
    const resolved = survey.recover(
      () => resolveIn(new Session(environment, text, survey), query),
      () => null,
    );
    return { resolved, faults: survey.faults };
  } catch (error) {
    if (error instanceof TooManyFaults) return { resolved: null, faults: survey.faults };
    if (error instanceof QueryError) return { resolved: null, faults: [...survey.faults, error] };
    throw error;
  }
}

function resolveIn(session: Session, query: Query): ResolvedQuery {
  try {
    const resolved = resolveQueryIn(session, query, null, null);
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
