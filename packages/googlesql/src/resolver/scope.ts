/**
 * Names as GoogleSQL scopes them. A FROM clause makes a name list: columns in order, and range variables (table
 * aliases). A range variable hides a column of its name; two columns of one name are ambiguous; fields of a value
 * table (UNNEST of structs, SELECT AS STRUCT) are visible like columns.
 */
import type { Column, Expr } from '../resolved';
import type { NamedType, SqlType } from '../types';

export interface NamedColumn {
  /** null: it cannot be named. */
  readonly name: string | null;
  readonly column: Column;
  /** The row itself is the value: a star expands its fields, and they are visible unqualified. */
  readonly valueTable: boolean;
  /** Fields that a join's USING or a pipe operator has taken over, in lower case. */
  readonly hidden: ReadonlySet<string>;
  /** Fields of a value table that only a star shows: the pipe operator AS has taken its alias away. */
  readonly starOnly?: boolean;
}

export type Target =
  | { readonly kind: 'range'; readonly list: NameList }
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'field'; readonly column: Column; readonly index: number }
  /** A select-list alias, seen from ORDER BY, HAVING or QUALIFY. */
  | { readonly kind: 'alias'; readonly expr: Expr }
  /** A name that may not be used here, and why. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'ambiguous' };

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

export class NameList {
  readonly #index = new Map<string, Target>();
  #indexed = false;

  constructor(
    readonly columns: readonly NamedColumn[],
    readonly ranges: ReadonlyMap<string, NameList>,
    /** One column, which is the row. */
    readonly isValueTable = false,
    /** In a survey: there are more names than could be found out. */
    readonly open = false,
    /** Columns that can be named, where no other has the name, and are no part of a row (`TableSchema.pseudo`). */
    readonly pseudo: readonly NamedColumn[] = [],
  ) {}

  static readonly empty = new NameList([], new Map());

  /** The same, of which not every name is known. */
  opened(): NameList {
    return new NameList(this.columns, this.ranges, this.isValueTable, true, this.pseudo);
  }

  /** A table or subquery called `alias`: its columns, and the alias for its row. */
  static table(
    alias: string | null,
    columns: readonly { name: string | null; column: Column }[],
    open = false,
    pseudo: readonly { name: string | null; column: Column }[] = [],
  ): NameList {
    const plain = { valueTable: false, hidden: NOTHING_HIDDEN };
    const named = columns.map(({ name, column }) => ({ name, column, ...plain }));
    const others = pseudo.map(({ name, column }) => ({ name, column, ...plain }));
    const inner = new NameList(named, new Map(), false, open, others);
    return alias === null ? inner : new NameList(named, new Map([[alias.toLowerCase(), inner]]), false, open, others);
  }

  /** A value table called `alias`: an array's elements, their offsets, or SELECT AS STRUCT / VALUE. */
  static value(alias: string | null, column: Column): NameList {
    const inner = new NameList([{ name: null, column, valueTable: true, hidden: NOTHING_HIDDEN }], new Map(), true);
    const named = [{ name: alias, column, valueTable: true, hidden: NOTHING_HIDDEN }];
    return new NameList(named, alias === null ? new Map() : new Map([[alias.toLowerCase(), inner]]));
  }

  /** Both, `other` after this. `duplicate` is called with a range variable that both have. */
  merge(other: NameList, duplicate: (name: string) => never): NameList {
    for (const name of other.ranges.keys()) if (this.ranges.has(name)) duplicate(name);
    const ranges = new Map([...this.ranges, ...other.ranges]);
    const pseudo = [...this.pseudo, ...other.pseudo];
    return new NameList([...this.columns, ...other.columns], ranges, false, this.open || other.open, pseudo);
  }

  /** Without the columns and aliases of these (lower-case) names; other range variables still reach the columns. */
  without(names: ReadonlySet<string>): NameList {
    if (names.size === 0) return this;
    const columns: NamedColumn[] = [];
    for (const named of this.columns) {
      if (named.name !== null && names.has(named.name.toLowerCase())) continue;
      columns.push(named.valueTable ? { ...named, hidden: new Set([...named.hidden, ...names]) } : named);
    }
    const ranges = new Map([...this.ranges].filter(([name]) => !names.has(name)));
    return new NameList(columns, ranges, false, this.open, this.#pseudoWithout(names));
  }

  /** The rows under one alias: all others are gone. */
  aliased(alias: string): NameList {
    const [only] = this.columns;
    if (only?.valueTable === true && this.columns.length === 1) return NameList.value(alias, only.column);
    const columns = this.columns.map((named) => (named.valueTable ? { ...named, starOnly: true } : named));
    const inner = new NameList(columns, new Map(), false, this.open, this.pseudo);
    return new NameList(columns, new Map([[alias.toLowerCase(), inner]]), false, this.open, this.pseudo);
  }

  /**
   * Each column as `change` gives it, null: without it. Names of `taken` (in lower case) are gone as aliases and as fields of
   * value tables; other aliases reach the rows as they were.
   */
  replaced(change: (column: NamedColumn) => NamedColumn | null, taken: ReadonlySet<string> = NOTHING_HIDDEN): NameList {
    const columns = this.columns.flatMap((column) => {
      const named = change(column);
      if (named === null) return [];
      return named.valueTable && taken.size > 0 ? { ...named, hidden: new Set([...named.hidden, ...taken]) } : named;
    });
    const ranges = new Map([...this.ranges].filter(([name]) => !taken.has(name)));
    return new NameList(columns, ranges, false, this.open, this.#pseudoWithout(taken));
  }

  #pseudoWithout(names: ReadonlySet<string>): readonly NamedColumn[] {
    return this.pseudo.filter(({ name }) => name !== null && !names.has(name.toLowerCase()));
  }

  /** With more columns behind its own. */
  extended(columns: readonly { readonly name: string | null; readonly column: Column }[]): NameList {
    const all = [...this.columns, ...NameList.table(null, columns).columns];
    return new NameList(all, this.ranges, false, this.open, this.pseudo);
  }

  /** With other columns in the place of all, aliases included; those that have none are left out. */
  mapped(columnOf: (column: Column) => Column | undefined): NameList {
    const those = (all: readonly NamedColumn[]): NamedColumn[] =>
      all.flatMap((named) => {
        const column = columnOf(named.column);
        return column === undefined ? [] : [{ ...named, column }];
      });
    const columns = those(this.columns);
    const ranges = new Map([...this.ranges].map(([name, list]) => [name, list.mapped(columnOf)] as const));
    return new NameList(columns, ranges, this.isValueTable && columns.length > 0, this.open, those(this.pseudo));
  }

  lookup(name: string): Target | undefined {
    if (!this.#indexed) this.#build();
    return this.#index.get(name.toLowerCase());
  }

  /** Every name that `lookup` finds, as first spelt. */
  names(): string[] {
    const names = [...this.ranges.keys()];
    for (const { name, column, valueTable, hidden, starOnly } of this.columns) {
      if (name !== null) names.push(name);
      if (valueTable && starOnly !== true)
        for (const field of fieldsOf(column.type)) if (!hidden.has(field.toLowerCase())) names.push(field);
    }
    return [...names, ...this.pseudo.flatMap(({ name }) => name ?? [])];
  }

  #build(): void {
    this.#indexed = true;
    for (const named of this.columns) {
      if (!named.valueTable) {
        if (named.name !== null) this.#add(named.name, { kind: 'column', column: named.column });
        continue;
      }
      const { column, hidden, starOnly } = named;
      if (column.type.kind !== 'STRUCT' || starOnly === true) continue;
      for (const [index, field] of column.type.fields.entries())
        if (field.name !== null && !hidden.has(field.name.toLowerCase()))
          this.#add(field.name, { kind: 'field', column, index });
    }
    const pseudo = this.pseudo.filter(({ name }) => !this.#index.has(name?.toLowerCase() ?? ''));
    for (const { name, column } of pseudo) if (name !== null) this.#add(name, { kind: 'column', column });
    for (const [name, list] of this.ranges) this.#index.set(name, { kind: 'range', list });
  }

  #add(name: string, target: Target): void {
    const key = name.toLowerCase();
    this.#index.set(key, this.#index.has(key) ? { kind: 'ambiguous' } : target);
  }
}

function fieldsOf(type: SqlType): string[] {
  if (type.kind !== 'STRUCT') return [];
  return type.fields.flatMap((field) => (field.name === null ? [] : [field.name]));
}

/** Names visible at an expression: `overrides` before `list` before what encloses them. */
export interface Scope {
  readonly list: NameList;
  readonly overrides: ReadonlyMap<string, Target> | null;
  readonly parent: Scope | null;
}

export function scopeOf(list: NameList, parent: Scope | null): Scope {
  return { list, overrides: null, parent };
}

export function lookup(scope: Scope | null, name: string): Target | undefined {
  for (let current = scope; current !== null; current = current.parent) {
    const found = current.overrides?.get(name.toLowerCase()) ?? current.list.lookup(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a name may be there although `lookup` does not find it. */
export function isOpen(scope: Scope | null): boolean {
  for (let current = scope; current !== null; current = current.parent) if (current.list.open) return true;
  return false;
}

/** A name that a query may write, with its type; null: only its use tells. */
export interface Candidate {
  readonly name: string;
  readonly type: SqlType | null;
  /** The row of a table alias. */
  readonly isRow: boolean;
}

/** The names of a list, without those that are ambiguous. */
export function candidatesOf(list: NameList): Candidate[] {
  return [...new Set(list.names())].flatMap((name) => candidate(name, list.lookup(name)));
}

/** Every name in scope, innermost first, without those that are ambiguous or hidden. */
export function visibleCandidates(scope: Scope | null): Candidate[] {
  return [...new Map(visibleNames(scope).map((name) => [name.toLowerCase(), name])).values()].flatMap((name) =>
    candidate(name, lookup(scope, name)),
  );
}

function candidate(name: string, target: Target | undefined): Candidate[] {
  switch (target?.kind) {
    case undefined:
    case 'ambiguous':
    case 'refused':
      return [];
    case 'alias':
      return [{ name, type: target.expr.type, isRow: false }];
    case 'column':
      return [{ name, type: target.column.type, isRow: false }];
    case 'field': {
      const { type } = target.column;
      return [{ name, type: type.kind === 'STRUCT' ? (type.fields[target.index]?.type ?? null) : null, isRow: false }];
    }
    case 'range':
      return [{ name, type: rowType(target.list), isRow: true }];
  }
}

function rowType({ columns, isValueTable }: NameList): SqlType {
  const [only] = columns;
  if (isValueTable && only !== undefined) return only.column.type;
  return { kind: 'STRUCT', fields: columns.map(({ name, column }) => ({ name, type: column.type })) };
}

/** The columns of a list that have a name, with their types. */
export function namedColumns({ columns }: NameList): NamedType[] {
  return columns.flatMap(({ name, column }) => (name === null ? [] : { name, type: column.type }));
}

/** The same of everything in scope, innermost first. */
export function visibleColumns(scope: Scope | null): NamedType[] {
  const columns: NamedType[] = [];
  for (let current = scope; current !== null; current = current.parent) columns.push(...namedColumns(current.list));
  return columns;
}

/** Every name in scope, innermost first. */
export function visibleNames(scope: Scope | null): string[] {
  const names: string[] = [];
  for (let current = scope; current !== null; current = current.parent)
    names.push(...(current.overrides?.keys() ?? []), ...current.list.names());
  return names;
}
