/** The functions that a query may call by name, and the operators, which start with a dollar. */
import type { BinaryOperator, Identifier } from '../tree';
import { FUNCTIONS, type FunctionEntry, type FunctionName, type ScalarName } from './function-table';

export interface SqlFunction extends Omit<FunctionEntry, 'signatures'> {
  /** Canonical name: upper case, with its namespace; `$add` and the like for operators. */
  readonly name: FunctionName;
  readonly category: string;
  readonly isOpen: boolean;
  readonly signatures: readonly string[];
}

const BY_NAME: ReadonlyMap<string, SqlFunction> = new Map(
  Object.entries(FUNCTIONS).flatMap(([name, { signatures, ...row }]: [string, (typeof FUNCTIONS)[FunctionName]]) => {
    const texts = signatures === '' ? [] : signatures.split('; ');
    const fn: SqlFunction = { ...row, name: name as FunctionName, signatures: texts };
    return [name, fn.alias ?? []].flat().map((one) => [one, fn] as const);
  }),
);

/**
 * The function of a name such as `SUBSTR` or `net.host`; case does not matter. A second name (`SUBSTRING`) gives the
 * function under its first. Operators are found by their dollar names, which no query can spell.
 */
export function findFunction(name: string): SqlFunction | undefined {
  return BY_NAME.get(name.startsWith('$') ? name : name.toUpperCase());
}

/** What a call names, without its SAFE. A name with a dollar is none that a query can spell. */
export function namedFunction(path: readonly Identifier[]): {
  readonly name: string;
  readonly fn: SqlFunction | undefined;
  readonly safe: boolean;
} {
  const safe = path.length > 1 && path[0]?.name.toUpperCase() === 'SAFE';
  const parts = safe ? path.slice(1) : path;
  const name = parts.map((part) => part.name).join('.');
  return { name, fn: name.startsWith('$') ? undefined : findFunction(name), safe };
}

/** Of a call in a resolved tree. */
export function functionOf(call: { readonly function: FunctionName }): SqlFunction {
  return BY_NAME.get(call.function)!;
}

/** Every name that a query can write for a function, second names included, in alphabetical order. */
export function functionNames(): string[] {
  return [...BY_NAME.keys()].filter((name) => !name.startsWith('$')).sort();
}

/** The function of an operator between two operands. */
export const OPERATORS: Readonly<Record<BinaryOperator, ScalarName>> = {
  or: '$or',
  and: '$and',
  '=': '$equal',
  '!=': '$not_equal',
  '<': '$less',
  '<=': '$less_or_equal',
  '>': '$greater',
  '>=': '$greater_or_equal',
  like: '$like',
  'not like': '$like',
  '|': '$bit_or',
  '^': '$bit_xor',
  '&': '$bit_and',
  '<<': '$shift_left',
  '>>': '$shift_right',
  '+': '$add',
  '-': '$subtract',
  '*': '$multiply',
  '/': '$divide',
  '||': '$concat',
};
