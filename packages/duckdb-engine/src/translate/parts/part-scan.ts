/** A scan of some parts of a table, of whose records only the fields that something reads are taken. */
import type { Column, TableScan } from '@logquay/googlesql';
import type { SqlType, TableSchema } from '@logquay/googlesql/types';
import { columnName } from '../context';
import { selectList } from '../select-list';
import { quoteName } from '../../sql';
import { asComputed, physicalType, withLists } from './physical-type';
import type { Part } from '../../data/part';

/** Rows that DuckDB keeps statistics for, and skips together. */
const ROW_GROUP = 122_880;

/** Whether there is more to skip than DuckDB reads at once. */
export function isLarge(parts: readonly Part[]): boolean {
  return parts.reduce((sum, { rows }) => sum + rows, 0) > ROW_GROUP;
}

export class PartScan {
  /** Its columns are added while the query is rewritten. */
  readonly relation: TableScan;
  readonly #columns: { readonly column: Column; readonly source: string }[] = [];
  readonly #paths = new Map<
    string,
    { readonly path: readonly string[]; readonly type: SqlType; readonly column: Column }
  >();

  /**
   * @param single lists that are seen as their only elements; each is one in every part
   * @param newId of a column
   */
  constructor(
    schema: TableSchema,
    private readonly parts: readonly Part[],
    readonly single: ReadonlySet<string>,
    private readonly newId: () => number,
  ) {
    // An identity of its own, by which it is printed.
    this.relation = { kind: 'table', table: { ...schema }, columns: this.#columns };
  }

  /**
   * Whether finding the times of the first rows before anything else saves more than it costs. In a single part DuckDB finds rows
   * by what they are sorted by and fetches the others' columns late: slower, but its filters are evaluated once.
   */
  isWorthSearching(areFiltersCheap: boolean): boolean {
    return isLarge(this.parts) && (areFiltersCheap || this.parts.length > 1);
  }

  /** As of a part. */
  get timedBy(): string | null {
    const [first, ...others] = this.parts.map(({ timedBy }) => timedBy);
    return others.every((timedBy) => timedBy === first) ? (first ?? null) : null;
  }

  /** The column with the values at a path. @param type that GoogleSQL knows */
  column(path: readonly string[], type: SqlType): Column {
    const source = path.join('.');
    const known = this.#paths.get(source);
    if (known !== undefined) return known.column;
    const column = { id: this.newId(), name: path.at(-1)!, type: physicalType(type, source, this.single) };
    this.#paths.set(source, { path, type, column });
    this.#columns.push({ column, source });
    return column;
  }

  /** The SELECT text of some of its columns. */
  print(columns: TableScan['columns']): string {
    const steps = columns.map(({ source }) => this.#paths.get(source)!.path);
    const records = new Set(steps.flatMap((path) => path.slice(1).map((_, i) => path.slice(0, i + 1).join('.'))));
    return this.parts.map((part) => this.#printPart(part, columns, records)).join(' UNION ALL ');
  }

  /** @param records paths of which a field is read */
  #printPart({ relation, single }: Part, columns: TableScan['columns'], records: ReadonlySet<string>): string {
    const list = columns.map(({ source, column }) => {
      const { path, type } = this.#paths.get(source)!;
      const value = storedValue(path, records.has(source));
      const stored = physicalType(type, source, single);
      return `${asComputed(withLists(value, stored, column.type), column.type)} AS ${columnName(column.id)}`;
    });
    return `${selectList(list)} FROM ${relation} AS "part"`;
  }
}

/**
 * The value at a path of a part.
 *
 * @param besideFields whether a field of it is read beside it. DuckDB 1.5.6 then takes that field of the wrong record where it fetches
 *   rows late (ORDER BY with LIMIT), unless it does not see that one is part of the other.
 */
export function storedValue([column = '', ...fields]: readonly string[], besideFields: boolean): string {
  // A bare name may be taken for the table's.
  const name = `"part".${quoteName(column)}`;
  const root = besideFields ? `(coalesce(${name}, ${name}))` : name;
  return [root, ...fields.map(quoteName)].join('.');
}
