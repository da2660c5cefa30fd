/**
 * Syntax that the engine is too old for, in the form that it knows: pipes, set operations BY NAME, and LIKE ANY and LIKE ALL, whose NOT
 * it takes to be around the whole. The text is read, resolved and printed by the service's own
 * GoogleSQL; pairs of a pipe query and its standard form written by hand hold that to this engine (test/googlesql/pipes).
 */
import { lineAndColumn, QueryError } from '../../../src/errors';
import { COMPOSED_BOUNDS } from '../../../src/googlesql/bounds';
import { surveyQuery } from '../../../src/googlesql/parser';
import { printQuery } from '../../../src/googlesql/printer';
import { resolveQuery } from '../../../src/googlesql/resolver';
import type { Query } from '../../../src/googlesql/syntax';
import { walk } from '../../../src/googlesql/syntax-walk';
import type { TableSchema } from '../../../src/googlesql/types';
import { type NamedType } from '../googlesql/types';
import { invalidQuery } from '../query/error';

/** What every such text holds, and others too. */
const WORTH_READING = /\|>|(?:^|[()])\s*from\b|\b(?:by\s+name|corresponding|like\s+(?:any|some|all))\b/i;

/**
 * The form that the engine knows of a text with such syntax; null for any other text.
 *
 * @param findTable a table by its path as written
 * @throws BigQueryError `invalidQuery` for such a text that is no query
 */
export function standardForm(
  sql: string,
  findTable: (path: readonly string[]) => TableSchema | undefined,
  parameters: readonly NamedType[],
): string | null {
  if (!WORTH_READING.test(sql)) return null;
  try {
    const { query, unsupported } = surveyQuery(sql, COMPOSED_BOUNDS);
    if (!isNewer(query)) return null;
    const [construct] = unsupported;
    if (construct !== undefined)
      throw new QueryError('invalidQuery', `Not supported: ${construct.name}`, construct.span);
    const resolved = resolveQuery(query, sql, {
      findTable: (path) => findTable(path.map(({ name }) => name)),
      parameters: new Map(parameters.map(({ name, type }) => [name.toLowerCase(), type])),
    });
    return printQuery(resolved).sql;
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
    return !found;
  });
  return found;
}
