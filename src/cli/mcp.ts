import type { Command } from 'commander';

import { type Surroundings, untilCancelled } from './surroundings';

const EXAMPLES = `
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
    .addHelpText('after', EXAMPLES)
    .action(async () => {
      const { serveMcp } = await import('./serve-mcp.js');
      await untilCancelled((signal) => serveMcp(environment, signal));
    });
}
