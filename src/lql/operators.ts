import type { Test } from './rules';

export type FieldOperator = Exclude<Test['operator'], 'contains' | 'range' | 'in'>;

/** As written, longest first: the first that fits is the one. */
export const OPERATORS: readonly (readonly [written: string, operator: FieldOperator])[] = [
  [':@>~', 'list_includes_regex'],
  [':@>', 'list_includes'],
  [':>=', '>='],
  [':<=', '<='],
  [':>', '>'],
  [':<', '<'],
  [':~', '~'],
  [':', '='],
];
