import type { RestField } from '../../../googlesql/rest-schema';
import type { JsonObject } from '../data/strict-row';
import { MOST_FIELDS, unitedFields } from './fields';
import { withFieldsOf } from './inferred-schema';
import { type RowRules, rulesOf } from './rows';

/** The fields of a table: declared, or inferred from its rows as they come. */
export class TableFields {
  #all: readonly RestField[];

  /** @param declared null: inferred */
  constructor(
    private readonly declared: readonly RestField[] | null,
    before: readonly RestField[] | null,
  ) {
    this.#all = declared ?? before ?? [];
  }

  get all(): readonly RestField[] {
    return this.#all;
  }

  get isDeclared(): boolean {
    return this.declared !== null;
  }

  get rules(): RowRules {
    return rulesOf(this.#all, this.isDeclared);
  }

  /**
   * Takes over what rows have.
   *
   * @param first whether the table has no rows yet
   * @param leftOut as of `withFieldsOf`
   */
  grow(rows: readonly JsonObject[], first: boolean, leftOut: Set<string>): void {
    if (this.isDeclared) return;
    for (const row of rows) this.#all = withFieldsOf(this.#all, row, first, leftOut);
  }

  /** Takes over what a conversion has found. */
  unite(fields: readonly RestField[]): void {
    if (!this.isDeclared) this.#all = unitedFields(this.#all, fields, MOST_FIELDS);
  }
}
