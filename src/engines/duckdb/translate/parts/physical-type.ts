/** How values are stored where the lists of `Part.single` are their only elements. */
import type { SqlType } from '../../../../googlesql/types';
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
