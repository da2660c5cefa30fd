/**
 * Every scalar function and operator that the embedded engine knows, each with what it becomes. What is not here is
 * refused: nothing is passed through on the strength of its name.
 */
import type { SqlType } from '../../../../googlesql/types';
import { aggregateNames } from './aggregate-functions';
import type { FunctionRow, FunctionTable } from '../expressions/call';
import { ARRAY_FUNCTIONS } from './arrays';
import { BIGNUMERIC_FUNCTIONS } from './bignumeric';
import { BYTES_FUNCTIONS } from './bytes';
import { COLLATION_FUNCTIONS } from './collations';
import { CONDITIONAL_FUNCTIONS } from './conditionals';
import { DATE_FUNCTIONS } from './dates';
import { FORMAT_FUNCTIONS } from './formats';
import { INTERVAL_FUNCTIONS } from './intervals';
import { JSON_FUNCTIONS } from './json';
import { JSON_EDIT_FUNCTIONS } from './json-edits';
import { MATH_FUNCTIONS } from './math';
import { OPERATORS } from './operators';
import { OWN_FUNCTIONS } from './own-functions';
import { RANGE_FUNCTIONS } from './ranges';
import { REGEXP_FUNCTIONS } from './regexps';
import { SEARCH_FUNCTIONS } from './search';
import { SKETCH_FUNCTIONS } from './sketches';
import { STRING_FUNCTIONS } from './strings';

const TABLES: readonly FunctionTable[] = [
  OPERATORS,
  CONDITIONAL_FUNCTIONS,
  COLLATION_FUNCTIONS,
  STRING_FUNCTIONS,
  REGEXP_FUNCTIONS,
  SEARCH_FUNCTIONS,
  OWN_FUNCTIONS,
  BYTES_FUNCTIONS,
  MATH_FUNCTIONS,
  DATE_FUNCTIONS,
  FORMAT_FUNCTIONS,
  INTERVAL_FUNCTIONS,
  RANGE_FUNCTIONS,
  ARRAY_FUNCTIONS,
  JSON_FUNCTIONS,
  JSON_EDIT_FUNCTIONS,
  SKETCH_FUNCTIONS,
];

const rowsOf = (tables: readonly FunctionTable[]): ReadonlyMap<string, FunctionRow> =>
  new Map(
    tables
      .flatMap((table) => Object.entries(table))
      .map(([name, row]) => [name, typeof row === 'function' ? { emit: row } : row]),
  );

const ROWS = rowsOf([...TABLES, { PARSE_BIGNUMERIC: BIGNUMERIC_FUNCTIONS.PARSE_BIGNUMERIC! }]);
const BIGNUMERIC_ROWS = rowsOf([BIGNUMERIC_FUNCTIONS]);

/** What a function or operator is of arguments of these types. */
export function functionRow(name: string, types: readonly SqlType[] = []): FunctionRow | null {
  const own = types.some(({ kind }) => kind === 'BIGNUMERIC') ? BIGNUMERIC_ROWS.get(name) : undefined;
  return own ?? ROWS.get(name) ?? null;
}

/** The names of all functions and operators that translate, sorted; operators have their `$` names. */
export function supportedFunctions(): { readonly scalar: readonly string[]; readonly aggregate: readonly string[] } {
  return { scalar: [...ROWS.keys()].sort(), aggregate: aggregateNames().sort() };
}
