import type { Query } from '@logquay/googlesql/syntax';
import type { BoundParameter, RoleSettings } from '@logquay/googlesql/types';

/**
 * The types that a parameter may be declared with, and what one value of each is bound as. A type is added here, with its reading
 * (values.ts) and its description (openapi/parameter-schema.ts); docs/endpoints.md lists them.
 */
export const BOUND_TYPES = {
  string: 'STRING',
  integer: 'INT64',
  number: 'FLOAT64',
  boolean: 'BOOL',
  timestamp: 'STRING',
  date: 'STRING',
  enum: 'STRING',
  regex: 'STRING',
} as const satisfies Readonly<Record<string, BoundParameter['type']>>;

export type ParameterType = keyof typeof BOUND_TYPES;
export const PARAMETER_TYPES = Object.keys(BOUND_TYPES) as ParameterType[];

export interface ParameterDeclaration {
  readonly name: string;
  /** Of one value. */
  readonly type: ParameterType;
  /** Whether it takes any number of such values: `string[]`. */
  readonly list: boolean;
  readonly required: boolean;
  readonly description: string;
  /** Text as it would stand in a URL, of a list each of its values; null: none. */
  readonly default: string | readonly string[] | null;
  /** How long before now a start begins that a request does not give, as written (`7d`); null: it has no such default. */
  readonly defaultLookback: string | null;
  /** Of an enum. */
  readonly values: readonly string[] | null;
  /** Of integer and number, inclusive, as written. */
  readonly minimum: number | null;
  readonly maximum: number | null;
}

/** One stored endpoint: a checked file of `queries/` (docs/endpoints.md). */
export interface Endpoint {
  readonly id: string;
  readonly name: string;
  /** For the log: as the reader would open it. */
  readonly file: string;
  readonly description: string;
  readonly maxRows: number;
  /** Whether the query has an ORDER BY of its own, without which there are no pages. */
  readonly ordered: boolean;
  /** Most rows of an export; 0: no exports. */
  readonly exportRows: number;
  /** Whether it is a tool of its own over the Model Context Protocol, and under which name. */
  readonly mcp: boolean;
  readonly toolName: string;
  /** Seconds; 0: not cached. */
  readonly cacheTtl: number;
  /** Seconds; 0: not warmed. */
  readonly cacheWarming: number;
  readonly sandbox: boolean;
  readonly redactPii: boolean;
  /** Whether a request with a parameter that the endpoint does not know is refused. */
  readonly strictParams: boolean;
  /** null: the configuration's default. */
  readonly maxBytesBilled: bigint | null;
  /** Milliseconds; null: the configuration's default. */
  readonly timeout: number | null;
  readonly parameters: readonly ParameterDeclaration[];
  /** Columns that play a part in a log, where their names and types do not say it; missing: none is named. */
  readonly log?: RoleSettings | undefined;
  /** The stored text as it stands in the file, head comment included: offsets into `query` are offsets into it. */
  readonly sql: string;
  /** Its tree; read it once for one use, as it may have to be parsed again. */
  readonly query: Query;
  /** Names of the top-level WITH in order: the tables a consumer query may read. */
  readonly cteTables: readonly string[];
  /** SHA-256 of the file's bytes: names this definition in cache keys and verdicts. */
  readonly revision: string;
  /** Of the endpoint that is in no file (tables-endpoint.ts); absent: a file defines it. */
  readonly builtIn?: BuiltIn;
}

export interface BuiltIn {
  /** The definitions of its CTEs by name. */
  readonly ctes: ReadonlyMap<string, string>;
  /** The endpoint as far as a request reads it: what is new beside that changes nothing of it. */
  readonly partFor: (query: { readonly text: string } | null) => Endpoint;
}

/** The endpoint as far as a request reads it. @param query of the caller's own; null: the stored one */
export function partFor(endpoint: Endpoint, query: { readonly text: string } | null): Endpoint {
  return endpoint.builtIn?.partFor(query) ?? endpoint;
}

/** Whether an endpoint, or the part of it that a request reads, is what it was. @param now null: it is gone */
export function isSameDefinition(before: Endpoint, now: Endpoint | null): now is Endpoint {
  if (now?.builtIn === undefined || before.builtIn === undefined) return now?.revision === before.revision;
  const { ctes } = now.builtIn;
  return [...before.builtIn.ctes].every(([name, sql]) => ctes.get(name) === sql);
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
