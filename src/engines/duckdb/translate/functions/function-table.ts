/**
 * Every scalar function and operator that the embedded engine knows, each with what it becomes. What is not here is
 * refused: nothing is passed through on the strength of its name.
 */
import { aggregateNames } from './aggregate-functions';
import type { FunctionRow, FunctionTable } from '../expressions/call';
import { ARRAY_FUNCTIONS } from './arrays';
import { BYTES_FUNCTIONS } from './bytes';
import { CONDITIONAL_FUNCTIONS } from './conditionals';
import { DATE_FUNCTIONS } from './dates';
import { FORMAT_FUNCTIONS } from './formats';
import { INTERVAL_FUNCTIONS } from './intervals';
import { JSON_FUNCTIONS } from './json';
import { MATH_FUNCTIONS } from './math';
import { OPERATORS } from './operators';
import { OWN_FUNCTIONS } from './own-functions';
import { REGEXP_FUNCTIONS } from './regexps';
import { SEARCH_FUNCTIONS } from './search';
import { STRING_FUNCTIONS } from './strings';

const TABLES: readonly FunctionTable[] = [
  OPERATORS,
  CONDITIONAL_FUNCTIONS,
  STRING_FUNCTIONS,
  REGEXP_FUNCTIONS,
  SEARCH_FUNCTIONS,
  OWN_FUNCTIONS,
  BYTES_FUNCTIONS,
  MATH_FUNCTIONS,
  DATE_FUNCTIONS,
  FORMAT_FUNCTIONS,
  INTERVAL_FUNCTIONS,
  ARRAY_FUNCTIONS,
  JSON_FUNCTIONS,
];

const ROWS: ReadonlyMap<string, FunctionRow> = new Map(
  TABLES.flatMap((table) => Object.entries(table)).map(([name, row]) => [
    name,
    typeof row === 'function' ? { emit: row } : row,
  ]),
);

/** What a function or operator becomes. */
export function functionRow(name: string): FunctionRow | null {
  return ROWS.get(name) ?? null;
}

/** The names of all functions and operators that translate, sorted; operators have their `$` names. */
export function supportedFunctions(): { readonly scalar: readonly string[]; readonly aggregate: readonly string[] } {
  return { scalar: [...ROWS.keys()].sort(), aggregate: aggregateNames().sort() };
}
