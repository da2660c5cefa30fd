import { locate, QueryError, type ServiceError } from '../errors';
import { LqlError } from './lql-error';
import { readLql, type ReadOptions } from './read';
import type { Rules } from './rules';
import { type CteTable, toSql } from './sql';

export interface TranslateContext {
  /** The stored query's CTE tables, in its order. */
  readonly tables: readonly CteTable[];
  /** The clock, in microseconds since the epoch; taken once per request. */
  readonly now: bigint;
}

export interface Translation {
  /** BigQuery SQL over one CTE table, values inlined; it passes the sandbox gate like any consumer query. */
  readonly sql: string;
  readonly rules: Rules;
  /** A fault that was found in `sql`, as the sender of the LQL text gets it: with its place in that text. */
  readonly locate: (error: QueryError) => ServiceError;
}

/**
 * The CTE table that a text reads, before anything is known of its columns; null: the text is blank and counts as
 * absent. Throws as translateLql does.
 */
export function tableOfLql(text: string, { tables, now }: ReadOptions): string | null {
  try {
    const reading = readLql(text, { tables, now });
    return reading.kind === 'blank' ? null : reading.table;
  } catch (error) {
    throw error instanceof LqlError ? error.toServiceError(text) : error;
  }
}

/**
 * Translates an LQL text for an endpoint; null: the text is blank and counts as absent. Throws ServiceError
 * `invalidLql` with the code, the position, the words at fault and a hint.
 */
export function translateLql(text: string, { tables, now }: TranslateContext): Translation | null {
  try {
    const reading = readLql(text, { tables: tables.map(({ name }) => name), now });
    if (reading.kind === 'blank') return null;
    const table = tables.find(({ name }) => name === reading.table) ?? { name: reading.table, columns: null };
    const { sql, origin } = toSql(reading.rules, table);
    const moved = (error: QueryError) => {
      const span = error.span === null ? null : origin(error.span.start);
      return locate(new QueryError(error.fault, error.message, span, error.details), text);
    };
    return { sql, rules: reading.rules, locate: moved };
  } catch (error) {
    throw error instanceof LqlError ? error.toServiceError(text) : error;
  }
}
