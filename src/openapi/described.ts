import { visibleTo } from '../endpoints/catalogue';
import type { Endpoint, ParameterDeclaration } from '../endpoints/endpoint';
import type { Engine } from '@logquay/duckdb-engine/contract';
import { writtenName } from '@logquay/googlesql/syntax';
import type { NamedType } from '@logquay/googlesql/types';
import type { Key, RESERVED } from '../keys/key';
import { mayQuery, redactionForced } from '../run/authorise';

export type ReservedParameter = (typeof RESERVED)[number];

/** For whom an endpoint is described, and on which engine. */
export interface Readers {
  /** null: for everybody, whatever their keys may do. */
  readonly key: Key | null;
  readonly engine: Pick<Engine, 'kind' | 'dataStatus'> & { readonly dryRun: boolean };
}

export interface DescribedParameter extends ParameterDeclaration {
  /** The reader's key fixes the value: to which one stays with who made the key. */
  readonly fixed: boolean;
  /** Whether it is for keys alone that were created with --allow-sql: a pattern would search what redaction hides. */
  readonly byRight: boolean;
}

/** An endpoint as documented: never its SQL. */
export interface DescribedEndpoint {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly maxRows: number;
  /** Most rows of an export; 0: the reader may not export. */
  readonly exportRows: number;
  /** Whether its rows have an order, without which there are no pages. */
  readonly ordered: boolean;
  /** Seconds; 0: not cached. */
  readonly cacheTtl: number;
  /** Whether every result of it is redacted. */
  readonly redacted: boolean;
  /** Whether `sql` and `lql` are for keys alone that were made with --allow-sql. */
  readonly sqlByRight: boolean;
  /** What a query of the caller's own may read; none where it may send none. */
  readonly tables: readonly string[];
  /** Of the rows that the stored query gives; null: not known. */
  readonly columns: readonly NamedType[] | null;
  readonly parameters: readonly DescribedParameter[];
  readonly reserved: readonly ReservedParameter[];
}

/** Columns of a stored query; null: not known. */
export type ColumnsOf = (endpoint: Endpoint) => readonly NamedType[] | null;

/** The endpoints that the readers may run, by name, each with the parameters that they may send. */
export function describeEndpoints(
  endpoints: readonly Endpoint[],
  readers: Readers,
  columnsOf: ColumnsOf = () => null,
): DescribedEndpoint[] {
  const { key } = readers;
  return visibleTo(key, endpoints).map((endpoint) => ({
    ...describeEndpoint(endpoint, readers),
    columns: columnsOf(endpoint),
  }));
}

function describeEndpoint(endpoint: Endpoint, { key, engine }: Readers): Omit<DescribedEndpoint, 'columns'> {
  const { id, name, description, maxRows, exportRows, cacheTtl, redactPii, sandbox, cteTables } = endpoint;
  const redacted = redactPii || (key?.redact ?? false);
  // What a request would be refused for is not offered.
  const takesSql = key === null ? sandbox : mayQuery(key, endpoint, engine);
  const dryRun = engine.dryRun && (key === null || key.pins.size === 0);
  return {
    id,
    name,
    description,
    maxRows,
    ordered: endpoint.ordered,
    exportRows: key === null || key.export ? exportRows : 0,
    cacheTtl,
    redacted,
    sqlByRight: key === null && takesSql && redacted,
    tables: takesSql ? cteTables : [],
    parameters: endpoint.parameters.map((declared) => {
      const fixed = key?.pins.has(declared.name) ?? false;
      const masked = key === null ? redacted : redactionForced(key, endpoint);
      const byRight = declared.type === 'regex' && !fixed && masked;
      return { ...declared, fixed, byRight };
    }),
    reserved: [...(takesSql ? (['sql', 'lql'] as const) : []), ...(dryRun ? (['dry_run'] as const) : [])],
  };
}

type Tables = Pick<DescribedEndpoint, 'tables'>;

/** A query of the caller's own that works over every table; to be tried where the endpoint takes `sql`. */
export function sqlExample(endpoint: Tables): string {
  const table = shownTable(endpoint);
  return `SELECT COUNT(*) AS count FROM ${writtenName(table)}`;
}

/** The same in LQL; null where no table has a name that LQL can write. */
export function lqlExample(endpoint: Tables): string | null {
  const table = shownTable(endpoint);
  return isPlain(table) ? `f:${table}` : null;
}

/** The last one is mostly what the stored query selects from, and has the most to show; of logs, requests do. */
function shownTable({ tables }: Tables): string {
  return tables.find((name) => name === 'edge_logs') ?? tables.at(-1) ?? '';
}

function isPlain(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}
