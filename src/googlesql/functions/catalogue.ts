/** The functions that a query may call by name, and the operators, which start with a dollar. */
import { ADDITIONS, CONSTANT_ARGUMENTS } from './additions';
import type { FunctionEntry } from './entry';
import { SIGNATURES } from './signatures';

export interface SqlFunction extends FunctionEntry {
  /** Canonical name: upper case, with its namespace; `$add` and the like for operators. */
  readonly name: string;
}

const BY_NAME: ReadonlyMap<string, SqlFunction> = build();

function build(): Map<string, SqlFunction> {
  const functions = new Map<string, SqlFunction>();
  for (const [name, entry] of Object.entries({ ...SIGNATURES, ...ADDITIONS })) {
    const constant = entry.constant ?? CONSTANT_ARGUMENTS[name];
    const described: SqlFunction = {
      ...entry,
      name,
      ...(constant === undefined ? {} : { constant }),
    };
    functions.set(name, described);
    if (entry.alias !== undefined) functions.set(entry.alias, described);
  }
  return functions;
}

/**
 * The function of a name such as `SUBSTR` or `net.host`; case does not matter. A second name (`SUBSTRING`) gives the
 * function under its first. Operators are found by their dollar names, which no query can spell.
 */
export function findFunction(name: string): SqlFunction | undefined {
  return BY_NAME.get(name.startsWith('$') ? name : name.toUpperCase());
}

/** Every name that a query can write for a function, second names included, in alphabetical order. */
export function functionNames(): string[] {
  return [...BY_NAME.keys()].filter((name) => !name.startsWith('$')).sort();
}
