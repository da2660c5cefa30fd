/** Where the rows have a value, of which only what is read becomes a column. */
import type { Column, Expr } from '../../../../googlesql/resolved';
import type { Span } from '../../../../googlesql/syntax';
import type { SqlType } from '../../../../googlesql/types';
import { physicalFieldNames } from '../../sql';
import type { PartScan } from './part-scan';

export interface Place {
  /** As GoogleSQL knows it. */
  readonly type: SqlType;
  /** A field of the record here. */
  field(index: number): Place;
  /** The only element of the list here; null: it may have others, or none. */
  element(): Place | null;
  value(span: Span): Expr;
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

  element(): Place | null {
    const { type } = this;
    if (type.kind !== 'ARRAY' || !this.scan.single.has(this.path.join('.'))) return null;
    return new StoredPlace(this.scan, this.path, type.element);
  }

  value(span: Span): Expr {
    const { type } = this;
    const column = this.scan.column(this.path, type);
    const stored: Expr = { kind: 'column', column, type: column.type, span };
    if (column.type === type) return stored;
    const lists = { function: '$with_lists', args: [stored], named: {}, part: null, safe: false } as const;
    return { kind: 'call', ...lists, type, span };
  }
}

/** A column that a relation computes, or one of its fields: what it reads is what it is. */
export function valueOfColumn(column: Column, fields: readonly number[], span: Span): Expr {
  let expr: Expr = { kind: 'column', column, type: column.type, span };
  for (const index of fields) {
    if (expr.type.kind !== 'STRUCT') throw new Error('a field of something that is no struct');
    expr = { kind: 'field', input: expr, index, type: expr.type.fields[index]!.type, span };
  }
  return expr;
}
