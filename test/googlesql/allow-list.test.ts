import { findFunction } from '../../src/googlesql/functions/catalogue';
import { LAMBDA_FUNCTIONS } from '../../src/googlesql/resolver/lambdas';
import { allowedFunctionNames } from '../../src/sandbox/functions';

/** Of a shape of their own: the catalogue has EXTRACT as `$extract`, and no lambdas. */
const SYNTAX = new Set(['EXTRACT', ...LAMBDA_FUNCTIONS]);

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
