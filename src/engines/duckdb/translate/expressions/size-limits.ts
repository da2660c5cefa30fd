/** Bounds on what a query makes that a caller should know: docs/dialect.md lists them. */
import { CHUNK_BYTES } from '../../scalar-functions/chunk-budget';

/** Of one row alone, and of each of many rows. */
export interface Bound {
  readonly once: number;
  readonly perRow: number;
}

/** Bytes of a text that becomes a BIGNUMERIC. */
export const LONGEST_NUMBER = 4_096;

interface Limits {
  /** Elements of a generated array, and of arrays joined. */
  readonly elements: Bound;
  /** Bytes of a text that is repeated or padded. */
  readonly filled: Bound;
  /** Bytes of a text joined or rewritten from others that are not just as a table holds them. */
  readonly joined: Bound;
  /** Of one group, as many as BigQuery's sketches of quantiles tell apart at most: KLL_QUANTILES takes a precision up to this. */
  readonly quantiles: Bound;
  readonly topValues: number;
  /** Rows of a group of APPROX_TOP_SUM times its different values. */
  readonly topSumSteps: number;
  /** Steps of 25 ns to gather what the frame of a row holds, and those of all rows: refused beyond both together. */
  readonly gatheredSteps: { readonly row: number; readonly total: number };
  /** Of a width or a precision in FORMAT. */
  readonly places: number;
  /** Elements of the format of a date or time. */
  readonly formatElements: number;
  readonly formatCharacters: number;
  /** Of the search_query of SEARCH. */
  readonly searchCharacters: number;
  /** Bytes that a function of our own is given at once, those of a table too: it runs on one thread for all queries. */
  readonly ownFunctions: number;
}

export const LIMITS: Limits = {
  elements: { once: 1_000_000, perRow: 2_048 },
  filled: { once: 256 * 1024, perRow: 16 * 1024 },
  joined: { once: 1024 * 1024, perRow: 64 * 1024 },
  quantiles: { once: 100_000, perRow: 2_048 },
  topValues: 100_000,
  topSumSteps: 20_000_000,
  gatheredSteps: { row: 4_096, total: 20_000_000 },
  places: 1_000,
  formatElements: 100,
  formatCharacters: 1_000,
  searchCharacters: 1_000,
  ownFunctions: CHUNK_BYTES,
};
