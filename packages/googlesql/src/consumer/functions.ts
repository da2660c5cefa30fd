/**
 * The built-in functions that a consumer query may call (docs/sandbox.md). An allow-list: a function is here
 * because it computes from its arguments alone (`consumers` in the table of functions). Left out on purpose: SESSION_USER (tells the service
 * account), ERROR (a channel of its own), everything that reads a table, a model, a key or a connection.
 */
import { findFunction, functionNames, namedFunction } from '../functions/catalogue';
import type { Identifier } from '../tree';

const NAMES: readonly string[] = functionNames().filter((name) => findFunction(name)?.isOpen);

/** Upper-case names in order, those of a namespace with their dot. */
export function allowedFunctionNames(): readonly string[] {
  return NAMES;
}

/**
 * Whether a call's name is on the list, in any case, with or without `SAFE.`. A quoted name never is: nobody needs the
 * quotes for a built-in, and they are how a routine outside is called.
 */
export function isAllowedFunction(path: readonly Identifier[]): boolean {
  if (path.some((part) => part.quoted)) return false;
  return namedFunction(path).fn?.isOpen === true;
}

export interface DescribedFunction {
  readonly name: string;
  readonly category: string;
  /** `SUBSTR(STRING, INT64, INT64?) -> STRING`; empty where the types follow a rule of their own. */
  readonly signatures: readonly string[];
}

/** The functions that a consumer query may call, for editors. */
export function describeFunctions(): readonly DescribedFunction[] {
  return NAMES.flatMap((name) => {
    const known = findFunction(name);
    if (known === undefined) return [];
    const signatures = known.signatures.map((signature) => {
      const [parameters = '', result = ''] = signature.split(/ ?-> /);
      return `${name}(${parameters}) -> ${result}`;
    });
    return [{ name, category: known.category, signatures }];
  });
}
