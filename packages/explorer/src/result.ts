/** What the last run answered. */
import { signal } from '@preact/signals';
import type { NamedType, Roles } from '@logquay/googlesql/types';

import type { ApiError, Sent } from './api';
import type { JsonObject } from './exact-json';
import type { Bounds } from './time-range';

export interface Result {
  readonly rows: readonly JsonObject[];
  readonly columns: readonly string[];
  /** Of the columns: from the analysis, else as the rows have them. */
  readonly types: readonly NamedType[];
  /** Which of the columns are time, message, severity and trace. */
  readonly roles: Roles;
  readonly bounds: Bounds;
  /** Whether the endpoint's max rows cut it. */
  readonly truncated: boolean;
  /** From request to the last byte. */
  readonly milliseconds: number;
  /** Seconds since it was computed; null: it was, for this request. */
  readonly age: number | null;
  readonly bytesBilled: string | null;
  /** What was sent. */
  readonly parameters: Sent;
  /** Whether the rows are those of a query that the page sent, and not the endpoint's own. */
  readonly ofQuery: boolean;
  /** Whether that query groups rows. */
  readonly isGrouped: boolean;
  /** What the service reads in the query that may not be meant; empty: nothing. */
  readonly warnings: string;
  /** Which run it is of: rows that come later belong to the one before them. */
  readonly number: number;
}

export const result = signal<Result | null>(null);
export const failure = signal<ApiError | null>(null);
