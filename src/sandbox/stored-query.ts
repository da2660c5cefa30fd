import type { TypedParameter } from '@logquay/googlesql/types';
import type { Query } from '@logquay/googlesql/syntax';

/** What the gate needs of a stored endpoint. Offsets of `query` are offsets into `sql`. */
export interface StoredQuery {
  readonly id: string;
  readonly revision: string;
  readonly sql: string;
  readonly query: Query;
  readonly cteTables: readonly string[];
  readonly parameters: readonly TypedParameter[];
  /** Parameters that hold a valid timestamp or date, or '': a cast of one fails on no row that another does not fail on. */
  readonly instants?: readonly string[];
  /** Those of them that are never ''. */
  readonly requiredInstants?: readonly string[];
}
