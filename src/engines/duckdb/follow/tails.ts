import type { DuckDBConnection } from '@duckdb/node-api';

import type { RestField } from '../../../googlesql/rest-schema';
import { sameFields } from './fields';
import { Tail } from './tail';
import type { SealedRows } from './tail-writer';

/** The tails of a table: one that grows, and those before it until they are stored. */
export class Tails {
  #all: readonly Tail[] = [];
  #sealed: readonly Tail[] = [];
  /** Those that take no rows while queries read them together with what has gone since. */
  readonly #held = new Set<Tail>();
  #next = 0;

  /** @param index tells names of relations of one table from those of another */
  constructor(
    private readonly connection: DuckDBConnection,
    private readonly index: number,
  ) {}

  get all(): readonly Tail[] {
    return this.#all;
  }

  get rows(): number {
    return this.#all.reduce((sum, { rows }) => sum + rows, 0);
  }

  get count(): number {
    return this.#all.length;
  }

  /** Bytes of the texts in memory. */
  get bytes(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Milliseconds since the oldest of them came. */
  get age(): number {
    const now = performance.now();
    return Math.max(0, ...this.#all.map(({ since }) => (since === null ? 0 : now - since)));
  }

  /** Milliseconds since the last insertion. */
  get rest(): number {
    const now = performance.now();
    return Math.min(Infinity, ...this.#all.map(({ last }) => now - last));
  }

  /** The tail that takes rows of sources with these fields. */
  async open(fields: readonly RestField[], sources: ReadonlySet<number>): Promise<Tail> {
    const last = this.#all.at(-1);
    const takes =
      last !== undefined &&
      !this.#sealed.includes(last) &&
      !this.#held.has(last) &&
      ![...sources].some((source) => last.dropped.has(source));
    if (takes && sameFields(last.fields, fields)) return last;
    const tail = await Tail.create(this.connection, `tail ${this.index} ${this.#next++}`, fields);
    this.#all = [...this.#all, tail];
    return tail;
  }

  /**
   * Takes no more rows into what there is: queries that were begun before rows went must not see what comes in their place.
   *
   * @returns ends that, when no such query is left
   */
  hold(): () => void {
    const held = this.#all.filter((tail) => !this.#held.has(tail));
    for (const tail of held) this.#held.add(tail);
    return () => {
      for (const tail of held) this.#held.delete(tail);
    };
  }

  /** Leaves out those without a row that counts. @returns them */
  dropEmpty(): readonly Tail[] {
    const empty = this.#all.filter((tail) => tail.rows === 0 && !this.#sealed.includes(tail));
    this.#all = this.#all.filter((tail) => !empty.includes(tail));
    return empty;
  }

  /**
   * Takes no more rows into these: a conversion stores them.
   *
   * @returns their rows; null: some have other fields
   */
  seal(fields: readonly RestField[]): readonly SealedRows[] | null {
    this.#sealed = this.#all;
    if (this.#sealed.some((tail) => !sameFields(tail.fields, fields))) return null;
    return this.#sealed.map(({ relation, dropped }) => ({ relation, dropped: [...dropped] }));
  }

  /** The conversion has failed. */
  unseal(): void {
    this.#sealed = [];
  }

  /**
   * The conversion has succeeded.
   *
   * @param sources whose rows are stored
   * @returns tails that are no part of the table any more
   */
  store(sources: ReadonlySet<number>): readonly Tail[] {
    for (const tail of this.#sealed) for (const source of sources) tail.drop(source);
    const stored = this.#sealed.filter(({ rows }) => rows === 0);
    this.#all = this.#all.filter((tail) => !stored.includes(tail));
    this.#sealed = [];
    return stored;
  }

  /** Rows of a source are no part of the table any more. */
  drop(source: number): void {
    for (const tail of this.#all) tail.drop(source);
  }
}
