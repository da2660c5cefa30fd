/** Rows of one relation that come in branches, each with its own relation and its own places. */
import { isDeepStrictEqual } from 'node:util';

import {
  type Column,
  type ComputedColumn,
  type Expr,
  type OutputColumn,
  type Relation,
  type SetRelation,
  called,
  NO_SPAN,
  columnRef,
} from '@logquay/googlesql';
import type { Span } from '@logquay/googlesql/syntax';
import type { SqlType } from '@logquay/googlesql/types';
import { valueOfColumn, type Place, type Unbracketed } from './place';

export interface Branch {
  readonly relation: Relation;
  /** Where it has those columns of the query as written that are no columns of `relation`, by their ids. */
  readonly places: ReadonlyMap<number, Place>;
}

/** UNION ALL of branches, with a column for each value that something above reads. */
export class Union {
  readonly relation: SetRelation;
  readonly #columns: Column[] = [];
  readonly #known = new Map<string, Column>();
  readonly #inputs: readonly Input[];

  constructor(
    branches: readonly Branch[],
    private readonly newId: () => number,
  ) {
    this.#inputs = branches.map((branch) => new Input(branch, newId));
    const inputs = this.#inputs.map(({ relation, output }) => ({
      ctes: [],
      relation,
      output,
      valueTable: false,
      ordered: false,
    }));
    this.relation = { kind: 'set', operator: 'union', distinct: false, inputs, columns: this.#columns };
  }

  /** The union as one branch. @param columns those of the query as written that it shows */
  asBranch(columns: readonly Column[]): Branch {
    const places = columns.map((column) => [column.id, new UnionPlace(this, column, [], column.type)] as const);
    return { relation: this.relation, places: new Map(places) };
  }

  column(from: Column, fields: readonly number[], type: SqlType): Column {
    const key = [from.id, ...fields].join('.');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const column = { id: this.newId(), name: from.name, type };
    this.#known.set(key, column);
    this.#columns.push(column);
    for (const input of this.#inputs) input.add(from, fields);
    return column;
  }

  /** As `Place.unbracketed`: each branch writes the JSON of a value, as it is stored there. */
  unbracketed(from: Column, fields: readonly number[]): Unbracketed | null {
    const values = this.#inputs.map((input) => input.unbracketed(from, fields));
    const [shape, ...others] = values.flatMap((value) => value?.shape ?? []);
    // A row is either as it should be or lacks all of its brackets.
    if (shape === undefined || others.some((other) => !isDeepStrictEqual(other, shape))) return null;
    if (values.some((value) => value === null)) return null;
    const column: Column = { id: this.newId(), name: from.name, type: { kind: 'JSON' } };
    this.#columns.push(column);
    this.#inputs.forEach((input, i) => input.addJson(from.name, values[i]!.expr));
    return { expr: columnRef(column), shape };
  }
}

/** One side of a union. */
class Input {
  readonly relation: Relation;
  readonly output: OutputColumn[] = [];
  readonly #computed: ComputedColumn[] = [];

  constructor(
    private readonly branch: Branch,
    private readonly newId: () => number,
  ) {
    this.relation = { kind: 'compute', input: branch.relation, columns: this.#computed };
  }

  add(from: Column, fields: readonly number[]): void {
    const place = this.branch.places.get(from.id);
    const expr =
      place === undefined
        ? valueOfColumn(from, fields, NO_SPAN)
        : fields.reduce((inner, field) => inner.field(field), place).value(NO_SPAN);
    this.output.push({ name: from.name, column: this.#columnOf(from.name, expr) });
  }

  unbracketed(from: Column, fields: readonly number[]): Unbracketed | null {
    const place = this.branch.places.get(from.id);
    return place === undefined ? null : fields.reduce((inner, field) => inner.field(field), place).unbracketed();
  }

  addJson(name: string, value: Expr): void {
    const json = called('$to_json', [value], { kind: 'JSON' }, NO_SPAN);
    this.output.push({ name, column: this.#columnOf(name, json) });
  }

  #columnOf(name: string, expr: Expr): Column {
    if (expr.kind === 'column') return expr.column;
    const column = { id: this.newId(), name, type: expr.type };
    this.#computed.push({ column, expr });
    return column;
  }
}

class UnionPlace implements Place {
  /** Also of what an outer join may make NULL. */
  readonly isRequired = false;

  constructor(
    private readonly union: Union,
    private readonly column: Column,
    private readonly fields: readonly number[],
    readonly type: SqlType,
  ) {}

  field(index: number): Place {
    if (this.type.kind !== 'STRUCT') throw new Error('a field of something that is no struct');
    return new UnionPlace(this.union, this.column, [...this.fields, index], this.type.fields[index]!.type);
  }

  element(): null {
    return null;
  }

  value(span: Span): Expr {
    const column = this.union.column(this.column, this.fields, this.type);
    return columnRef(column, span);
  }

  unbracketed(): Unbracketed | null {
    return this.union.unbracketed(this.column, this.fields);
  }
}
