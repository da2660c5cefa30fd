/** What PIVOT calls a column for a value without an alias. */
import type { Expr } from '../resolved';
import { shortType } from './access';
import { invalid } from './session';

/** `first`: nothing stands before it, so it must not start with a digit. */
export function pivotColumnName(value: Expr, first: boolean): string {
  const { type } = value;
  if (value.kind === 'make_struct' && type.kind === 'STRUCT') {
    const parts = value.fields.map((field, i) => {
      const name = type.fields[i]?.name ?? null;
      return `${name === null ? '' : `${name}_`}${pivotColumnName(field, first && i === 0 && name === null)}`;
    });
    return parts.join('_');
  }
  if (value.kind !== 'literal') throw invalid('This value of PIVOT needs an alias.', value.span);
  if (value.value === null) return 'NULL';
  const text = value.value;
  switch (type.kind) {
    case 'STRING':
      return text === '' ? `${first ? '' : '_'}empty_string_value` : text;
    case 'DATE':
      return `${first ? '_' : ''}${text.replaceAll('-', '_')}`;
    case 'INT64':
    case 'NUMERIC':
    case 'BIGNUMERIC':
    case 'BOOL':
      return (first && /^\d/.test(text) ? '_' : '') + text.replaceAll('-', 'minus_').replaceAll('.', '_point_');
    default:
      throw invalid(`A value of type ${shortType(type)} needs an alias in PIVOT.`, value.span);
  }
}
