import { isDeepStrictEqual } from 'node:util';

import { LRUCache } from 'lru-cache';

import type { Endpoint, ParameterDeclaration } from '../endpoints/endpoint';
import { boundTypes } from '../endpoints/parameters';
import { QueryError } from '../errors';
import { typicalValues } from '../sandbox/cte-columns';
import type { Gate } from '../sandbox/gate';
import type { StoredQuery } from '../sandbox/stored-query';
import type { Engine, RunLimits, TableSchemas } from '../engines/contract';
import { tablesRead } from '../googlesql/from-paths';
import type { Span } from '../googlesql/syntax';
import type { NamedType, TableSchema } from '../googlesql/types';
import { analyseStored, type StoredAnalysis } from './stored-query';

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

  /** @throws ServiceError where the engine does not answer in time; a failure is not kept */
  of(endpoint: Endpoint, limits: RunLimits): Promise<StoredAnalysis> {
    const key = this.#key(endpoint);
    const known = this.#known.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const analysis = this.#analyse(endpoint, limits)
      .then((fresh) => {
        this.#known.set(key, fresh);
        return fresh;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, analysis);
    return analysis;
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
    const paths = read.map(({ path }) => path.map(({ name }) => name));
    const tables = await this.#tablesAt(unique(paths), limits);
    const own = analyseStored(endpoint, tables);
    const isComplete = paths.every((path) => tables.schemas.has(path.join('.')));
    // The engine has the last word: it may know more, or less, than our resolver.
    const described = await this.#describe(endpoint, limits);
    if (described instanceof QueryError) {
      if (isComplete || this.engine.kind === 'duckdb') {
        return { ...own, columns: null, errors: own.errors.length > 0 ? own.errors : [described] };
      }
      // What could not be looked up may yet be there, such as a wildcard table, unless it is what the engine refuses.
      const unsure = read.filter(({ path: [first, ...rest] }) => rest.length > 0 || /[.*]/.test(first?.name ?? ''));
      const isRefused = (error: QueryError): boolean => begins(error, described.span);
      const known = own.errors.filter((error) => isRefused(error) || !unsure.some(({ span }) => begins(error, span)));
      const errors = known.some(isRefused) ? known : [described, ...known];
      return { ...own, columns: null, errors };
    }
    if (own.errors.length === 0 || this.engine.kind === 'duckdb') return own;
    const tablesOfEngine = await this.#cteTables(endpoint, limits);
    const descriptions = { columns: [], tables: new Map<string, never>() };
    return { ...own, columns: described, tables: tablesOfEngine, descriptions, errors: [] };
  }

  async #tablesAt(paths: readonly (readonly string[])[], limits: RunLimits): Promise<TableSchemas> {
    const key = JSON.stringify(paths);
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

  #cteTables(endpoint: Endpoint, limits: RunLimits): Promise<TableSchema[]> {
    const stored = storedQueryOf(endpoint);
    return Promise.all(endpoint.cteTables.map((table) => this.gate.columns(stored, table, limits)));
  }

  #key({ id, revision }: Endpoint): string {
    return JSON.stringify([id, revision, this.engine.target]);
  }
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
