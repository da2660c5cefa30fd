/** Types in GoogleSQL's spelling, names of fields in backticks. */
import type { SqlType } from '../types';
import type { Names } from './names';

export function typeSql(names: Names, type: SqlType): string {
  switch (type.kind) {
    case 'ARRAY':
    case 'RANGE':
      return `${type.kind}<${typeSql(names, type.element)}>`;
    case 'STRUCT': {
      const fields = type.fields.map(
        ({ name, type: field }) => (name === null ? '' : `${names.quoted(name)} `) + typeSql(names, field),
      );
      return `STRUCT<${fields.join(', ')}>`;
    }
    default:
      return type.kind;
  }
}
