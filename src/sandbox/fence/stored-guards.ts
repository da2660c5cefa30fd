/**
 * Guard columns for the CTEs of a stored query: BOOL, TRUE on exactly the rows that the CTE shows. They are added to the
 * text by edits, so that the rest of it stays what its author wrote.
 */
import type { Query, QueryBody, WithEntry } from '@logquay/googlesql/syntax';
import { applyEdits, type Edit } from '@logquay/googlesql/consumer';
import type { FromContext, GuardScope } from './from-guards';
import { guardSelect } from './guarded-select';
import { SourceText, Unfenceable } from './source-text';
import { mayFail } from './written-totality';

/** One CTE with a guard column. */
export interface GuardedCte {
  /** `name AS (...)`, edited. */
  readonly sql: string;
  readonly guard: string;
  /** Whether its select list holds what may fail, so that merely reading it does. */
  readonly fallible: boolean;
}

/** A CTE that no guard column can be added to. */
export interface UnguardedCte {
  readonly unfenceable: Unfenceable;
  readonly fallible: boolean;
}

/** The CTEs of a stored query by lower-case name. */
export type StoredGuards = ReadonlyMap<string, GuardedCte | UnguardedCte>;

const known = new WeakMap<Query, StoredGuards>();

/** Worked out once for each revision of an endpoint, whose syntax tree `query` is. */
export function storedGuards({ sql, query }: { readonly sql: string; readonly query: Query }): StoredGuards {
  const found = known.get(query) ?? guardEntries(sql, query);
  known.set(query, found);
  return found;
}

function guardEntries(sql: string, query: Query): StoredGuards {
  const source = new SourceText(sql);
  const guards = new Map<string, GuardedCte | UnguardedCte>();
  const scope = new Map<string, string | Unfenceable>();
  const prefix = freePrefix(source);
  for (const [i, entry] of (query.with?.entries ?? []).entries()) {
    const name = entry.name.name.toLowerCase();
    const guarded = guardEntry(source, entry, scope, `${prefix}${i + 1}`);
    guards.set(name, guarded);
    scope.set(name, 'guard' in guarded ? guarded.guard : guarded.unfenceable);
  }
  return guards;
}

/** What no name of the stored query begins with. */
function freePrefix({ tokens }: SourceText): string {
  const names = tokens.filter(({ kind }) => kind === 'identifier').map(({ value }) => value.toLowerCase());
  const isFree = (prefix: string): boolean => !names.some((name) => name.startsWith(prefix));
  let prefix = 'logquay_guard_';
  while (!isFree(prefix)) prefix = `_${prefix}`;
  return prefix;
}

function guardEntry(source: SourceText, entry: WithEntry, scope: GuardScope, guard: string): GuardedCte | UnguardedCte {
  const edits: Edit[] = [];
  let inner = 0;
  const fresh = (): string => `${guard}_${++inner}`;
  try {
    guardQuery({ source, edits, fresh }, entry.query, scope, guard);
  } catch (error) {
    if (!(error instanceof Unfenceable)) throw error;
    return { unfenceable: error, fallible: mayFail(entry.query) };
  }
  const { start, end } = entry.span;
  const ordered = edits.sort((a, b) => a.start - b.start).map((edit) => shifted(edit, start));
  const { text } = applyEdits(source.text.slice(start, end), ordered);
  return { sql: text, guard, fallible: edits.some(({ by }) => by.startsWith('IF(')) };
}

function shifted({ start, end, by }: Edit, from: number): Edit {
  return { start: start - from, end: end - from, by };
}

interface Editing {
  readonly source: SourceText;
  readonly edits: Edit[];
  /** A name for the guard of an inner query. */
  readonly fresh: () => string;
}

function guardQuery(editing: Editing, query: Query, outer: GuardScope, guard: string): void {
  if (query.pipes.length > 0) throw new Unfenceable('pipe syntax');
  if (query.limit !== null) throw new Unfenceable('a LIMIT');
  if (query.with?.recursive === true) throw new Unfenceable('WITH RECURSIVE');
  if (query.orderBy.some(({ expression }) => mayFail(expression)))
    throw new Unfenceable('an ORDER BY of an expression that may fail');
  const scope = new Map(outer);
  for (const { name, query: inner } of query.with?.entries ?? []) {
    const own = editing.fresh();
    guardQuery(editing, inner, scope, own);
    scope.set(name.name.toLowerCase(), own);
  }
  guardBody(editing, query.body, scope, guard);
}

function guardBody(editing: Editing, body: QueryBody, scope: GuardScope, guard: string): void {
  switch (body.kind) {
    case 'query':
      return guardQuery(editing, body, scope, guard);
    case 'set_operation':
      // A row of one side that the other side takes away passes the conditions of its own.
      if (body.operator !== 'union') throw new Unfenceable(body.operator.toUpperCase());
      if (body.matching !== null) throw new Unfenceable('a set operation BY NAME');
      for (const input of body.inputs) guardBody(editing, input, scope, guard);
      return;
    case 'from_query':
      throw new Unfenceable('pipe syntax');
    case 'select': {
      const context: FromContext = {
        source: editing.source,
        scope,
        guardQuery: (query) => {
          const own = editing.fresh();
          guardQuery(editing, query, scope, own);
          return own;
        },
      };
      editing.edits.push(...guardSelect(context, body, guard));
    }
  }
}
