import type { NamedType, SqlType } from '../googlesql/types';
import { redactText } from '../redaction/redaction';

/** Columns with the names that redacted rows have (docs/redaction.md), fields at any depth among them. */
export function redactedNames(columns: readonly NamedType[]): NamedType[] {
  return columns.map(({ name, type }) => ({ name: redactText(name), type: redactedType(type) }));
}

function redactedType(type: SqlType): SqlType {
  switch (type.kind) {
    case 'ARRAY':
      return { ...type, element: redactedType(type.element) };
    case 'STRUCT':
      return {
        ...type,
        fields: type.fields.map(({ name, type: field }) => ({
          name: name === null ? null : redactText(name),
          type: redactedType(field),
        })),
      };
    default:
      return type;
  }
}
