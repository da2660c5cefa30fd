/** The child process of duckdb-scalar-functions.test.ts. */
require('../../../test/typescript.js');
module.require('./call-costs.ts');
