/** The child process of duckdb-scalar-functions.test.ts. */
require('../typescript');
module.require('./call-costs.ts');
