import { type Command, Option, InvalidArgumentError } from 'commander';
import { type Surroundings, Ending, EXIT, untilCancelled, repeatable } from './surroundings';
import type { CheckEngine } from './check-against';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ImportRequest } from './logflare-import';
import { print } from '../log/visible';
import { readMoment } from '@logquay/googlesql/lql';
import type { SetupRequest } from '../engines/bigquery/setup';

const SERVE_HELP = `
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
    .addHelpText('after', SERVE_HELP)
    .action(async () => {
      const { serve } = await import('../main.js');
      await serve();
    });
}

const CHECK_HELP = `
Every stored query is resolved against the tables of the engine: of the embedded one those of DATA_DIR, or of the sample logs.
With --engine bigquery BigQuery itself resolves it in a dry run, which is free; what a run would read is printed. Where the
settings choose BigQuery and --engine is not given, settings and syntax alone are checked. Entries of the keys file that do not
count are faults, too; settings that have no effect, such as those of an earlier version, are named.

Examples:
  logquay check
  logquay check /etc/logquay/queries
  logquay check --engine bigquery`;

/** `logquay check`. */
export function addCheck(program: Command, { environment, out, note }: Surroundings): void {
  program
    .command('check')
    .summary('validate the stored queries')
    .description(
      'Reads every stored query of a folder and names each fault with its file, line and column. Fails on a fault, or without any file.',
    )
    .argument('[directory]', 'the folder (default: QUERIES_DIR, else queries)')
    .addOption(new Option('--engine <engine>', 'whose tables to resolve against').choices(['duckdb', 'bigquery']))
    .addHelpText('after', CHECK_HELP)
    .action(async (directory: string | undefined, { engine }: { engine?: CheckEngine }) => {
      const { checkAgainst } = await import('./check-against.js');
      const folder = directory ?? (environment['QUERIES_DIR'] || 'queries');
      if (!(await checkAgainst(folder, engine ?? null, environment, { out, note }))) throw new Ending(EXIT.failure);
    });
}

/** A development tool of a checkout, with dependencies of its own: no installation of the service brings it. */
const FOLDER = path.join(__dirname, '../../emulator');

/** `logquay emulator`: hands everything to the local BigQuery, whose own `--help` tells the options. */
export function addEmulator(program: Command, { note }: Surroundings): void {
  program
    .command('emulator')
    .summary('start a local BigQuery, or load one (emulator --help, emulator load --help)')
    .argument('[arguments...]')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (given: readonly string[]) => {
      const load = given[0] === 'load';
      const script = path.join(FOLDER, load ? 'load.js' : 'start.js');
      if (!existsSync(script)) {
        note('The local BigQuery comes with a checkout of the repository (emulator/), not with this installation.');
        throw new Ending(EXIT.failure);
      }
      const code = await runScript(script, load ? given.slice(1) : given);
      if (code !== 0) throw new Ending(code);
    });
}

/** Gives the exit code of a script; it gets the signals that this process gets. */
async function runScript(script: string, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit' });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  // A terminal sends Ctrl-C to both; here it must not end the one that waits.
  const stay = (): void => undefined;
  process.on('SIGTERM', forward).on('SIGINT', stay);
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGTERM', forward).off('SIGINT', stay);
  return code ?? EXIT.failure;
}

const IMPORT_LOGFLARE_HELP = `
Examples:
  logquay import-logflare --url https://api.logflare.app --token "$TOKEN" --out queries`;

/** `logquay import-logflare` (docs/supabase.md). */
export function addImportLogflare(program: Command, { out, note }: Surroundings): void {
  program
    .command('import-logflare')
    .summary('write the endpoints of a Logflare as stored queries')
    .description(
      'Reads endpoints and sources over the management API of a Logflare, and writes one file for each endpoint and a map of ' +
        'tables. Says of each what does not carry over; overwrites nothing.',
    )
    .requiredOption('--url <url>', 'where Logflare is reached')
    .requiredOption('--token <token>', 'an access token for its management API')
    .option('--out <directory>', 'the folder that takes the files', 'queries')
    .addHelpText('after', IMPORT_LOGFLARE_HELP)
    .action(async (request: ImportRequest) => {
      const { importLogflare } = await import('./logflare-import.js');
      await importLogflare(request, { print: out, note });
    });
}

const LQL_HELP = `
Each line of the standard input is one JSON string with an LQL text. Each gives one line of JSON: {"rules", "sql"}, both
null for a blank text, or {"error"}; a line with an error stops nothing.

Examples:
  echo '"f:edge_logs timeout t:last@2h"' | logquay lql rules
  logquay lql rules --tables edge_logs,auth_logs --now 2026-09-30T12:00:00Z < texts.jsonl`;

interface RulesOptions {
  readonly tables: string;
  readonly now: bigint | undefined;
}

/** `logquay lql rules` (docs/lql.md). */
export function addLql(program: Command, surroundings: Surroundings): void {
  program
    .command('lql')
    .description('Reads LQL without running it.')
    .command('rules')
    .summary('print what LQL texts say, as rules and as SQL')
    .description('Prints what LQL texts say, as rules and as SQL.')
    .option('--tables <names>', 'the tables there are, with commas between', 'edge_logs')
    .addOption(
      new Option('--now <instant>', 'what relative times start from (default: the present)').argParser(readNow),
    )
    .addHelpText('after', LQL_HELP)
    .action(async ({ tables, now }: RulesOptions) => {
      const { answerLine } = await import('./lql-answer.js');
      const names = tables.split(',').filter((name) => name !== '');
      const context = {
        tables: names,
        now: now ?? BigInt(surroundings.now()) * 1000n,
      };
      process.stdin.setEncoding('utf8');
      for await (const line of linesOf(process.stdin)) {
        if (!print(process.stdout, `${answerLine(line, context)}\n`)) await once(process.stdout, 'drain');
      }
    });
}

function readNow(written: string): bigint {
  const moment = readMoment(written);
  if (moment === null || 'fault' in moment) throw new InvalidArgumentError('It is no date or instant.');
  return moment.micros;
}

/** Lines end at LF alone: JSON strings may hold U+2028, which node:readline takes for a line end. */
async function* linesOf(input: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

const MCP_HELP = `
Examples:
  logquay mcp
  DATA_DIR=logs logquay mcp

A client starts this and speaks to it by the standard input and output; it ends with its input. It may do what whoever
starts it may do: its data are those of the settings. Over HTTP, with keys, it is POST /mcp of the service.`;

/** `logquay mcp`. */
export function addMcp(program: Command, { environment }: Surroundings): void {
  program
    .command('mcp')
    .summary('speak the Model Context Protocol on stdin and stdout')
    .description(
      'Serves the stored queries to an assistant by the Model Context Protocol, on the standard input and output.',
    )
    .addHelpText('after', MCP_HELP)
    .action(async () => {
      const { serveMcp } = await import('./serve-mcp.js');
      await untilCancelled((signal) => serveMcp(environment, signal));
    });
}

const SCHEMA_HELP = `
Examples:
  logquay schema > .vscode/logquay-settings.json
  logquay schema --tests > .vscode/logquay-tests.json`;

/** `logquay schema`. */
export function addSchema(program: Command, { out }: Surroundings): void {
  program
    .command('schema')
    .summary("print the JSON Schema of stored queries' settings, for editors")
    .description('Prints the JSON Schema (draft 7) of the settings that head a stored query.')
    .option('--tests', 'of files of tests, NAME.test.yaml, instead')
    .addHelpText('after', SCHEMA_HELP)
    .action(async ({ tests = false }: { tests?: boolean }) => {
      const { settingsJsonSchema } = await import('../endpoints/settings-json-schema.js');
      if (!tests) {
        out(JSON.stringify(settingsJsonSchema(), null, 2));
        return;
      }
      const { testFileJsonSchema } = await import('./endpoint-tests/test-file.js');
      out(JSON.stringify(testFileJsonSchema(), null, 2));
    });
}

const SETUP_BIGQUERY_HELP = `
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
    .addHelpText('after', SETUP_BIGQUERY_HELP)
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

const TEST_HELP = `
Examples:
  logquay test
  logquay test queries/logs.all.sql --engine bigquery
  logquay test --update
  logquay test --format junit > results.xml`;

interface GivenOptions {
  readonly engine: 'duckdb' | 'bigquery';
  readonly format: 'text' | 'tap' | 'junit';
  readonly update?: boolean;
}

/** `logquay test` (docs/endpoints.md). */
export function addTest(program: Command, { environment, out, note }: Surroundings): void {
  program
    .command('test')
    .summary('run the tests of stored queries')
    .description(
      'Runs the tests beside stored queries: NAME.test.yaml beside NAME.sql, each with rows, requests and what has to come. ' +
        'Fails if one fails, and without any.',
    )
    .argument('[paths...]', 'folders, stored queries or files of tests (default: QUERIES_DIR, else queries)')
    .addOption(
      new Option('--engine <name>', 'bigquery: on a local BigQuery that is started for it')
        .choices(['duckdb', 'bigquery'])
        .default('duckdb'),
    )
    .addOption(new Option('--format <form>', 'of the report').choices(['text', 'tap', 'junit']).default('text'))
    .option('--update', 'write what came into the files as what has to come')
    .addHelpText('after', TEST_HELP)
    .action(async (paths: readonly string[], { engine, format, update = false }: GivenOptions) => {
      const { findTestFiles, testEndpoint } = await import('./endpoint-tests/test-endpoints.js');
      const { textOfFile, textOfTotal } = await import('./endpoint-tests/reports.js');
      const { countsOf } = await import('./endpoint-tests/reports.js');
      const places = paths.length > 0 ? paths : [environment['QUERIES_DIR'] || 'queries'];
      const found = await findTestFiles(places);
      if (found.length === 0) {
        note(`${places.join(', ')}: no files of tests (NAME.test.yaml)`);
        throw new Ending(EXIT.failure);
      }
      const report = await untilCancelled(async (signal) => {
        const files = [];
        for (const file of found) {
          const result = await testEndpoint(file, { engine, update, signal });
          if (format === 'text') textOfFile(result).forEach(out);
          files.push(result);
        }
        return { engine, files };
      });
      if (format === 'tap') (await import('./endpoint-tests/reports.js')).tapOf(report).forEach(out);
      else if (format === 'junit') (await import('./endpoint-tests/reports.js')).junitOf(report).forEach(out);
      else out(textOfTotal(report));
      if (countsOf(report).failed > 0) throw new Ending(EXIT.failure);
    });
}
