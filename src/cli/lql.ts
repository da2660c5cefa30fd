import { once } from 'node:events';

import { type Command, InvalidArgumentError, Option } from 'commander';

import { print } from '../log/visible';
import { readMoment } from '../lql/timestamp';
import type { Surroundings } from './surroundings';

const EXAMPLES = `
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
    .addHelpText('after', EXAMPLES)
    .action(async ({ tables, now }: RulesOptions) => {
      const { answerLine } = await import('../lql/answer-line.js');
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
