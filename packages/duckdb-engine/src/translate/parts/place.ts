/** Where the rows have a value, of which only what is read becomes a column. */
import { type Column, type ComputedColumn, type Expr, type Relation, called, columnRef } from '@logquay/googlesql';
import type { Span } from '@logquay/googlesql/syntax';
import type { SqlType } from '@logquay/googlesql/types';
import { physicalFieldNames } from '../../sql';
import type { PartScan } from './part-scan';
import { listShape } from './physical-type';
import type { ListShape } from './physical-type';

export interface Place {
  /** As GoogleSQL knows it. */
  readonly type: SqlType;
  /** A field of the record here. */
  field(index: number): Place;
  /** The only element of the list here; null: it may have others, or none. */
  element(): Place | null;
  /** Whether every row is known to have a value here. */
  readonly isRequired: boolean;
  value(span: Span): Expr;
  /** The value for who writes it as JSON; null: there is no better way than by `value`. */
  unbracketed(): Unbracketed | null;
}

/** A value that is written as it is stored: its text lacks brackets in some rows, or in all. */
export interface Unbracketed {
  readonly expr: Expr;
  /** The brackets; null: none. */
  readonly shape: ListShape | null;
}

/** In the columns of a table. */
export class StoredPlace implements Place {
  constructor(
    private readonly scan: PartScan,
    private readonly path: readonly string[],
    readonly type: SqlType,
  ) {}

  field(index: number): Place {
    if (this.type.kind !== 'STRUCT') throw new Error('a field of something that is no struct');
    const { fields } = this.type;
    const name = physicalFieldNames(fields)[index]!;
    return new StoredPlace(this.scan, [...this.path, name], fields[index]!.type);
  }

  get isRequired(): boolean {
    return this.path.length === 1 && this.path[0] === this.scan.timedBy;
  }

  element(): Place | null {
    const { type } = this;
    if (type.kind !== 'ARRAY' || !this.scan.single.has(this.path.join('.'))) return null;
    return new StoredPlace(this.scan, this.path, type.element);
  }

  value(span: Span): Expr {
    const { type } = this;
    const column = this.scan.column(this.path, type);
    const stored = columnRef(column, span);
    if (column.type === type) return stored;
    return called('$with_lists', [stored], type, span);
  }

  unbracketed(): Unbracketed {
    const column = this.scan.column(this.path, this.type);
    const expr = columnRef(column);
    return { expr, shape: listShape(column.type, this.type) };
  }
}

/**
 * The one row of a subquery that reads a record of the row around it. What is read becomes a column of its own: DuckDB takes an
 * aggregate of nothing but columns of the row around it for one of the query around it.
 */
export class CorrelatedRow {
  readonly relation: Relation;
  readonly #computed: ComputedColumn[] = [];

  constructor(private readonly newId: () => number) {
    this.relation = { kind: 'compute', input: { kind: 'single_row' }, columns: this.#computed };
  }

  /** A place of the row around it, as one of this row. */
  place(outer: Place): Place {
    let known: Column | null = null;
    return {
      type: outer.type,
      isRequired: outer.isRequired,
      field: (index) => this.place(outer.field(index)),
      element: () => {
        const element = outer.element();
        return element && this.place(element);
      },
      value: (span) => {
        if (known === null) {
          known = { id: this.newId(), name: 'value', type: outer.type };
          this.#computed.push({ column: known, expr: outer.value(span) });
        }
        return columnRef(known, span);
      },
      unbracketed: () => null,
    };
  }
}

/** A column that a relation computes, or one of its fields: what it reads is what it is. */
export function valueOfColumn(column: Column, fields: readonly number[], span: Span): Expr {
  let expr: Expr = columnRef(column, span);
  for (const index of fields) {
    if (expr.type.kind !== 'STRUCT') throw new Error('a field of something that is no struct');
    expr = { kind: 'field', input: expr, index, type: expr.type.fields[index]!.type, span };
  }
  return expr;
}
