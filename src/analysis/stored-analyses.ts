/** What is known of a stored query without running it. */
import type { ResolveStored, UnfitRole } from '../endpoints/catalogue';
import { faultIn } from '../endpoints/definition';
import { raceLimits } from '@logquay/duckdb-engine/concurrency';
import { ServiceError, QueryError } from '../errors';
import type { Endpoint, ParameterDeclaration } from '../endpoints/endpoint';
import { boundTypes } from '../endpoints/parameters';
import type { ConsumerTable } from '@logquay/googlesql/consumer';
import {
  type NamedType,
  pathText,
  type Roles,
  rolesOf,
  type SqlType,
  type StructField,
  type TableSchema,
  type TimeUnits,
  type TypedParameter,
  typesByName,
  unfitRoles,
} from '@logquay/googlesql/types';
import type { TableSchemas, Engine, RunLimits } from '@logquay/duckdb-engine/contract';
import {
  type Description,
  describing,
  type Expr,
  nearest,
  operandsOf,
  type ResolvedQuery,
  resultColumns,
  surveyMeaning,
  visitQuery,
} from '@logquay/googlesql';
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { typicalValues } from '../sandbox/cte-columns';
import type { Gate } from '../sandbox/gate';
import type { StoredQuery } from '../sandbox/stored-query';
import { tablesRead, type Span } from '@logquay/googlesql/syntax';

/** Milliseconds that the engine may take for one stored query. */
const PATIENCE = 10_000;

/** What the catalogue resolves stored queries with. */
export function resolverOf(analyses: Pick<StoredAnalyses, 'of' | 'forget'>): ResolveStored {
  return async (endpoint) => {
    analyses.forget(endpoint);
    const limits = { deadline: performance.now() + PATIENCE, signal: new AbortController().signal };
    try {
      const analysis = await analyses.of(endpoint, limits);
      const { errors } = analysis;
      if (errors.length === 0) return { kind: 'resolved', unfit: unfitRolesOf(endpoint, analysis) };
      return { kind: 'faulty', faults: errors.map((error) => faultIn(endpoint.sql, error)) };
    } catch (error) {
      // Anything else is a fault of ours: it must not take a working endpoint away.
      const reason = error instanceof ServiceError ? error.message : `it cannot be analysed (${String(error)})`;
      return { kind: 'unreachable', reason };
    }
  };
}

const FITTING: Readonly<Record<UnfitRole['role'], string>> = {
  time: 'a time is TIMESTAMP or DATETIME, or INT64 or FLOAT64 with its unit, outside of lists: time: { column: NAME, unit: ms }',
  message: 'a message is STRING or JSON',
  severity: 'a severity is STRING, JSON or a number, and numbers are told by the names of their columns',
  trace: 'a trace is STRING',
};

function unfitRolesOf({ log = {} }: Endpoint, { tables, columns }: StoredAnalysis): readonly UnfitRole[] {
  const known = [...tables.map((table) => table.columns), ...(columns === null ? [] : [columns])];
  return unfitRoles(known, log).map(({ role, path, isThere }) => {
    const near = nearest(
      path[0] ?? '',
      known.flatMap((one) => one.map(({ name }) => name)),
    );
    const meant = near === undefined || isThere ? '' : `. Did you mean ${near}?`;
    const why = isThere ? FITTING[role] : `no table of the query has it${meant}`;
    return { role, reason: `log: ${role}: ${pathText(path)}: ${why}` };
  });
}

export interface StoredAnalysis {
  /** The roles of those columns. */
  readonly roles: Roles | null;
  /** Columns of the rows that the query gives without a consumer query; null: not known, as it has faults. */
  readonly columns: readonly NamedType[] | null;
  /** The tables that a consumer query may read, in the order of the WITH; without those that are not known. */
  readonly tables: readonly ConsumerTable[];
  /** What the owners of the tables behind say of the columns, and of those of the `tables`, each list in their order. */
  readonly descriptions: {
    readonly columns: readonly Description[];
    readonly tables: ReadonlyMap<string, readonly Description[]>;
  };
  /** Whether its rows tell what columns a table has that nobody has declared: they depend on rows of everybody. */
  readonly showsInferred: boolean;
  /** Types as they are bound, in the order of the declarations. */
  readonly parameters: readonly TypedParameter[];
  /** In the order of the text; spans are offsets into the endpoint's `sql`. */
  readonly errors: readonly QueryError[];
  /** For the operator. */
  readonly warnings: readonly string[];
}

/** Resolves a stored query against the engine's tables: every fault that can be told from the others, and all types. */
function analyseStored(
  endpoint: Pick<Endpoint, 'sql' | 'query' | 'parameters' | 'log'>,
  tables: TableSchemas,
): StoredAnalysis {
  const { sql, query, log } = endpoint;
  const parameters = boundTypes(endpoint);
  const { resolved, faults } = surveyMeaning(query, sql, {
    findTable: (path) => tables.schemas.get(path.map(({ name }) => name).join('.')),
    parameters: typesByName(parameters),
    // A data set in front of it is that of another engine, or the one that is meant anyway.
    suggestTable: (name) => nearest(name, tables.names) ?? nearest(name.split('.').at(-1) ?? name, tables.names),
  });
  const ctes = resolved?.ctes ?? [];
  const described = resolved === null ? () => [] : describing(resolved, tables.descriptions ?? new Map());
  const unitsIn = resolved === null ? () => [] : describing(resolved, unitsOf(tables));
  const withRoles = (part: ResolvedQuery): Omit<ConsumerTable, 'name'> => {
    const columns = resultColumns(part);
    const units = unitsIn(part).flatMap(({ text }, i) =>
      text === null ? [] : [[columns[i]?.name ?? '', text] as const],
    );
    return { columns, roles: rolesOf(columns, log, new Map(units) as TimeUnits) };
  };
  const own = resolved === null || faults.length > 0 ? null : withRoles(resolved);
  return {
    columns: own?.columns ?? null,
    roles: own?.roles ?? null,
    tables: ctes.map((cte) => ({ name: cte.name, ...withRoles(cte.query) })),
    descriptions: {
      columns: resolved === null ? [] : described(resolved),
      tables: new Map(ctes.map(({ name, query: body }) => [name, described(body)])),
    },
    parameters,
    showsInferred: faults.length === 0 && showsColumnsOf(endpoint, tables),
    errors: faults,
    warnings: [],
  };
}

/** The units of numbers that are times, as descriptions: they follow columns that are handed on as they are alike. */
function unitsOf({ schemas }: TableSchemas): ReadonlyMap<string, readonly Description[]> {
  const timed = [...schemas.values()].flatMap(({ name, columns, timeUnits }) =>
    timeUnits === undefined
      ? []
      : [[name, columns.map((column) => ({ text: timeUnits.get(column.name) ?? null, fields: [] }))] as const],
  );
  return new Map(timed);
}

/** A column, or a field of a record, that no table has. */
const NEW_FIELD: NamedType = { name: 'logquay:new', type: { kind: 'STRING' } };

/** Fields with one more, and each record in them, at any depth, with one more. */
function withNewField(fields: readonly StructField[]): readonly StructField[] {
  return [...fields.map((field) => ({ ...field, type: withNewFields(field.type) })), NEW_FIELD];
}

function withNewFields(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { kind: 'ARRAY', element: withNewFields(type.element) };
  return type.kind === 'STRUCT' ? { kind: 'STRUCT', fields: withNewField(type.fields) } : type;
}

function hasNewField(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return hasNewField(type.element);
  return type.kind === 'STRUCT' && type.fields.some(isNewField);
}

function isNewField({ name, type }: StructField): boolean {
  return name === NEW_FIELD.name || hasNewField(type);
}

/** Types of what a record is written as: its fields are then in the value. */
const WRITTEN: ReadonlySet<string> = new Set<SqlType['kind']>(['STRING', 'BYTES', 'JSON']);

/** Whether a field that an inferred table gets is seen in the rows of a query: by `*`, or in a record that is given or written whole. */
function showsColumnsOf(endpoint: Pick<Endpoint, 'sql' | 'query' | 'parameters'>, tables: TableSchemas): boolean {
  const { inferred } = tables;
  if (inferred === undefined || inferred.size === 0) return false;
  const findTable = (path: readonly { readonly name: string }[]): TableSchema | undefined => {
    const name = path.map((part) => part.name).join('.');
    const table = tables.schemas.get(name);
    if (table === undefined || !inferred.has(name)) return table;
    return { ...table, columns: withNewField(table.columns) as readonly NamedType[] };
  };
  const { sql, query } = endpoint;
  const { resolved, faults } = surveyMeaning(query, sql, { findTable, parameters: typesByName(boundTypes(endpoint)) });
  if (resolved === null || faults.length > 0) return true;
  let isSeen = resultColumns(resolved).some(isNewField);
  const isWritten = (expr: Expr): boolean =>
    expr.kind === 'call' && WRITTEN.has(expr.type.kind) && operandsOf(expr).some(({ type }) => hasNewField(type));
  visitQuery(resolved, { expr: (expr) => void (isSeen ||= isWritten(expr)) });
  return isSeen;
}

/** Milliseconds that an analysis may take, whoever waits for it. */
const LONGEST = 30_000;
/** Milliseconds after which an endpoint is analysed again: its tables may have changed. */
const MAX_AGE = 3_600_000;
/** More than anybody has: each takes some 7 kB, and documents of all endpoints go through all of them again and again. */
const MAX_ENTRIES = 5_000;
/** Milliseconds for which tables are taken to be as they were: stored queries that are resolved together share their schemas. */
const TABLES_AGE = 2_000;

interface ReadTables {
  readonly tables: TableSchemas;
  /** Milliseconds of `performance.now()`. */
  readonly readAt: number;
}

/** Analyses of stored queries against the tables of an engine, kept for an hour. */
export class StoredAnalyses {
  readonly #known = new LRUCache<string, StoredAnalysis>({ max: MAX_ENTRIES, ttl: MAX_AGE });
  readonly #running = new Map<string, Promise<StoredAnalysis>>();
  readonly #tables = new LRUCache<string, ReadTables>({ max: 100 });

  constructor(
    private readonly engine: Pick<Engine, 'kind' | 'target' | 'tables' | 'describe'>,
    private readonly gate: Pick<Gate, 'columns'>,
  ) {}

  /**
   * Callers wait for one analysis, each within its own limits: it has others, as the first of them may leave.
   *
   * @throws ServiceError where the engine does not answer in time; a failure is not kept
   */
  of(endpoint: Endpoint, limits: RunLimits): Promise<StoredAnalysis> {
    const key = this.#key(endpoint);
    const known = this.#known.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const work = (): Promise<StoredAnalysis> => this.#running.get(key) ?? this.#start(key, endpoint);
    return raceLimits(limits, work, () => undefined);
  }

  #start(key: string, endpoint: Endpoint): Promise<StoredAnalysis> {
    const limits = { deadline: performance.now() + LONGEST, signal: new AbortController().signal };
    const analysis = this.#analyse(endpoint, limits)
      .then((fresh) => {
        this.#known.set(key, fresh);
        return fresh;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, analysis);
    return analysis;
  }

  /**
   * What the columns of tables say of roles, as far as our resolver knows them: also while a table that another part of the query
   * reads cannot be served.
   *
   * @throws ServiceError where the engine does not answer in time
   */
  async roles(endpoint: Endpoint, limits: RunLimits): Promise<Pick<StoredAnalysis, 'roles' | 'tables'>> {
    return (
      this.#known.get(this.#key(endpoint)) ?? analyseStored(endpoint, await this.#tablesAt(pathsIn(endpoint), limits))
    );
  }

  /** The last analysis of this definition, which may be older than an hour; null: there was none. */
  latest(endpoint: Endpoint): StoredAnalysis | null {
    return this.#known.get(this.#key(endpoint), { allowStale: true, noDeleteOnStaleGet: true }) ?? null;
  }

  /** Forgets what is known of an endpoint, so that the next call analyses it again. */
  forget(endpoint: Endpoint): void {
    this.#known.delete(this.#key(endpoint));
  }

  async #analyse(endpoint: Endpoint, limits: RunLimits): Promise<StoredAnalysis> {
    const read = tablesRead(endpoint.query).map(({ node }) => node);
    const paths = pathsIn(endpoint);
    const tables = await this.#tablesAt(unique(paths), limits);
    const own = analyseStored(endpoint, tables);
    const isComplete = paths.every((path) => tables.schemas.has(path.join('.')));
    // The engine has the last word: it may know more, or less, than our resolver.
    const described = await this.#describe(endpoint, limits);
    if (described instanceof QueryError) {
      if (isComplete || this.engine.kind === 'duckdb') {
        return { ...own, columns: null, roles: null, errors: own.errors.length > 0 ? own.errors : [described] };
      }
      // What could not be looked up may yet be there, such as a wildcard table, unless it is what the engine refuses.
      const unsure = read.filter(({ path: [first, ...rest] }) => rest.length > 0 || /[.*]/.test(first?.name ?? ''));
      const isRefused = (error: QueryError): boolean => begins(error, described.span);
      const known = own.errors.filter((error) => isRefused(error) || !unsure.some(({ span }) => begins(error, span)));
      const errors = known.some(isRefused) ? known : [described, ...known];
      return { ...own, columns: null, roles: null, errors };
    }
    if (own.errors.length === 0 || this.engine.kind === 'duckdb') return own;
    const tablesOfEngine = await this.#cteTables(endpoint, limits);
    const descriptions = { columns: [], tables: new Map<string, never>() };
    const roles = rolesOf(described, endpoint.log);
    return { ...own, columns: described, roles, tables: tablesOfEngine, descriptions, errors: [] };
  }

  async #tablesAt(paths: readonly (readonly string[])[], limits: RunLimits): Promise<TableSchemas> {
    const key = JSON.stringify([this.engine.target, paths]);
    const known = this.#tables.get(key);
    if (known !== undefined && performance.now() - known.readAt < TABLES_AGE) return known.tables;
    const read = await this.engine.tables(paths, limits);
    const tables = known !== undefined && isDeepStrictEqual(known.tables, read) ? known.tables : read;
    this.#tables.set(key, { tables, readAt: performance.now() });
    return tables;
  }

  /** @throws what `Engine.describe` throws beside QueryError */
  async #describe(endpoint: Endpoint, limits: RunLimits): Promise<readonly NamedType[] | QueryError> {
    const values = typicalValues(storedQueryOf(endpoint));
    return this.engine.describe(endpoint.sql, values, limits).catch((error: unknown) => {
      if (error instanceof QueryError) return error;
      throw error;
    });
  }

  #cteTables(endpoint: Endpoint, limits: RunLimits): Promise<ConsumerTable[]> {
    const stored = storedQueryOf(endpoint);
    const one = async (table: string): Promise<ConsumerTable> => {
      const { columns } = await this.gate.columns(stored, table, limits);
      return { name: table, columns, roles: rolesOf(columns, endpoint.log) };
    };
    return Promise.all(endpoint.cteTables.map(one));
  }

  #key({ id, revision }: Endpoint): string {
    return JSON.stringify([id, revision, this.engine.target]);
  }
}

/** The tables that a stored query names. */
function pathsIn({ query }: Endpoint): readonly (readonly string[])[] {
  return tablesRead(query).map(({ node }) => node.path.map(({ name }) => name));
}

/** What the gate and the engine need of an endpoint. */
export function storedQueryOf(endpoint: Endpoint): StoredQuery {
  const { id, revision, sql, query, cteTables, parameters } = endpoint;
  const isInstant = ({ type, list }: ParameterDeclaration): boolean =>
    !list && (type === 'timestamp' || type === 'date');
  const instants = parameters.filter(isInstant);
  return {
    id,
    revision,
    sql,
    query,
    cteTables,
    parameters: boundTypes(endpoint),
    instants: instants.map(({ name }) => name),
    requiredInstants: instants.filter(({ required }) => required).map(({ name }) => name),
  };
}

function begins({ span }: QueryError, at: Span | null): boolean {
  return span !== null && span.start === at?.start;
}

function unique(paths: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...new Map(paths.map((path) => [path.join('.'), path])).values()];
}
