import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { Command } from 'commander';

import { Ending, EXIT, type Surroundings } from './surroundings';

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
