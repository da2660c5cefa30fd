import { Command, CommanderError } from 'commander';

import { VERSION } from '../version';
import {
  addCheck,
  addEmulator,
  addImportLogflare,
  addLql,
  addMcp,
  addSchema,
  addServe,
  addSetupBigQuery,
  addTest,
} from './commands';
import { addKeys, addToken } from './keys';
import { addInit } from './init';
import { addRun } from './run';
import { Ending, EXIT, type Surroundings } from './surroundings';

const HELP_FOOTER = `
Exit codes: 0 done; 1 failed; 2 usage error; 130 cancelled with Ctrl-C.
Results go to the standard output, everything else to the standard error.
Settings are environment variables or lines of .env in the working directory (.env.example).`;

/** The command line `logquay`. Each command loads what it needs when it is called: `serve` pays for no other. */
export function logquay(surroundings: Surroundings): Command {
  const program = new Command('logquay')
    .description('Saved SQL over logs as authenticated HTTP read endpoints.')
    .version(VERSION, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        surroundings.out(text.replace(/\n$/, ''));
      },
      writeErr: (text) => {
        surroundings.note(text.replace(/\n$/, ''));
      },
    })
    .enablePositionalOptions()
    .showHelpAfterError('(--help tells what there is)')
    .addHelpText('afterAll', HELP_FOOTER);
  addServe(program, surroundings);
  addInit(program, surroundings);
  addCheck(program, surroundings);
  addKeys(program, surroundings);
  addToken(program, surroundings);
  addRun(program, surroundings);
  addTest(program, surroundings);
  addMcp(program, surroundings);
  addSchema(program, surroundings);
  addLql(program, surroundings);
  addImportLogflare(program, surroundings);
  addSetupBigQuery(program, surroundings);
  addEmulator(program, surroundings);
  return program;
}

/**
 * Carries out a command line, without the program's own name. Gives the exit code; never rejects: what went wrong has
 * been said by then.
 */
export async function runLogquay(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    await logquay(surroundings).parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof Ending) return error.code;
    // Commander has said what is wrong; it throws for --help and --version too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    surroundings.note(error instanceof Error ? error.message : String(error));
    if (surroundings.environment['LOG_LEVEL'] === 'debug' && error instanceof Error)
      surroundings.note(error.stack ?? '');
    return EXIT.failure;
  }
}
