/** Lists in the order of GoogleSQL. */
import type { SortKey } from '../../../../googlesql/resolved';
import { structOf } from '../../sql';
import type { Context } from '../context';

/**
 * `list` sorted by its elements, which have the type of the key. NaN is below all numbers, where DuckDB has it above them; and it
 * compares the INTERVALs of a list part by part.
 */
export function inOrder(ctx: Context, list: string, { expr, descending, nullsFirst }: SortKey): string {
  const direction = descending ? 'DESC' : 'ASC';
  const { kind } = expr.type;
  if (kind !== 'FLOAT64' && kind !== 'INTERVAL')
    return `list_sort(${list}, '${direction}', 'NULLS ${nullsFirst ? 'FIRST' : 'LAST'}')`;
  const x = ctx.variable();
  const number = kind === 'FLOAT64' ? `WHEN isnan(${x}) THEN 1 ` : '';
  const ranked = structOf([
    ['r', `CASE WHEN ${x} IS NULL THEN ${nullsFirst === descending ? 3 : 0} ${number}ELSE 2 END`],
    ['k', kind === 'INTERVAL' ? `lq_interval_length(${x})` : x],
    ['v', x],
  ]);
  return `list_transform(list_sort(list_transform(${list}, lambda ${x}: ${ranked}), '${direction}'), lambda ${x}: ${x}."v")`;
}
