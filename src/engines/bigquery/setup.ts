import { existsSync } from 'node:fs';
import { runSetup, SetupError, USAGE } from './setup/command';

/** `npm run setup:bigquery`: exit code 0, 1 for a command that failed. */
if (existsSync('.env')) process.loadEnvFile('.env');
const args = process.argv.slice(2);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
if (args.includes('--help')) print(USAGE);
else {
  runSetup(args, process.env, print).catch((error: unknown) => {
    process.stderr.write(`${error instanceof SetupError ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
