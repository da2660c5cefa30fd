import { lineAndColumn, locate, QueryError, ServiceError } from '../errors';
import type { NamedType, Roles } from '@logquay/googlesql/types';
import { excerpt, inLql, LqlError, type ReadOptions, readLql, type Rules, toSql } from '@logquay/googlesql/lql';

/** An LQL text that has been read, before anything is known of the columns of its table. */
export interface LqlQuery {
  /** The CTE table that it reads. */
  readonly table: string;
  readonly rules: Rules;
  /**
   * Its SQL over that table.
   *
   * @param columns of the table; null: not known
   * @param roles of them; missing: what names and types say
   * @throws ServiceError `invalidLql`, as `openLql`
   */
  translate(columns: readonly NamedType[] | null, roles?: Roles): Translation;
}

export interface Translation {
  /** BigQuery SQL over one CTE table, values inlined; it passes the sandbox gate like any consumer query. */
  readonly sql: string;
  /** A fault that was found in `sql`, as the sender of the LQL text gets it: with its place in that text. */
  readonly locate: (error: QueryError) => ServiceError;
}

/**
 * Reads an LQL text for an endpoint; null: the text is blank and counts as absent.
 *
 * @throws ServiceError `invalidLql` with the code, the position, the words at fault and a hint
 */
export function openLql(text: string, options: Omit<ReadOptions, 'typed'>): LqlQuery | null {
  const reading = located(text, () => readLql(text, { ...options, typed: true }));
  if (reading.kind === 'blank') return null;
  const { rules, table: name } = reading;
  return {
    table: name,
    rules,
    translate: (columns, roles) => {
      const { sql, origin } = located(text, () => toSql(rules, { name, columns, roles }));
      const inText = ({ fault, message, span, details }: QueryError): ServiceError =>
        locate(new QueryError(fault, message, span && origin(span.start), inLql(details)), text);
      return { sql, locate: inText };
    },
  };
}

function located<T>(text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof LqlError ? lqlErrorFor(error, text) : error;
  }
}

/** The 400 `invalidLql` that the sender of `text` gets (docs/querying.md). */
export function lqlErrorFor(error: LqlError, text: string): ServiceError {
  const { code, message, span, advice } = error;
  const near = excerpt(text.slice(span.start, span.end));
  const details = { code, ...lineAndColumn(text, span.start), ...(near === '' ? {} : { near }), ...advice };
  return new ServiceError('invalidLql', message, details, { cause: error });
}
