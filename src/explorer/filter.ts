import { computed } from '@preact/signals';

import { withClause } from './clause';
import { isLog, run } from './run';
import { mayQuery } from './schema';
import { change, query, search } from './search';

/** Rows of a log table as it is: those of another query have names that its tables do not know. */
export const canFilter = computed(() => search.value.language === 'lql' && mayQuery.value && isLog.value);

/** Adds a clause to the query and runs it. @param exclude leaves the rows of the clause out */
export function filterBy(clause: string, exclude: boolean): void {
  change({ query: withClause(query.value, clause, exclude) });
  void run();
}
