/** What collation each column of a query has, and new columns. */
import type { Column } from '../../../../googlesql/resolved';
import type { SqlType } from '../../../../googlesql/types';
import type { Collation } from './collation';

/** Above those of a query, and below those that its translation makes. */
const FIRST_COLUMN = 1_000_000_000;

export class CollatedColumns {
  readonly #collations = new Map<number, Collation>();
  #next = FIRST_COLUMN;

  of({ id }: Column): Collation {
    return this.#collations.get(id) ?? null;
  }

  set({ id }: Column, collation: Collation): void {
    if (collation !== null) this.#collations.set(id, collation);
  }

  /** A column of its own. */
  create(type: SqlType): Column {
    return { id: this.#next++, name: '', type };
  }
}
