/** What the translation knows of the rows of a table: relations, each with its own physical types. */
import type { SqlType } from '../../../../googlesql/types';
import { duckType, physicalFieldNames, quoteName, quoteText } from '../../sql';

/** A relation with some of the rows of a table. */
export interface StoredPart {
  /** DuckDB's name of it, quoted. Columns have the names of the schema, and the types of `duckType` but for `single`. */
  readonly relation: string;
  /** An estimate. */
  readonly rows: number;
  /** Paths of lists, `metadata.request`, that hold one element in every row and are stored as that element: a STRUCT. */
  readonly single: ReadonlySet<string>;
}

/** The type that a value at `path` is stored as where the lists of `single` are stored as their only element. */
export function physicalType(type: SqlType, path: string, single: ReadonlySet<string>): SqlType {
  if (type.kind === 'ARRAY') return single.has(path) ? physicalType(type.element, path, single) : type;
  if (type.kind !== 'STRUCT') return type;
  const fields = type.fields.map((field) => ({
    ...field,
    type: physicalType(field.type, `${path}.${field.name}`, single),
  }));
  return fields.every((field, i) => field.type === type.fields[i]!.type) ? type : { kind: 'STRUCT', fields };
}

/**
 * A stored value as `to`, which has lists where `from` has their only elements. A record with such a list in it is never
 * NULL, or the list would not hold one element.
 *
 * @param value a name, or a field of one: it is repeated
 */
export function withLists(value: string, from: SqlType, to: SqlType): string {
  if (to.kind === 'ARRAY' && from.kind !== 'ARRAY') return `[${withLists(value, from, to.element)}]`;
  if (to.kind !== 'STRUCT' || from.kind !== 'STRUCT' || duckType(from) === duckType(to)) return value;
  const names = physicalFieldNames(to.fields);
  const fields = to.fields.map(({ type }, i) => {
    const name = names[i]!;
    return `${quoteText(name)}: ${withLists(`${value}.${quoteName(name)}`, from.fields[i]!.type, type)}`;
  });
  return `{${fields.join(', ')}}`;
}
