/** What a key may query: for editors, explorers and assistants (docs/analysis.md). */
import { describeParameters } from '../endpoints/parameters';
import { describeFunctions } from '../sandbox/functions';
import { describeColumns } from '../googlesql/described-columns';
import { authorise, checkResolves, mayQuery, maySeeSchema } from './authorise';
import { limitsOf } from './limits';
import type { Services } from './services';
import type { RunRequest } from './types';

/**
 * The parameters, tables and functions of an endpoint, and the columns of its own rows.
 *
 * @returns the body of the response, as plain data
 * @throws ServiceError as a run does before SQL is read; and where the engine does not answer
 */
export async function schemaOf(request: RunRequest, services: Services): Promise<object> {
  const { key, endpoint } = await authorise(request, services);
  await checkResolves(endpoint, services);
  const { limits } = limitsOf({ endpoint }, request, services);
  const { tables, columns, descriptions } = await services.analyses.of(endpoint, { ...limits, keyName: key.name });
  const queries = mayQuery(key, endpoint, services.engine);
  const seen = maySeeSchema(key, endpoint, services.engine) ? columns : null;
  return {
    parameters: describeParameters(endpoint, key.pins),
    columns: seen === null ? null : describeColumns(seen, descriptions.columns),
    tables: queries
      ? tables.map(({ name, columns: own }) => ({ name, columns: describeColumns(own, descriptions.tables.get(name)) }))
      : [],
    functions: queries ? describeFunctions() : [],
  };
}
