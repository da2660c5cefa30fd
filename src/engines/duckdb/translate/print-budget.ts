/**
 * How much one query may become in DuckDB's SQL. A short text may become a long one: a CTE is written out at each place that reads
 * it, and some functions write an argument more than once.
 */
import { spend } from '../../../concurrency/allowance';
import { QueryError } from '../../../errors';

/** Relations and expressions that are printed, those included whose text is then left out. */
export const MAX_STEPS = 50_000;
/** Characters. */
export const MAX_TEXT = 512 * 1024;

export class PrintBudget {
  #steps = 0;

  /** Before each relation and expression. @throws QueryError `resourcesExceeded` */
  step(): void {
    spend();
    if (++this.#steps > MAX_STEPS) throw tooLong();
  }

  /** The text of a part. @throws QueryError `resourcesExceeded` */
  checked(text: string): string {
    if (text.length > MAX_TEXT) throw tooLong();
    return text;
  }
}

function tooLong(): QueryError {
  const message = 'The query is too long with every CTE written out where it is read. Read each less often.';
  return new QueryError('resourcesExceeded', message, null);
}
