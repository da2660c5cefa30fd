import { LRUCache } from 'lru-cache';
import { QueryError } from '../../../errors';
import type { Threads } from '../../../concurrency/threads';
import type { NamedType, TableSchema } from '../../../googlesql/types';
import type { BoundParameter, Fence, RunLimits } from '../../contract';
import type { Database } from './database';
import type { StoredPart, Translation } from '../translate';
import { translateText } from './translation-task';

/** Characters of texts, queries and translations together. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface Reading {
  readonly hideBytes: boolean;
  readonly maxRows: number;
  /** The operator's own text. */
  readonly stored: boolean;
  readonly fence: Fence | null;
}

/** GoogleSQL into DuckDB SQL, remembered: a text that comes again is neither parsed nor resolved again. */
export class Translations {
  readonly #cache = new LRUCache<string, Translation>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (translation, key) => translation.sql.length + key.length,
  });

  private readonly tables: readonly TableSchema[];
  private readonly parts: readonly (readonly StoredPart[])[];

  constructor(
    database: Pick<Database, 'tables' | 'parts'>,
    private readonly threads: Threads,
  ) {
    this.tables = [...database.tables.values()];
    this.parts = this.tables.map((table) => database.parts(table));
  }

  /**
   * The statement that answers `sql`, cut off after `maxRows`.
   *
   * @throws QueryError for a fault in `sql`, or what the embedded engine does not do; as Threads.do
   */
  async translation(
    sql: string,
    parameters: readonly BoundParameter[],
    { hideBytes, maxRows, stored, fence }: Reading,
    limits: RunLimits,
  ): Promise<Translation> {
    const types = parameters.map(({ name, type }) => `${name}:${type}`).sort();
    const key = JSON.stringify([hideBytes, maxRows, types, fence, sql]);
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const translation = await this.#translate(sql, parameters, { hideBytes, maxRows, stored, fence }, limits);
    this.#cache.set(key, translation);
    return translation;
  }

  async #translate(
    sql: string,
    parameters: readonly BoundParameter[],
    { hideBytes, maxRows, stored, fence }: Reading,
    limits: RunLimits,
  ): Promise<Translation> {
    const types = parameters.map(({ name, type }) => ({ name, type }));
    const { tables, parts } = this;
    const text = { sql, tables, parts, sandboxed: false, parameters: types, hideBytes, maxRows, fence };
    const translation = await (stored ? translateText.run(text) : this.threads.do(translateText, text, sql, limits));
    refuseDuplicates(translation.columns);
    return translation;
  }
}

/** A JSON object has one value for a key. */
function refuseDuplicates(columns: readonly NamedType[]): void {
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name.toLowerCase())) {
      throw new QueryError('invalidQuery', `Two columns of the result are named ${name}: give one an alias.`, null);
    }
    seen.add(name.toLowerCase());
  }
}
