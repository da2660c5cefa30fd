import type { DuckDBConnection } from '@duckdb/node-api';
import { registerScalarFunctions } from '../scalar-functions/register';
import { setUpStatements } from '../translate';

/** Gives a database what translated queries call, before its configuration is locked. */
export async function setUp(connection: DuckDBConnection): Promise<void> {
  registerScalarFunctions(connection);
  await connection.run(setUpStatements().join(';\n'));
}
