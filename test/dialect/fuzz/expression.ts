/** A typed expression as a tree, so that one on which the engines differ can be made smaller; and the rows it reads. */

export interface Expression {
  /** As GoogleSQL writes it: `INT64`, `ARRAY<STRING>`. */
  readonly type: string;
  /** What it is a call of: a function, an operator, `CAST`, `literal`, `column`. */
  readonly name: string;
  readonly args: readonly Expression[];
  readonly write: (args: readonly string[]) => string;
  /** A column's value in each row, as literals. */
  readonly values?: readonly string[];
}

export function literal(type: string, text: string): Expression {
  return { type, name: 'literal', args: [], write: () => text };
}

export function column(type: string, values: readonly string[]): Expression {
  return { type, name: 'column', args: [], write: () => '', values };
}

export function call(
  type: string,
  name: string,
  args: readonly Expression[],
  write: Expression['write'] = (texts) => `${name}(${texts.join(', ')})`,
): Expression {
  return { type, name, args, write };
}

/** Names the columns of several expressions apart, and writes the rows that hold them. */
export class Source {
  readonly #columns: Expression[] = [];

  /** The expression as text; its columns are columns of the source. */
  text(expression: Expression): string {
    if (expression.values === undefined) return expression.write(expression.args.map((arg) => this.text(arg)));
    const known = this.#columns.indexOf(expression);
    return `c${known >= 0 ? known : this.#columns.push(expression) - 1}`;
  }

  /** The rows numbered in `rows`, with their number as `id`, as what stands after FROM. */
  from(rows: readonly number[], form: 'union' | 'unnest', alias = 'r'): string {
    const row = (id: number, named: boolean): string =>
      [
        named ? `${id} AS id` : `${id}`,
        ...this.#columns.map((c, i) => (c.values?.[id] ?? 'NULL') + (named ? ` AS c${i}` : '')),
      ].join(', ');
    if (form === 'unnest')
      return `UNNEST([${rows.map((id, i) => `STRUCT(${row(id, i === 0)})`).join(', ')}]) AS ${alias}`;
    return `(${rows.map((id, i) => `SELECT ${row(id, i === 0)}`).join(' UNION ALL ')}) AS ${alias}`;
  }
}

/** The same tree with the node at `path` replaced. */
export function replaced(expression: Expression, path: readonly number[], by: Expression): Expression {
  const [at, ...rest] = path;
  if (at === undefined) return by;
  const args = expression.args.map((arg, i) => (i === at ? replaced(arg, rest, by) : arg));
  return { ...expression, args };
}

/** Every node with its path, the outermost first. */
export function nodes(
  expression: Expression,
  path: readonly number[] = [],
): { readonly node: Expression; readonly path: readonly number[] }[] {
  return [{ node: expression, path }, ...expression.args.flatMap((arg, i) => nodes(arg, [...path, i]))];
}

/** The expression over the one row `row`, its columns written as literals. */
export function inlined(expression: Expression, row: number): Expression {
  if (expression.values !== undefined) return literal(expression.type, expression.values[row] ?? 'NULL');
  return { ...expression, args: expression.args.map((arg) => inlined(arg, row)) };
}
