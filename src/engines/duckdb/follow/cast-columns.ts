import type { RestField } from '../../../googlesql/rest-schema';
import { storedType, storedValue } from '../data/field-sql';
import { quoteName } from '../sql';

/** A select list that gives columns as `before` in the types of `fields`: what was not there yet is NULL, or an empty list. */
export function castColumns(before: readonly RestField[], fields: readonly RestField[]): string {
  return fields.map((field) => castColumn(before, field)).join(', ');
}

function castColumn(before: readonly RestField[], field: RestField): string {
  const name = quoteName(field.name);
  const known = before.find((other) => other.name.toLowerCase() === field.name.toLowerCase());
  if (known !== undefined && storedType(known) === storedType(field)) return name;
  const cast = known === undefined ? `CAST(NULL AS ${storedType(field)})` : `TRY_CAST(${name} AS ${storedType(field)})`;
  return `${storedValue(asStored(field), cast, 'blob')} AS ${name}`;
}

/** Timestamps are stored in UTC already. */
function asStored(field: RestField): RestField {
  const type = field.type === 'TIMESTAMP' ? 'DATETIME' : field.type;
  return { ...field, type, fields: field.fields.map(asStored) };
}
