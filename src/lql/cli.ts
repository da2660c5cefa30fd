/** The `lql` command: `lql rules [--tables a,b] [--now T]`, one LQL text per line of standard input (docs/lql.md). */
import { parseArgs } from 'node:util';
import { answerLine } from './answer-line';
import { readMoment } from './moment';
import type { TranslateContext } from './translate';

const USAGE = 'usage: lql rules [--tables a,b] [--now 2024-03-17T13:47:02Z] < texts, one JSON string per line';

function readArguments(): TranslateContext {
  const { values, positionals } = parseArgs({
    options: { tables: { type: 'string', default: 'edge_logs' }, now: { type: 'string' } },
    allowPositionals: true,
  });
  if (positionals.length !== 1 || positionals[0] !== 'rules') throw new Error(USAGE);
  const tables = values.tables.split(',').filter((name) => name !== '');
  return { tables: tables.map((name) => ({ name, columns: null })), now: readClock(values.now) };
}

function readClock(written: string | undefined): bigint {
  if (written === undefined) return BigInt(Date.now()) * 1000n;
  const moment = readMoment(written);
  if (moment === null || 'fault' in moment) throw new Error(`--now: not a date or datetime: ${written}`);
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

async function main(): Promise<void> {
  const context = readArguments();
  process.stdin.setEncoding('utf8');
  for await (const line of linesOf(process.stdin)) {
    if (!process.stdout.write(`${answerLine(line, context)}\n`)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe may leave before the end, as `head` does.
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
});
