/** What is known of a stored query without running it. */
import type { Endpoint } from '../endpoints/endpoint';
import { boundTypes } from '../endpoints/parameters';
import type { QueryError } from '../errors';
import { type TypedParameter, typesByName } from '../engines/bound-parameter';
import type { TableSchemas } from '../engines/contract';
import { type Description, describing } from '../googlesql/descriptions';
import { nearest, surveyMeaning } from '../googlesql/resolver';
import { resultColumns } from '../googlesql/result-columns';
import type { NamedType, TableSchema } from '../googlesql/types';

export interface StoredAnalysis {
  /** Columns of the rows that the query gives without a consumer query; null: not known, as it has faults. */
  readonly columns: readonly NamedType[] | null;
  /** The tables that a consumer query may read, in the order of the WITH; without those that are not known. */
  readonly tables: readonly TableSchema[];
  /** What the owners of the tables behind say of the columns, and of those of the `tables`, each list in their order. */
  readonly descriptions: {
    readonly columns: readonly Description[];
    readonly tables: ReadonlyMap<string, readonly Description[]>;
  };
  /** Types as they are bound, in the order of the declarations. */
  readonly parameters: readonly TypedParameter[];
  /** In the order of the text; spans are offsets into the endpoint's `sql`. */
  readonly errors: readonly QueryError[];
  /** For the operator. */
  readonly warnings: readonly string[];
}

/** Resolves a stored query against the engine's tables: every fault that can be told from the others, and all types. */
export function analyseStored(
  endpoint: Pick<Endpoint, 'sql' | 'query' | 'parameters'>,
  tables: TableSchemas,
): StoredAnalysis {
  const { sql, query } = endpoint;
  const parameters = boundTypes(endpoint);
  const { resolved, faults } = surveyMeaning(query, sql, {
    findTable: (path) => tables.schemas.get(path.map(({ name }) => name).join('.')),
    parameters: typesByName(parameters),
    // A data set in front of it is that of another engine, or the one that is meant anyway.
    suggestTable: (name) => nearest(name, tables.names) ?? nearest(name.split('.').at(-1) ?? name, tables.names),
  });
  const ctes = resolved?.ctes ?? [];
  const described = resolved === null ? () => [] : describing(resolved, tables.descriptions ?? new Map());
  return {
    columns: resolved === null || faults.length > 0 ? null : resultColumns(resolved),
    tables: ctes.map((cte) => ({ name: cte.name, columns: resultColumns(cte.query) })),
    descriptions: {
      columns: resolved === null ? [] : described(resolved),
      tables: new Map(ctes.map(({ name, query: body }) => [name, described(body)])),
    },
    parameters,
    errors: faults,
    warnings: [],
  };
}
