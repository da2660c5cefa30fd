import type { SqlType, StructField } from '../googlesql/types';
import { fieldName } from '../openapi';

/** TypeScript of a value as JSON has it (docs/http.md, Values); any but an array may be null. */
export function valueType(type: SqlType): string {
  return type.kind === 'ARRAY' ? arrayType(type.element) : `${presentType(type)} | null`;
}

/** TypeScript of an object with these members. */
export function objectType(fields: readonly StructField[]): string {
  const members = new Map<string, string>();
  fields.forEach((field, i) => {
    const name = fieldName(field, i);
    // Of two fields with one name a reader of JSON finds either.
    members.set(name, members.has(name) ? 'Value' : valueType(field.type));
  });
  return `{ ${[...members].map(([name, type]) => `readonly ${memberName(name)}: ${type}`).join('; ')} }`;
}

/** A name as it is written in a type. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** No element is null, but BYTES that redaction hides. */
function arrayType(element: SqlType): string {
  return `readonly (${element.kind === 'BYTES' ? 'string | null' : presentType(element)})[]`;
}

function presentType(type: SqlType): string {
  switch (type.kind) {
    case 'ARRAY':
      return arrayType(type.element);
    case 'STRUCT':
      return objectType(type.fields);
    case 'BOOL':
      return 'boolean';
    case 'INT64':
    case 'TIMESTAMP':
      return 'number';
    case 'FLOAT64':
      return "number | 'NaN' | 'Infinity' | '-Infinity'";
    case 'JSON':
      return 'Value';
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'STRING':
    case 'BYTES':
    case 'DATE':
    case 'TIME':
    case 'DATETIME':
    case 'INTERVAL':
    case 'GEOGRAPHY':
      return 'string';
  }
}
