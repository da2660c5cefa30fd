/** A process that writes one export as Parquet: rows as lines of JSON come in, bytes go out. */
import { writeFileSync, writeSync } from 'node:fs';

import { type Opening, Outgoing, TOO_LARGE } from './opening';
import { FileTooLarge, writeParquet } from './parquet';
import { Incoming } from './incoming';

/** What Linux ends first when memory is short, rather than the service: from -1000 to 1000. */
const OOM_SCORE = '500';

async function encode(): Promise<void> {
  const incoming = new Incoming(0);
  const outgoing = new Outgoing(1);
  const opening = JSON.parse(incoming.first()) as Opening;
  await writeParquet(opening, incoming, outgoing);
}

/** DuckDB's messages may have values of rows behind the colon; the log must not. */
function kindOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(':', 1)[0] ?? '';
}

// A terminal sends its signals to every process of a group: this one ends with its rows, or when nobody takes what it writes.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.title = 'logquay export';
try {
  writeFileSync('/proc/self/oom_score_adj', OOM_SCORE);
} catch {
  // It is a help where it is possible.
}
encode().then(
  () => process.exit(0),
  (error: unknown) => {
    try {
      writeSync(2, kindOf(error));
    } finally {
      process.exit(error instanceof FileTooLarge ? TOO_LARGE : 1);
    }
  },
);
