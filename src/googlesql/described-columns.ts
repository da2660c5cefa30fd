import { typeText } from './type-names';
import type { NamedType, SqlType, StructField } from './types';

/** A column as JSON tells it: `ARRAY<STRUCT>` and `STRUCT` have `fields`. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  readonly fields?: readonly DescribedColumn[];
}

export function describeColumns(columns: readonly (NamedType | StructField)[]): readonly DescribedColumn[] {
  return columns.map(({ name, type }) => {
    const fields = fieldsOf(type);
    const described = { name: name ?? '', type: nameOf(type) };
    return fields === null ? described : { ...described, fields: describeColumns(fields) };
  });
}

function fieldsOf(type: SqlType): readonly StructField[] | null {
  if (type.kind === 'ARRAY') return fieldsOf(type.element);
  return type.kind === 'STRUCT' ? type.fields : null;
}

function nameOf(type: SqlType): string {
  if (type.kind === 'STRUCT') return 'STRUCT';
  return type.kind === 'ARRAY' ? `ARRAY<${nameOf(type.element)}>` : typeText(type);
}
