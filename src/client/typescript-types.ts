import type { SqlType, StructField } from '../googlesql/types';
import { fieldName } from '../openapi';

/** TypeScript of an object with these members, as JSON has them (docs/http.md, Values); any but an array may be null. */
export function objectType(fields: readonly StructField[], indent: string): string {
  if (fields.length === 0) return '{ readonly [name: string]: never }';
  const members = new Map<string, string>();
  fields.forEach((field, i) => {
    const name = fieldName(field, i);
    // Of two fields with one name a reader of JSON finds either.
    members.set(name, members.has(name) ? 'Value' : valueType(field.type, `${indent}  `));
  });
  const lines = [...members].map(([name, type]) => `${indent}  readonly ${memberName(name)}: ${type};\n`);
  return `{\n${lines.join('')}${indent}}`;
}

function valueType(type: SqlType, indent: string): string {
  return type.kind === 'ARRAY' ? arrayType(type.element, indent) : `${presentType(type, indent)} | null`;
}

/** A name as it is written in a type. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** A text as a literal. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** No element is null, but BYTES that redaction hides. */
function arrayType(element: SqlType, indent: string): string {
  return `ReadonlyArray<${element.kind === 'BYTES' ? 'string | null' : presentType(element, indent)}>`;
}

function presentType(type: SqlType, indent: string): string {
  switch (type.kind) {
    case 'ARRAY':
      return arrayType(type.element, indent);
    case 'STRUCT':
      return objectType(type.fields, indent);
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
    case 'RANGE':
    case 'GEOGRAPHY':
      return 'string';
  }
}
