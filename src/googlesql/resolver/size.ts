/**
 * Sizes that multiply where a text only grows: `SELECT a.*, b.*` of the CTE before it has twice its columns, and
 * `STRUCT(s, s)` twice its fields. Thirty lines of either would fill the memory before anything ran.
 */
import { QueryError } from '../../errors';
import type { Span } from '../syntax';
import type { SqlType } from '../types';

/** Columns that a query has in all its parts together. */
export const MAX_COLUMNS = 10_000;
/** Fields of one struct, those of inner structs included: far beyond what BigQuery's tables of logs have. */
export const MAX_FIELDS = 2_000;
/** Fields of all the structs that a query makes or hands to functions. */
const MAX_ALL_FIELDS = 100_000;
/** Columns of a result with their fields, as BigQuery bounds them. */
export const MAX_RESULT_FIELDS = 10_000;

const known = new WeakMap<SqlType, number>();

/** How many scalars a value has, an array's elements counted once. */
export function sizeOf(type: SqlType): number {
  if (type.kind === 'ARRAY') return sizeOf(type.element);
  if (type.kind !== 'STRUCT') return 1;
  let size = known.get(type);
  if (size === undefined) {
    size = type.fields.reduce((sum, field) => sum + sizeOf(field.type), 1);
    known.set(type, size);
  }
  return size;
}

/** What one query has spent of the bounds. */
export class Budget {
  #fields = 0;
  #columns = 0;

  /** Columns made, or listed by a star. @throws QueryError `resourcesExceeded` */
  columns(count: number): void {
    this.#columns += count;
    if (this.#columns > MAX_COLUMNS) {
      throw tooLarge(`A query has at most ${MAX_COLUMNS} columns in all its parts together.`, null);
    }
  }

  /** @throws QueryError `resourcesExceeded` */
  value(type: SqlType, span: Span): void {
    const size = sizeOf(type);
    if (size > MAX_FIELDS) throw tooLarge(`A struct has at most ${MAX_FIELDS} fields, inner ones included.`, span);
    if (size > 1 && (this.#fields += size) > MAX_ALL_FIELDS) {
      throw tooLarge('The query handles too many fields of structs. Name the fields that it needs.', span);
    }
  }
}

export function tooLarge(message: string, span: Span | null): QueryError {
  return new QueryError('resourcesExceeded', message, span);
}
