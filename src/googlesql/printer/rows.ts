/** The rows that an expression is evaluated on: how their columns are written, and which of them may be looked at. */
export interface Rows {
  /** The SQL of a column that these rows or rows around them have. */
  column(id: number): string;
  /**
   * A condition that is TRUE on every row that the query is defined on. null: there are no others, or what is printed is
   * under such a condition already.
   */
  readonly guard: string | null;
}

export function unguarded(rows: Rows): Rows {
  return rows.guard === null ? rows : { ...rows, guard: null };
}
