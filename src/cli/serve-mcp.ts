import { once } from 'node:events';

import { serveStdio } from '@modelcontextprotocol/server/stdio';

import { readConfig } from '../config';
import { openCatalogue } from '../endpoints/catalogue';
import { openLog } from '../log';
import type { Caller } from '../mcp/tools';
import { createServer } from '../mcp/server';
import { openLocalRunner, OPERATOR } from './local-runner';

/**
 * Speaks the Model Context Protocol on the standard input and output until the input ends, as the operator.
 *
 * @throws ConfigError, CatalogueError and DataFault as at a start; AbortError by the signal
 */
export async function serveMcp(
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<void> {
  const config = readConfig(environment);
  // The standard output is the protocol's.
  const log = openLog(environment['LOG_LEVEL'] ? config.logLevel : 'warn', process.stderr);
  const catalogue = await openCatalogue(config.queriesDir, { log });
  try {
    const runner = await openLocalRunner(config, catalogue, log, signal);
    const onError = (err: unknown): void => log.error({ err }, 'a tool failed');
    const server = serveStdio(() =>
      createServer({ key: OPERATOR, caller: callerUntil(signal), services: runner.services(OPERATOR), onError }),
    );
    try {
      await once(process.stdin, 'close', { signal });
    } finally {
      await server.close();
      await runner.close();
    }
  } finally {
    catalogue.close();
  }
}

function callerUntil(signal: AbortSignal): Caller {
  return {
    id: 'stdio',
    signal,
    header: () => [],
    timed: async (_phase, step) => step(),
    record: () => undefined,
    expectUntil: () => undefined,
    setHeaders: () => undefined,
  };
}
