/** How values are stored where the lists of `Part.single` are their only elements. */
import type { SqlType } from '@logquay/googlesql/types';
import { duckType, physicalFieldNames, quoteName, quoteText } from '../../sql';

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

/** Whether values are stored in another way than expressions have them. */
function holdsBignumeric(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return holdsBignumeric(type.element);
  return type.kind === 'STRUCT' ? type.fields.some((field) => holdsBignumeric(field.type)) : type.kind === 'BIGNUMERIC';
}

/** A stored value as expressions have it. @param value it is repeated */
export function asComputed(value: string, type: SqlType): string {
  if (!holdsBignumeric(type)) return value;
  if (type.kind === 'ARRAY') return `list_transform(${value}, lambda e: ${asComputed('e', type.element)})`;
  if (type.kind !== 'STRUCT') return `lq_bignumeric_of_text(CAST(${value} AS VARCHAR))`;
  const names = physicalFieldNames(type.fields);
  const fields = type.fields.map(
    (field, i) => `${quoteText(names[i]!)}: ${asComputed(`${value}.${quoteName(names[i]!)}`, field.type)}`,
  );
  return `CASE WHEN ${value} IS NOT NULL THEN {${fields.join(', ')}} END`;
}

/**
 * A stored value as `to`, which has lists where `from` has their only elements. A record with such a list in it is never
 * NULL, or the list would not hold one element.
 *
 * @param value a name, or a field of one: it is repeated
 */
export function withLists(value: string, from: SqlType, to: SqlType): string {
  if (to.kind === 'ARRAY' && from.kind !== 'ARRAY') return `[${withLists(value, from, to.element)}]`;
  if (to.kind !== 'STRUCT' || from.kind !== 'STRUCT' || duckType(from, true) === duckType(to, true)) return value;
  const names = physicalFieldNames(to.fields);
  const fields = to.fields.map(({ type }, i) => {
    const name = names[i]!;
    return `${quoteText(name)}: ${withLists(`${value}.${quoteName(name)}`, from.fields[i]!.type, type)}`;
  });
  return `{${fields.join(', ')}}`;
}

// ------------------------------------------------------------------------------------------
// Lists that DuckDB writes as their only elements. A record of a hundred fields, written out so that its lists become lists again, takes
// DuckDB longer to plan than to read: it writes the record as it is stored, and the brackets are set in the text.

/** Where a JSON value lacks brackets. Plain data. */
export interface ListShape {
  /** Of the value itself. */
  readonly isList: boolean;
  /** Of the members of the object, in their order; null: they are as they should be. */
  readonly members: readonly (ListShape | null)[] | null;
}

/** @param from as it is stored @param to as it is written; null: just so */
export function listShape(from: SqlType, to: SqlType): ListShape | null {
  if (to.kind === 'ARRAY' && from.kind !== 'ARRAY') {
    return { isList: true, members: listShape(from, to.element)?.members ?? null };
  }
  if (to.kind !== 'STRUCT' || from.kind !== 'STRUCT' || duckType(from, true) === duckType(to, true)) return null;
  return { isList: false, members: to.fields.map(({ type }, i) => listShape(from.fields[i]!.type, type)) };
}
