import type { Command } from 'commander';

import type { Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay serve
  PORT=8080 DATA_DIR=logs logquay serve
  BIGQUERY_PROJECT_ID=my-project BIGQUERY_DATASET=logs API_KEY=... logquay serve

SIGTERM and SIGINT drain: /ready turns 503, what is accepted is answered, exit code 0. A second signal ends at once, with 1.`;

/** `logquay serve`. */
export function addServe(program: Command, _surroundings: Surroundings): void {
  program
    .command('serve')
    .summary('start the service')
    .description('Starts the service; every setting is an environment variable (.env.example).')
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const { serve } = await import('../main.js');
      await serve();
    });
}
