import { readConfig } from '../config';
import { openCatalogue } from '../endpoints/catalogue';
import { openLog } from '../log';
import { type LocalRequest, openLocalRunner } from './local-runner';
import { OPERATOR } from './operator';

/**
 * Runs a stored endpoint in this process, as the operator.
 *
 * @throws ServiceError as for a caller; ConfigError, CatalogueError and DataFault as at a start; AbortError by the signal
 */
export async function runLocally(
  request: LocalRequest,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly truncated: boolean }> {
  const config = readConfig(environment);
  // Only warnings, unless LOG_LEVEL is set: the output is the result.
  const log = openLog(environment['LOG_LEVEL'] ? config.logLevel : 'warn', process.stderr);
  const catalogue = await openCatalogue(config.queriesDir, { log });
  try {
    const runner = await openLocalRunner(config, catalogue, log, signal);
    try {
      const { response } = await runner.run(request, OPERATOR, signal);
      return { bytes: response.bytes, truncated: response.truncated };
    } finally {
      await runner.close();
    }
  } finally {
    catalogue.close();
  }
}
