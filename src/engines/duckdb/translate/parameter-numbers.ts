/** Strings and quoted names, which are passed over, and the parameters between them. */
const PARAMETERS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([0-9]+)/g;

/**
 * Numbers the parameters that `sql` still holds from 1 without gaps: what was printed to be looked at and then left out
 * may have had parameters too, and DuckDB takes values for those of the text alone.
 *
 * @param names the name of each `$n` in order
 */
export function renumber(sql: string, names: readonly string[]): { sql: string; parameters: readonly string[] } {
  const numbers = new Map<string, number>();
  const renumbered =
    names.length === 0
      ? sql
      : sql.replace(PARAMETERS, (text, old: string | undefined) => {
          if (old === undefined) return text;
          const number = numbers.get(old) ?? numbers.size + 1;
          numbers.set(old, number);
          return `$${number}`;
        });
  return { sql: renumbered, parameters: [...numbers.keys()].map((old) => names[Number(old) - 1]!) };
}
