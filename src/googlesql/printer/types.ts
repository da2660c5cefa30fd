/** Types in GoogleSQL's spelling, names of fields in backticks. */
import type { SqlType, TypeParameters } from '../types';
import type { Names } from './names';

export function typeSql(names: Names, type: SqlType, parameters: TypeParameters | null = null): string {
  switch (type.kind) {
    case 'ARRAY':
    case 'RANGE':
      return `${type.kind}<${typeSql(names, type.element, parameters?.inner[0])}>`;
    case 'STRUCT': {
      const fields = type.fields.map(
        ({ name, type: field }, i) =>
          (name === null ? '' : `${names.quoted(name)} `) + typeSql(names, field, parameters?.inner[i]),
      );
      return `STRUCT<${fields.join(', ')}>`;
    }
    default:
      return parameters === null ? type.kind : `${type.kind}(${parameters.own.join(', ')})`;
  }
}
