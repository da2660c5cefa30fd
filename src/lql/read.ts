import { locate } from '../errors';
import type { ServiceError } from '../engines/service-error';
import { QueryError } from '../googlesql/errors';
import { nearest } from '../googlesql/resolver';
import type { NamedType } from '../googlesql/types';
import { inLql, LqlError } from './lql-error';
import { parse } from './parse';
import type { Rules, Span } from './rules';
import { checkText } from './scanner';
import { checkColumns, toSql } from './sql';

export interface ReadOptions {
  /** Names of the stored query's CTE tables, in its order. */
  readonly tables: readonly string[];
  /** The clock, in microseconds since the epoch; taken once per request. */
  readonly now: bigint;
}

export type Reading =
  | { readonly kind: 'blank' }
  /** `table` is the one that `f:` names, or the only one there is. */
  | { readonly kind: 'rules'; readonly rules: Rules; readonly table: string };

/** Reads an LQL text; a blank one counts as absent. Throws LqlError. */
export function readLql(text: string, { tables, now }: ReadOptions): Reading {
  checkText(text);
  const rules = parse(text, now);
  if (rules === null) return { kind: 'blank' };
  checkColumns(rules);
  return { kind: 'rules', rules, table: chooseTable(rules, tables) };
}

/** Without `f:` an endpoint with several tables is asked about at the start of the text. */
function chooseTable({ from, fromSpan }: Rules, tables: readonly string[]): string {
  const nowhere: Span = { start: 0, end: 0 };
  if (from !== null) {
    if (tables.includes(from)) return from;
    const near = nearest(from, tables);
    throw new LqlError('unknown_table', `table ${from} is not one of: ${tables.join(', ')}`, fromSpan ?? nowhere, {
      allowed: tables,
      ...(near === undefined ? {} : { hint: `Did you mean f:${near}?` }),
    });
  }
  const [only, ...others] = tables;
  if (only === undefined) throw new LqlError('no_tables', 'the endpoint has no tables to query', nowhere);
  if (others.length === 0) return only;
  throw new LqlError('table_required', `several tables available (${tables.join(', ')}): name one with f:`, nowhere, {
    hint: `Add f:${only}, for example.`,
    allowed: tables,
  });
}

/** An LQL text that has been read, before anything is known of the columns of its table. */
export interface LqlQuery {
  /** The CTE table that it reads. */
  readonly table: string;
  readonly rules: Rules;
  /**
   * Its SQL over that table.
   *
   * @param columns of the table; null: not known
   * @throws ServiceError `invalidLql`, as `openLql`
   */
  translate(columns: readonly NamedType[] | null): Translation;
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
export function openLql(text: string, options: ReadOptions): LqlQuery | null {
  const reading = located(text, () => readLql(text, options));
  if (reading.kind === 'blank') return null;
  const { rules, table: name } = reading;
  return {
    table: name,
    rules,
    translate: (columns) => {
      const { sql, origin } = located(text, () => toSql(rules, { name, columns }));
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
    throw error instanceof LqlError ? error.toServiceError(text) : error;
  }
}
