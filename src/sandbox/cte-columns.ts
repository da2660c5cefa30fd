/** The columns of the CTE tables, as the engine describes them. */
import { LRUCache } from 'lru-cache';
import { type BoundParameter, quotedName, type TypedParameter, type TableSchema } from '@logquay/googlesql/types';
import type { Engine, RunLimits } from '@logquay/duckdb-engine/contract';
import { QueryError } from '../errors';
import { compose } from './compose';
import type { StoredQuery } from './stored-query';

/** Milliseconds after which columns are read again: a table may have got new ones. */
const MAX_AGE = 3_600_000;
const MAX_ENTRIES = 2_000;

/** A CTE table cannot be described, as the stored query is wrong. */
export class StoredQueryFault extends Error {
  override readonly name = 'StoredQueryFault';

  constructor(readonly fault: QueryError) {
    super(fault.message);
  }
}

export class CteColumns {
  readonly #engine: Engine;
  readonly #known = new LRUCache<string, Promise<TableSchema>>({ max: MAX_ENTRIES, ttl: MAX_AGE });

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @throws what `Engine.describe` throws; a failure is not kept */
  of(stored: StoredQuery, tables: readonly string[], limits: RunLimits): Promise<readonly TableSchema[]> {
    return Promise.all(tables.map((table) => this.#table(stored, table, limits)));
  }

  /** Forgets what is known of an endpoint's tables, so that the next reading asks the engine. */
  forget(stored: StoredQuery): void {
    for (const table of stored.cteTables) this.#known.delete(this.#key(stored, table));
  }

  #table(stored: StoredQuery, table: string, limits: RunLimits): Promise<TableSchema> {
    const key = this.#key(stored, table);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const columns = this.#describe(stored, table, limits);
    this.#known.set(key, columns);
    columns.catch(() => this.#known.delete(key));
    return columns;
  }

  async #describe(stored: StoredQuery, table: string, limits: RunLimits): Promise<TableSchema> {
    const { sql, parameters } = compose(stored, `SELECT * FROM ${quotedName(table)}`, [table]);
    const values = typicalValues(stored).filter(({ name }) => parameters.has(name.toLowerCase()));
    const columns = await this.#engine.describe(sql, values, limits).catch((error: unknown) => {
      throw error instanceof QueryError ? new StoredQueryFault(error) : error;
    });
    return { name: table, columns };
  }

  #key(stored: StoredQuery, table: string): string {
    return JSON.stringify([stored.id, stored.revision, this.#engine.target, table]);
  }
}

/** Values that give each declared parameter its type where no value matters. */
export function typicalValues(stored: StoredQuery): readonly BoundParameter[] {
  const { parameters, requiredInstants = [] } = stored;
  return parameters.map((parameter) =>
    requiredInstants.includes(parameter.name)
      ? { name: parameter.name, type: 'STRING', value: TYPICAL_INSTANT }
      : typicalValue(parameter),
  );
}

/**
 * A date, and as a timestamp its first instant. A dry run computes what is constant, to find the partitions that a query
 * reads: a cast of '' would fail there.
 */
const TYPICAL_INSTANT = '2000-01-01';

function typicalValue({ name, type }: TypedParameter): BoundParameter {
  switch (type) {
    case 'STRING':
      return { name, type, value: '' };
    case 'INT64':
    case 'FLOAT64':
      return { name, type, value: '0' };
    case 'BOOL':
      return { name, type, value: 'false' };
    default:
      return { name, type, value: [] };
  }
}
