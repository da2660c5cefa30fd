/** The function table: what may be called is in it, under both names, and its signatures read. */
import { findFunction, functionNames } from '../../src/googlesql/functions/catalogue';
import { signatureOf } from '../../src/googlesql/functions/signature';
import { LAMBDA_FUNCTIONS } from '../../src/googlesql/resolver/lambdas';
import { allowedFunctionNames } from '../../src/sandbox/functions';

/** Of a shape of their own: the catalogue has EXTRACT as `$extract`, and no lambdas. */
const SYNTAX = new Set(['EXTRACT', ...LAMBDA_FUNCTIONS]);

test.each([...new Set([...functionNames(), ...allowedFunctionNames().filter((name) => !SYNTAX.has(name))])])(
  '%s is found in any case',
  (name) => {
    const found = findFunction(name.toLowerCase());
    // A second name gives the function under its first.
    expect([found?.name, found?.alias]).toContain(name);
    expect(found?.signatures.length).toBeGreaterThan(0);
    for (const text of found?.signatures ?? []) expect(() => signatureOf(text)).not.toThrow();
  },
);

test.each(['nosuch', 'toString', 'ARRAY_SUM', 'D3A_COUNT.INIT', 'FLATTEN', 'IFERROR', 'ARRAY_FILTER'])(
  '%s is none',
  (name) => {
    expect(findFunction(name)).toBeUndefined();
  },
);
