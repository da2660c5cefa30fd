import type { NamedType as ServiceColumn, SqlType as ServiceType } from '../../../src/googlesql/types';
import { type NamedType } from '../googlesql/types';

/** Those columns whose types the service's own GoogleSQL knows: it has no RANGE. */
export function serviceColumns(columns: readonly NamedType[]): ServiceColumn[] {
  return columns.flatMap(({ name, type }) => (isKnown(type) ? [{ name, type }] : []));
}

function isKnown(type: NamedType['type']): type is ServiceType {
  if (type.kind === 'RANGE') return false;
  if (type.kind === 'ARRAY') return isKnown(type.element);
  return type.kind !== 'STRUCT' || type.fields.every((field) => isKnown(field.type));
}
