import { type Command, Option } from 'commander';

import { EXIT, Ending, type Surroundings } from './surroundings';
import type { InitRequest, Written } from './init/init';

const EXAMPLES = `
A file is read for its columns; it may be anywhere. A table is one of DATA_DIR, or of the sample logs. Tests of what is written
run with "logquay test". Nothing is overwritten.

Examples:
  logquay init logs/my-app.ndjson
  logquay init my-app --tenant customer_id
  logquay init --from bigquery:logs.run_googleapis_com_stdout --tenant resource.labels.project_id
  logquay init --preset nginx
  logquay init access --preset nginx --tenant host`;

/** `logquay init`. */
export function addInit(program: Command, { environment, out, note }: Surroundings): void {
  const command = program
    .command('init')
    .summary('write stored queries over your own tables')
    .description('Writes a stored query over a table, with its tests; or two over a table of a known shape.')
    .argument('[file or table]', 'a file of logs, or the name of a table')
    .addOption(
      new Option('--from <table>', "a table of BigQuery's, by its schema: bigquery:DATASET.TABLE").conflicts('preset'),
    )
    .addOption(
      new Option('--preset <name>', 'a known shape').choices([
        'cloud-logging',
        'log-analytics',
        'otel',
        'ga4',
        'nginx',
        'kubernetes',
        'pino',
      ]),
    )
    .option('--tenant <field>', 'a field that says whose a row is: a required parameter, which keys can pin')
    .option('--name <name>', 'of the endpoint; otherwise that of the table, or else of the preset')
    .addHelpText('after', EXAMPLES)
    .action(async (what: string | undefined, options: Omit<InitRequest, 'what'>) => {
      if (what === undefined && options.from === undefined && options.preset === undefined)
        command.error('error: name a file or a table, --from or --preset');
      if (what !== undefined && options.from !== undefined)
        command.error('error: --from names the table: no other is allowed');
      const { init } = await import('./init/init.js');
      const { InitError } = await import('./init/endpoint-text.js');
      try {
        const written = await init({ what, ...options }, environment, note);
        for (const file of written.files) out(file);
        for (const line of nextSteps(written, environment)) note(line);
      } catch (error) {
        if (!(error instanceof InitError)) throw error;
        note(error.message);
        throw new Ending(EXIT.failure);
      }
      note('"logquay check" resolves what was written, "logquay test" runs its tests.');
    });
}

/** What there is now, and how it is asked. */
function nextSteps({ endpoints, tenant }: Written, environment: Surroundings['environment']): readonly string[] {
  const base = environment['PUBLIC_URL'] || `http://127.0.0.1:${environment['PORT'] || '4000'}`;
  const query = tenant === null ? '' : `?${tenant.parameter}=VALUE`;
  return [
    ...endpoints.map((name) => `Endpoint ${name}: ${base.replace(/\/+$/, '')}/api/endpoints/query/${name}${query}`),
    ...(tenant === null
      ? []
      : [
          `The parameter ${tenant.parameter} says whose rows are read. A key for one tenant:`,
          `  logquay keys create --name acme --endpoints ${endpoints.join(',')} --pin ${tenant.parameter}=VALUE`,
        ]),
  ];
}
