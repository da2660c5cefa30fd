import { LRUCache } from 'lru-cache';
import type { Threads } from '../concurrency/threads/threads';
import { QueryError, type NamedType } from '@logquay/googlesql/types';
import type { BoundParameter, Fence, RunLimits } from '../contract/contract';
import type { StoredTable } from '../data/part';
import { formOf, type Output, type Translation } from '../translate';
import { type KnownParameter, type Suffixes, translateText } from './translation-task';

/** Characters of texts, queries and translations together. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface Reading {
  readonly hideBytes: boolean;
  readonly isoTimestamps?: boolean;
  readonly sorted?: boolean;
  readonly output?: Output;
  /** null: all. */
  readonly maxRows: number | null;
  /** The operator's own text. */
  readonly stored: boolean;
  readonly fence: Fence | null;
  /** As of `TextToTranslate`. */
  readonly suffixes?: Suffixes;
}

export interface TablesByName {
  readonly tables: readonly StoredTable[];
  find(name: string): StoredTable | undefined;
}

interface Entry {
  readonly translation: Translation;
  /** The tables that it reads, as they were. */
  readonly read: readonly { readonly name: string; readonly revision: StoredTable['revision'] }[];
}

/** GoogleSQL into DuckDB SQL, remembered: a text that comes again is neither parsed nor resolved again. */
export class Translations {
  readonly #cache = new LRUCache<string, Entry>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ translation: { before, sql } }, key) =>
      before.reduce((sum, table) => sum + table.sql.length, sql.length + key.length),
  });

  constructor(private readonly threads: Threads) {}

  /**
   * The statement that answers `sql` over `tables`, cut off after `maxRows`.
   *
   * @param remember whether the text may come again over the same tables
   * @throws QueryError for a fault in `sql`, or what the embedded engine does not do; as Threads.do
   */
  async translation(
    sql: string,
    parameters: readonly BoundParameter[],
    reading: Reading,
    tables: TablesByName,
    limits: RunLimits,
    remember = true,
  ): Promise<Translation> {
    const known = parameters.map((one): KnownParameter => ({ name: one.name, type: one.type, form: formOf(one) }));
    if (!remember) return this.#translate(sql, known, reading, tables, limits);
    const types = known.map(({ name, type, form }) => `${name}:${type}:${form ?? ''}`).sort();
    const { hideBytes, isoTimestamps = false, sorted = false, output = 'text', maxRows, fence, suffixes } = reading;
    const wanted = suffixes && [...suffixes];
    const key = JSON.stringify([hideBytes, isoTimestamps, sorted, output, maxRows, types, fence, wanted, sql]);
    const remembered = this.#cache.get(key);
    const isCurrent = remembered?.read.every(({ name, revision }) => tables.find(name)?.revision === revision) === true;
    if (isCurrent) return remembered.translation;
    const translation = await this.#translate(sql, known, reading, tables, limits);
    const read = translation.tables.map((name) => ({ name, revision: tables.find(name)!.revision }));
    this.#cache.set(key, { translation, read });
    return translation;
  }

  async #translate(
    sql: string,
    parameters: readonly KnownParameter[],
    { stored, ...reading }: Reading,
    { tables }: TablesByName,
    limits: RunLimits,
  ): Promise<Translation> {
    const text = { sql, tables, sandboxed: false, parameters, ...reading };
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
