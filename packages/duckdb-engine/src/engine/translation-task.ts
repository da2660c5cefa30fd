/** From a GoogleSQL text to DuckDB's, as a task: a long text is translated on a thread. */
import type { Task } from '../concurrency/threads/threads';
import { QueryError, type TypedParameter, typesByName } from '@logquay/googlesql/types';
import { COMPOSED_BOUNDS, parseQuery, type Identifier, type Span } from '@logquay/googlesql/syntax';
import { resolveQuery } from '@logquay/googlesql';
import { nameIn } from '../contract/table-names';
import type { StoredTable } from '../data/part';
import { NamedTables } from '../data/named-tables';
import type { Fence } from '../contract/contract';
import { type Output, type ParameterForm, translate, type Translation, withKnownParameters } from '../translate';

/** What a translation may depend on. */
export interface KnownParameter extends TypedParameter {
  /** Missing or null: any value. */
  readonly form?: ParameterForm | null;
}

export interface TextToTranslate {
  readonly sql: string;
  readonly tables: readonly StoredTable[];
  /** A consumer's statement: its tables ignore case, as CTE tables do, and another table is a violation. */
  readonly sandboxed: boolean;
  readonly parameters: readonly KnownParameter[];
  readonly hideBytes: boolean;
  readonly isoTimestamps?: boolean;
  readonly sorted?: boolean;
  readonly output?: Output;
  readonly maxRows: number | null;
  readonly fence: Fence | null;
  /** Suffixes of the tables that are read of a wildcard; missing: it is asked for what gives them. */
  readonly suffixes?: Suffixes;
}

/** By wildcards; what is not in it is read as a whole. */
export type Suffixes = ReadonlyMap<string, readonly string[]>;

/** @throws QueryError for a fault in `sql`, or what the embedded engine does not do */
export const translateText: Task<TextToTranslate, Translation> = {
  file: __filename,
  name: 'translateText',
  run({ sql, tables, sandboxed, parameters, suffixes, ...options }) {
    const keyOf = (name: string): string => (sandboxed ? name.toLowerCase() : name);
    const byName = new Map(tables.map((table) => [keyOf(table.schema.name), table]));
    const stored = new NamedTables(byName, suffixes);
    const find = (name: string): StoredTable | undefined => (sandboxed ? byName.get(keyOf(name)) : stored.find(name));
    const ofPath = (names: readonly string[]): StoredTable | undefined =>
      sandboxed && names.length > 1 ? undefined : find(sandboxed ? names[0]! : nameIn(names));
    const resolved = resolveQuery(parseQuery(sql, COMPOSED_BOUNDS), sql, {
      findTable: (path) => {
        const known = ofPath(path.map(({ name }) => name));
        if (known === undefined && sandboxed) throw outside(path, tables);
        if (known?.conflict !== undefined) throw differing(path, known.conflict);
        return known?.schema;
      },
      parameters: typesByName(parameters),
    });
    const forms = parameters.flatMap(({ name, form = null }) =>
      form === null ? [] : ([[name.toLowerCase(), form]] as const),
    );
    return translate(withKnownParameters(resolved, new Map(forms)), {
      parts: ({ name }) => find(name)!.parts,
      suffixesOf: ({ name }) => (suffixes === undefined ? (find(name)!.suffixes ?? []) : []),
      ...options,
    });
  },
};

function outside(path: readonly Identifier[], tables: readonly StoredTable[]): QueryError {
  const span = spanOf(path);
  const allowed = tables.map(({ schema }) => schema.name);
  return new QueryError('sandboxViolation', 'The query reads a table that it may not read.', span, { allowed });
}

function differing(path: readonly Identifier[], conflict: string): QueryError {
  const message = `Tables that the wildcard names do not go together: ${conflict} has another type than in a newer one.`;
  const hint = 'Declare its type in schema.json (docs/data.md), or name fewer tables.';
  return new QueryError('invalidQuery', message, spanOf(path), { hint });
}

function spanOf(path: readonly Identifier[]): Span {
  return { start: path[0]!.span.start, end: path.at(-1)!.span.end };
}
