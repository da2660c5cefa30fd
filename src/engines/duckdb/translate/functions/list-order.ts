/** Lists in the order of GoogleSQL. */
import type { SortKey } from '../../../../googlesql/resolved';
import type { Context } from '../context';

/** `list` sorted by its elements, which have the type of the key. NaN is below all numbers; DuckDB has it above them. */
export function inOrder(ctx: Context, list: string, { expr, descending, nullsFirst }: SortKey): string {
  const direction = descending ? 'DESC' : 'ASC';
  if (expr.type.kind !== 'FLOAT64') return `list_sort(${list}, '${direction}', 'NULLS ${nullsFirst ? 'FIRST' : 'LAST'}')`;
  const x = ctx.variable();
  return ctx.bind([list], (l) => {
    const those = (condition: string): string => `list_filter(${l}, lambda ${x}: ${condition})`;
    const numbers = [those(`isnan(${x})`), `list_sort(${those(`NOT isnan(${x})`)}, '${direction}')`];
    if (descending) numbers.reverse();
    const nulls = those(`${x} IS NULL`);
    return `(${(nullsFirst ? [nulls, ...numbers] : [...numbers, nulls]).join(' || ')})`;
  });
}
