/** What the last run answered. */
import { signal } from '@preact/signals';
import type { NamedType, Roles } from '@logquay/googlesql/types';

import type { ApiError, EndpointDescription, Sent } from './api';
import type { JsonObject } from './exact-json';
import { type Search, search, type Written } from './search';
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
  /** Why no older rows came; empty: they did, or were not asked for. */
  readonly olderFault: string;
  /** From request to the last byte. */
  readonly milliseconds: number;
  /** Seconds since it was computed; null: it was, for this request. */
  readonly age: number | null;
  readonly bytesBilled: string | null;
  readonly endpoint: EndpointDescription;
  /** What was sent. What is asked for later, such as older rows, is about this and not about what is written since. */
  readonly parameters: Sent;
  /** The search as it was written then. */
  readonly search: Search;
  /** The query among it. */
  readonly written: Written;
  /** Names of the parameters that bound the time; null: there are none. */
  readonly rangeParameters: readonly [string, string] | null;
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

/** The search that was run, as it is looked at now; where there is no result, the one that is written. */
export function shownSearch(): Search {
  const { columns, zone, chart, row } = search.value;
  return { ...(result.value?.search ?? search.value), columns, zone, chart, row };
}

export const failure = signal<ApiError | null>(null);
