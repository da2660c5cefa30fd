import type { RestField } from '../../../googlesql/rest-schema';
import { storedType, storedValue } from '../data/field-sql';
import { listsValue } from '../data/single-lists';
import { quoteName } from '../sql';

/**
 * A select list that gives columns as `before` in the types of `fields`, with lists: what was not there yet is NULL, or an
 * empty list.
 *
 * @param single paths of lists that are stored as their elements
 */
export function castColumns(
  before: readonly RestField[],
  fields: readonly RestField[],
  single: ReadonlySet<string> = new Set(),
): string {
  return fields.map((field) => castColumn(before, field, single)).join(', ');
}

function castColumn(before: readonly RestField[], field: RestField, single: ReadonlySet<string>): string {
  const name = quoteName(field.name);
  const known = before.find((other) => other.name.toLowerCase() === field.name.toLowerCase());
  const value = known === undefined ? 'NULL' : listsValue(known, single);
  if (known !== undefined && storedType(known) === storedType(field))
    return value === name ? name : `${value} AS ${name}`;
  const cast = `TRY_CAST(${value} AS ${storedType(field)})`;
  return `${storedValue(asStored(field), cast, 'blob')} AS ${name}`;
}

/** Timestamps are stored in UTC already. */
function asStored(field: RestField): RestField {
  const type = field.type === 'TIMESTAMP' ? 'DATETIME' : field.type;
  return { ...field, type, fields: field.fields.map(asStored) };
}
