import type { Command } from 'commander';

import type { SetupRequest } from '../engines/bigquery/setup';
import { repeatable, type Surroundings } from './surroundings';

const EXAMPLES = `
Examples:
  logquay setup-bigquery --project my-project --location EU --service-account gateway@my-project.iam.gserviceaccount.com
  logquay setup-bigquery --project my-project --keep-days 90 --apply
  logquay setup-bigquery --view raw_auth_logs=my-project.pipeline.auth
  logquay setup-bigquery --sources queries/logflare-sources.json --from my-project.1_prod`;

interface SetupCommand extends Omit<SetupRequest, 'sourceViews'> {
  readonly sources?: string | undefined;
  readonly from?: string | undefined;
}

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
    .option('--sources <file>', 'views alone, of the sources in this file, which import-logflare has written')
    .option('--from <project.dataset>', 'the data set in which Logflare has a table for each of them')
    .option('--apply', 'run the statements instead of printing them')
    .addHelpText('after', EXAMPLES)
    .action(async ({ sources, from, ...request }: SetupCommand) => {
      if ((sources === undefined) !== (from === undefined) || !/^[\w:-]+\.\w+$/.test(from ?? 'a.b'))
        setup.error('error: --sources <file> and --from <project.dataset> go together.');
      const { sourceViews } = await import('./check-against.js');
      const { runSetup, SetupOptionError } = await import('../engines/bigquery/setup.js');
      const views = sources === undefined ? undefined : sourceViews(sources, from ?? '');
      await runSetup({ ...request, sourceViews: views }, environment, out).catch((error: unknown) => {
        if (error instanceof SetupOptionError) setup.error(`error: ${error.message}`);
        throw error;
      });
    });
}
