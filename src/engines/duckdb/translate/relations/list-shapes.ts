/**
 * Lists that DuckDB writes as their only elements. A record of a hundred fields, written out so that its lists become lists
 * again, takes DuckDB longer to plan than to read: it writes the record as it is stored, and the brackets are set in the text.
 */
import type { SqlType } from '../../../../googlesql/types';
import { duckType } from '../../sql';

/** Where a JSON value lacks brackets. Plain data. */
export interface ListShape {
  /** Of the value itself. */
  readonly isList: boolean;
  /** Of the members of the object, in their order; null: they are as they should be. */
  readonly members: readonly (ListShape | null)[] | null;
}

/** @param from as it is stored @param to as it is written; null: just so */
export function listShape(from: SqlType, to: SqlType): ListShape | null {
  if (to.kind === 'ARRAY' && from.kind !== 'ARRAY') {
    return { isList: true, members: listShape(from, to.element)?.members ?? null };
  }
  if (to.kind !== 'STRUCT' || from.kind !== 'STRUCT' || duckType(from, true) === duckType(to, true)) return null;
  return { isList: false, members: to.fields.map(({ type }, i) => listShape(from.fields[i]!.type, type)) };
}
