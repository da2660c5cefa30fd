/**
 * Syntax that the engine is too old for, or cannot evaluate, in a form that it knows: pipes, set operations BY NAME, LIKE ANY and LIKE ALL
 * (whose NOT it takes to be around the whole), GROUP BY ALL, grouping sets, and whatever it says does not fit the grouping. The text is read,
 * resolved and printed by the service's own GoogleSQL; pairs of a pipe query and its standard form written by hand hold that to this engine
 * (test/googlesql/pipes).
 */
import { lineAndColumn, QueryError } from '../../../packages/googlesql/src/face/types';
import {
  COMPOSED_BOUNDS,
  surveyQuery,
  type GroupBy,
  type Query,
  walk,
} from '../../../packages/googlesql/src/face/syntax';
import { printQuery, resolveQuery } from '../../../packages/googlesql/src/face/index';
import type { TableSchema } from '../../../packages/googlesql/src/face/types';
import { type NamedType } from '../googlesql/types';
import { invalidQuery } from '../query/error';
import { withoutGroupingSets } from './grouping-sets';

/** What every such text holds, and others too. */
const WORTH_READING =
  /\|>|(?:^|[()])\s*from\b|\b(?:by\s+name|corresponding|like\s+(?:any|some|all)|by\s+all|grouping|rollup|cube)\b/i;

/** What the engine says of expressions over the keys of a GROUP BY by which later versions know them again. */
const DOES_NOT_FIT = /neither grouped nor aggregated/;

export interface OlderFormOptions {
  /** A table by its path as written. */
  readonly findTable: (path: readonly string[]) => TableSchema | undefined;
  readonly parameters: readonly NamedType[];
  /** What the engine says against the text as it is; null: it has not been asked. */
  readonly refusal: string | null;
}

/**
 * The form that the engine knows of a text with such syntax; null for any other text.
 *
 * @throws BigQueryError `invalidQuery` for a pipe query that is none
 */
export function olderForm(sql: string, { findTable, parameters, refusal }: OlderFormOptions): string | null {
  if (refusal === null ? !WORTH_READING.test(sql) : !DOES_NOT_FIT.test(refusal)) return null;
  try {
    const { query, unsupported } = surveyQuery(sql, COMPOSED_BOUNDS);
    if (refusal === null && !isNewer(query)) return null;
    const [construct] = unsupported;
    if (construct !== undefined)
      throw new QueryError('invalidQuery', `Not supported: ${construct.name}`, construct.span);
    const resolved = resolveQuery(query, sql, {
      findTable: (path) => findTable(path.map(({ name }) => name)),
      parameters: new Map(parameters.map(({ name, type }) => [name.toLowerCase(), type])),
    });
    return printQuery(withoutGroupingSets(resolved)).sql;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (!sql.includes('|>')) return null;
    const { line, column } = lineAndColumn(sql, error.span?.start ?? 0);
    throw invalidQuery(`${error.message.replace(/\.$/, '')} at [${line}:${column}]`);
  }
}

function isNewer(query: Query): boolean {
  let found = false;
  walk(query, (node) => {
    found ||= node.kind === 'from_query' || node.kind === 'quantified_like';
    found ||= node.kind === 'query' && node.pipes.length > 0;
    found ||= node.kind === 'set_operation' && node.matching !== null;
    found ||= node.kind === 'select' && isNewerGrouping(node.groupBy);
    found ||= node.kind === 'call' && node.path.at(-1)?.name.toUpperCase() === 'GROUPING';
    return !found;
  });
  return found;
}

function isNewerGrouping(groupBy: GroupBy | null): boolean {
  return groupBy !== null && (groupBy.all || groupBy.items.some(({ kind }) => kind !== 'expression'));
}
