/**
 * The fence on BigQuery (docs/decisions/fence.md): a consumer's query that may fail on a value runs in a form in which it
 * can fail only on rows that the stored query shows.
 */
import { QueryError } from '../../errors';
import { placesThatCanFail, printQuery, queryCanFail, type PrintedQuery, type ResolvedQuery } from '@logquay/googlesql';
import { composeFenced, reachedEntries, type Composed } from '../compose';
import type { StoredQuery } from '../stored-query';
import { storedGuards } from './stored-guards';
import { mayFail } from './written-totality';

/** What of the stored query decides on the fenced form of a query over some of its tables. Plain data. */
export interface Fence {
  /** Table names in lower case with their guard columns. */
  readonly guards: readonly (readonly [table: string, guard: string])[];
  /** Whether merely reading the tables may fail. */
  readonly fallible: boolean;
  /** A table without guard column, and the construct in the way. */
  readonly unfenceable: { readonly table: string; readonly construct: string } | null;
}

/** The fence of the tables that a query reads, and of those that these read. */
export function fenceOf(stored: StoredQuery, tables: readonly string[]): Fence {
  const guards: [string, string][] = [];
  let fallible = false;
  let unfenceable: Fence['unfenceable'] = null;
  const known = storedGuards(stored);
  for (const { name } of reachedEntries(stored, tables)) {
    const cte = known.get(name.name.toLowerCase());
    if (cte === undefined) throw new Error(`No CTE ${name.name}.`);
    fallible ||= cte.fallible;
    if ('guard' in cte) guards.push([name.name.toLowerCase(), cte.guard]);
    else unfenceable ??= { table: name.name, construct: cte.unfenceable.construct };
  }
  return { guards, fallible, unfenceable };
}

/** Whether the stored CTEs behind these tables hold what may fail, anywhere. */
export function storedCanFail(stored: StoredQuery, tables: readonly string[]): boolean {
  const instants = new Set(stored.instants?.map((name) => name.toLowerCase()));
  return reachedEntries(stored, tables).some(({ query }) => mayFail(query, instants));
}

/**
 * The query in its fenced form; null where it may run as it was sent: nothing in it can fail, or it reads no table.
 *
 * @throws QueryError `invalidQuery` where it would have to be fenced and the stored query has a form that cannot be
 */
export function fencedQuery(query: ResolvedQuery, { guards, fallible, unfenceable }: Fence): PrintedQuery | null {
  const readsTables = guards.length > 0 || unfenceable !== null;
  if (!readsTables || !(fallible || queryCanFail(query))) return null;
  if (unfenceable === null) return printQuery(query, { guards: new Map(guards) });
  const { table, construct } = unfenceable;
  throw new QueryError(
    'invalidQuery',
    `The stored query defines ${table} with ${construct}. A key with pinned parameters may not use over it what can fail on a value.`,
    placesThatCanFail(query)[0] ?? null,
  );
}

/** The fenced form behind the stored CTEs with their guard columns. */
export function composeFence(stored: StoredQuery, { sql }: PrintedQuery, tables: readonly string[]): Composed {
  const definitions = new Map<string, string>();
  for (const [name, cte] of storedGuards(stored)) if ('guard' in cte) definitions.set(name, cte.sql);
  return composeFenced(stored, sql, tables, definitions);
}
