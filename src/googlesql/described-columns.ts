import type { Description } from './descriptions';
import { scalarNamed, typeText } from './type-names';
import type { NamedType, SqlType, StructField } from './types';

/** A column as JSON tells it: `ARRAY<STRUCT>` and `STRUCT` have `fields`. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  /** What the owner of its table says of it. */
  readonly description?: string;
  readonly fields?: readonly DescribedColumn[];
}

/** @param descriptions of the columns, in their order; missing: none is known */
export function describeColumns(
  columns: readonly (NamedType | StructField)[],
  descriptions: readonly Description[] = [],
): readonly DescribedColumn[] {
  return columns.map(({ name, type }, i) => {
    const fields = fieldsOf(type);
    const { text = null, fields: inner = [] } = descriptions[i] ?? {};
    const described = { name: name ?? '', type: nameOf(type), ...(text === null ? {} : { description: text }) };
    return fields === null ? described : { ...described, fields: describeColumns(fields, inner) };
  });
}

/** The columns that `describeColumns` described. A type of a name that is not known is left out. */
export function readColumns(described: readonly DescribedColumn[]): readonly NamedType[] {
  return described.flatMap(({ name, type, fields }) => {
    const read = readType(type, fields ?? []);
    return read === null ? [] : [{ name, type: read }];
  });
}

function readType(written: string, fields: readonly DescribedColumn[]): SqlType | null {
  const element = /^ARRAY<(.+)>$/.exec(written)?.[1];
  if (element !== undefined) {
    const type = readType(element, fields);
    return type === null ? null : { kind: 'ARRAY', element: type };
  }
  if (written === 'STRUCT') return { kind: 'STRUCT', fields: readColumns(fields) };
  const kind = scalarNamed(written);
  return kind === undefined ? null : { kind };
}

function fieldsOf(type: SqlType): readonly StructField[] | null {
  if (type.kind === 'ARRAY') return fieldsOf(type.element);
  return type.kind === 'STRUCT' ? type.fields : null;
}

function nameOf(type: SqlType): string {
  if (type.kind === 'STRUCT') return 'STRUCT';
  return type.kind === 'ARRAY' ? `ARRAY<${nameOf(type.element)}>` : typeText(type);
}
