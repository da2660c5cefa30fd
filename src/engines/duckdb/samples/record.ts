import type { RestField } from '../../../googlesql/rest-schema';
import { storedType } from '../data/field-sql';
import { quoteName } from '../sql';

/** SQL for a field; an object for a record; `when`: the record is there in those rows only. */
export type Value = string | Shape | Optional;
export interface Shape {
  readonly [field: string]: Value;
}
class Optional {
  constructor(
    readonly condition: string,
    readonly value: Shape,
  ) {}
}

/** A record that rows have where the SQL condition holds. */
export function when(condition: string, value: Shape): Optional {
  return new Optional(condition, value);
}

/**
 * The value of a field: lists of one record as the log pipeline stores them, [] and NULL for what the shape leaves out.
 *
 * @param asElements the lists of `singleLists` as their elements
 */
export function fieldSql(field: RestField, value: Value | undefined, asElements: boolean): string {
  const type = storedType(field);
  if (value === undefined) return field.mode === 'REPEATED' ? `CAST([] AS ${type})` : `CAST(NULL AS ${type})`;
  if (value instanceof Optional) {
    return `CASE WHEN ${value.condition} THEN ${fieldSql(field, value.value, false)} ELSE ${fieldSql(field, undefined, false)} END`;
  }
  if (typeof value === 'string') return `CAST(${value} AS ${type})`;
  for (const name of Object.keys(value)) {
    if (!field.fields.some((inner) => inner.name === name)) throw new Error(`${field.name} has no field ${name}`);
  }
  const parts = field.fields.map(
    (inner) => `${quoteName(inner.name)} := ${fieldSql(inner, value[inner.name], asElements)}`,
  );
  const record = `struct_pack(${parts.join(', ')})`;
  return field.mode === 'REPEATED' && !asElements ? `[${record}]` : record;
}

/** Paths of the lists that have one element in every row. */
export function singleLists(fields: readonly RestField[], shape: Shape, prefix = ''): readonly string[] {
  return fields.flatMap((field) => {
    const [path, value] = [`${prefix}${field.name}`, shape[field.name]];
    if (value === undefined || typeof value === 'string' || value instanceof Optional) return [];
    return [...(field.mode === 'REPEATED' ? [path] : []), ...singleLists(field.fields, value, `${path}.`)];
  });
}
