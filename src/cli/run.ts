import { type Command, InvalidArgumentError, Option } from 'commander';

import type { ServiceError } from '../errors';
import type { LocalRequest } from './local-runner';
import { print } from '../log/visible';
import { Ending, EXIT, repeatable, type Surroundings, untilCancelled } from './surroundings';

const EXAMPLES = `
Runs on the engine that the settings name, with every check of the service but the key's: whoever runs this is the operator.
Nothing is cached. If max_rows truncates the result, a line on the standard error says so.

Examples:
  logquay run logs.all --param project=default
  logquay run logs.all --param project=default --lql 'f:edge_logs timeout t:last@2h' --format ndjson | head -3
  logquay run usage.api-counts --param project=default --param interval=1hr --format csv > counts.csv
  logquay run logs.all --param project=default --sql - < query.sql`;

const FORMATS = { json: 'application/json', ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

interface RunOptions {
  readonly param?: readonly string[];
  readonly sql?: string;
  readonly lql?: string;
  readonly dryRun?: boolean;
  readonly redact?: boolean;
  readonly format: keyof typeof FORMATS;
}

/** `logquay run`. */
export function addRun(program: Command, { environment, note }: Surroundings): void {
  program
    .command('run')
    .summary('run a stored endpoint here, without HTTP')
    .description('Runs a stored endpoint in this process and prints the result.')
    .argument('<endpoint>', 'its name or id')
    .addOption(repeatable('--param <name=value>', 'a parameter').argParser(gatherParameter))
    .addOption(
      new Option('--sql <text>', 'a query of your own over its tables; - reads the standard input').conflicts('lql'),
    )
    .option('--lql <text>', 'the same as a line of LQL')
    .option('--dry-run', 'what it would read and cost, without running it (BigQuery)')
    .option('--redact', 'with IP and e-mail addresses redacted')
    .addOption(new Option('--format <form>', 'of the result').choices(Object.keys(FORMATS)).default('json'))
    .addHelpText('after', EXAMPLES)
    .action(async (endpoint: string, options: RunOptions) => {
      const request: LocalRequest = {
        endpoint,
        parameters: await parametersOf(options),
        redact: options.redact ?? false,
        accept: FORMATS[options.format],
      };
      await untilCancelled(async (signal) => {
        const { runLocally } = await import('./local-runner.js');
        const { ServiceError } = await import('../errors.js');
        try {
          const { bytes, truncated } = await runLocally(request, environment, signal);
          print(process.stdout, bytes);
          if (bytes.at(-1) !== 10) process.stdout.write('\n');
          if (truncated) note('There are more rows: the endpoint gives no more than its max_rows.');
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          note(inWords(error));
          throw new Ending(EXIT.failure);
        }
      });
    });
}

function gatherParameter(given: string, before: readonly string[] | undefined): readonly string[] {
  if (given.indexOf('=') < 1) throw new InvalidArgumentError('It is written name=value.');
  return [...(before ?? []), given];
}

async function parametersOf({ param = [], sql, lql, dryRun }: RunOptions): Promise<LocalRequest['parameters']> {
  const declared = param.map((given) => {
    const equals = given.indexOf('=');
    return [given.slice(0, equals), given.slice(equals + 1)] as const;
  });
  return [
    ...declared,
    ...(sql === undefined ? [] : [['sql', sql === '-' ? await standardInput() : sql] as const]),
    ...(lql === undefined ? [] : [['lql', lql] as const]),
    ...(dryRun === true ? [['dry_run', 'true'] as const] : []),
  ];
}

async function standardInput(): Promise<string> {
  const blocks: Buffer[] = [];
  for await (const block of process.stdin) blocks.push(block as Buffer);
  return Buffer.concat(blocks).toString('utf8');
}

/** `invalidQuery (line 2, column 6, near "frm"): message`, and the hint below it. */
function inWords({ reason, message, details }: ServiceError): string {
  const { line, column, near, allowed, hint } = details;
  const place = [
    ...(line === undefined ? [] : [`line ${String(line)}, column ${String(column)}`]),
    ...(near === undefined ? [] : [`near "${near}"`]),
  ].join(', ');
  return [
    `${reason}${place === '' ? '' : ` (${place})`}: ${message}`,
    ...(allowed === undefined ? [] : [`Allowed: ${allowed.join(', ')}`]),
    ...(hint === undefined ? [] : [hint]),
  ].join('\n');
}
