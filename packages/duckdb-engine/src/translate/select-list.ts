/** A SELECT of nothing still has to have a row for each row. */
export function selectList(items: readonly string[]): string {
  return `SELECT ${items.length === 0 ? '1 AS "none"' : items.join(', ')}`;
}
