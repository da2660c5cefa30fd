import type { Command } from 'commander';

import type { SetupRequest } from '../engines/bigquery/setup/command';
import { repeatable } from './repeatable';
import type { Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay setup-bigquery --project my-project --location EU --service-account gateway@my-project.iam.gserviceaccount.com
  logquay setup-bigquery --project my-project --keep-days 90 --apply
  logquay setup-bigquery --view raw_auth_logs=my-project.pipeline.auth`;

/** `logquay setup-bigquery` (docs/bigquery.md). */
export function addSetupBigQuery(program: Command, { environment, out }: Surroundings): void {
  const setup = program
    .command('setup-bigquery')
    .summary("print BigQuery's tables and rights for the service, or make them")
    .description(
      'Prints the statements that make the data set, its log tables and the rights of the service; with --apply it runs them.',
    )
    .option('--project <id>', 'default: BIGQUERY_PROJECT_ID')
    .option('--dataset <name>', 'default: BIGQUERY_DATASET, or logs')
    .option('--location <place>', "default: BIGQUERY_LOCATION, or BigQuery's own choice")
    .option('--service-account <email>', 'the account that the service runs as')
    .option('--keep-days <number>', "drop a day's rows after so many days (default: keep them)")
    .addOption(repeatable('--view <table=path>', 'the table is a view on project.dataset.table'))
    .option('--apply', 'run the statements instead of printing them')
    .addHelpText('after', EXAMPLES)
    .action(async (request: SetupRequest) => {
      const { runSetup, SetupOptionError } = await import('../engines/bigquery/setup/command.js');
      await runSetup(request, environment, out).catch((error: unknown) => {
        if (error instanceof SetupOptionError) setup.error(`error: ${error.message}`);
        throw error;
      });
    });
}
