import { findFunction } from '../../src/googlesql/functions/catalogue';
import { allowedFunctionNames } from '../../src/sandbox/functions';

/** Has an entry of its own shape in the syntax tree: the catalogue has it as `$extract`. */
const SYNTAX = new Set(['EXTRACT']);

test.each(allowedFunctionNames().filter((name) => !SYNTAX.has(name)))(
  '%s, which consumers may call, is a function that queries are resolved with',
  (name) => {
    const found = findFunction(name);
    expect(found).toBeDefined();
    // A second name gives the function under its first.
    expect([found!.name, found!.alias]).toContain(name);
    expect(found!.signatures.length).toBeGreaterThan(0);
  },
);
