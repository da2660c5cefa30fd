/** `HAVING MAX key` and `HAVING MIN key` of aggregates: only the rows of a group count whose key is the greatest or least of the group. */
import { type Aggregate, type AggregateCall, type ComputedColumn, type Expr, columnRef } from '@logquay/googlesql';
import { quoteName } from '../../sql';
import { columnName, type Context } from '../context';
import { writtenName } from './function-table';

/** Each grouping takes a pass over all rows. */
const MOST_GROUPINGS = 32;

/** Whether only rows with an extreme key count, and DuckDB has no function for that. */
function countsExtremes({ function: name, having }: AggregateCall): boolean {
  return having !== null && name !== 'ANY_VALUE';
}

/**
 * Keys of groups and of HAVING as columns of the input, which is where windows read them and each is evaluated once.
 *
 * @returns null where there is nothing to compute
 */
export function withExtremeKeysComputed(ctx: Context, relation: Aggregate): Aggregate | null {
  const extremes = relation.aggregates.filter(({ call }) => countsExtremes(call));
  if (extremes.length === 0) return null;
  const columns: ComputedColumn[] = [];
  const computed = (expr: Expr, column = { id: ctx.newColumn(), name: '', type: expr.type }): Expr => {
    if (expr.kind === 'column') return expr;
    columns.push({ column, expr });
    return columnRef(column, expr.span);
  };
  const keys = relation.keys.map((key) => ({ ...key, expr: computed(key.expr, key.column) }));
  const aggregates = relation.aggregates.map(({ column, call }) => {
    const { having } = call;
    if (having === null || !countsExtremes(call)) return { column, call };
    return { column, call: { ...call, having: { ...having, expr: computed(having.expr) } } };
  });
  if (columns.length === 0) return null;
  return { ...relation, input: { kind: 'compute', input: relation.input, columns }, keys, aggregates };
}

/** For each row, grouping and key whether the key of the row is the extreme of its group: columns beside those of the input. */
export class Extremes {
  readonly #columns = new Map<string, string>();

  /** @param groupings the names of the keys of each */
  constructor(
    private readonly ctx: Context,
    private readonly groupings: readonly (readonly string[])[],
  ) {}

  /** What FROM has, with the columns that were asked for so far. */
  over(from: string): string {
    if (this.#columns.size === 0) return from;
    const list = [...this.#columns].map(([text, name]) => `${text} AS ${name}`);
    return ` FROM (SELECT *, ${list.join(', ')}${from})`;
  }

  /**
   * The text of an aggregate.
   *
   * @param print prints it over the rows for which a condition holds; null: over all
   */
  print(call: AggregateCall, print: (condition: string | null) => string): string {
    if (!countsExtremes(call)) return print(null);
    if (this.groupings.length > MOST_GROUPINGS) {
      const what = `${writtenName(call.function)} with HAVING ${kindOf(call)} in more than ${MOST_GROUPINGS} groupings`;
      return this.ctx.unsupported(what, call.span);
    }
    const [first, ...rest] = this.groupings.map((grouping) => print(this.#column(call, grouping)));
    if (rest.length === 0) return first!;
    const cases = rest.map((text, i) => `WHEN ${this.#isOf(this.groupings[i + 1]!)} THEN ${text}`);
    return `CASE ${cases.join(' ')} ELSE ${first!} END`;
  }

  #column({ having }: AggregateCall, grouping: readonly string[]): string {
    if (having?.expr.kind !== 'column') throw new Error('a key of HAVING that is no column');
    const key = columnName(having.expr.column.id);
    const over = `OVER (${grouping.length === 0 ? '' : `PARTITION BY ${grouping.join(', ')}`})`;
    const extreme = `${key} = ${having.kind}(${key}) ${over}`;
    // NaN is the extreme as soon as it is there, and equal to none.
    const text = having.expr.type.kind === 'FLOAT64' ? `NOT bool_or(isnan(${key})) ${over} AND ${extreme}` : extreme;
    let name = this.#columns.get(text);
    if (name === undefined) this.#columns.set(text, (name = quoteName(this.ctx.variable())));
    return name;
  }

  /** Whether a row of the result is of a grouping. */
  #isOf(grouping: readonly string[]): string {
    const all = [...new Set(this.groupings.flat())];
    return all.map((key) => `grouping(${key}) = ${grouping.includes(key) ? 0 : 1}`).join(' AND ');
  }
}

function kindOf({ having }: AggregateCall): string {
  return having?.kind.toUpperCase() ?? '';
}
