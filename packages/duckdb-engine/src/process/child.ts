/** A process of the embedded engine begins here. The service's process starts it, and it ends with that. */
import { writeFileSync } from 'node:fs';

import { removeFolder } from './workspace';
import type { Host } from './host';
import type { FromEngine, Opening, ToEngine } from './messages';

/** What Linux ends first when memory is short, rather than the service: from -1000 to 1000. */
const OOM_SCORE = '500';

/** What is cleared away where the service's process can no longer do it. */
let clearAway = (): void => undefined;

/** Not `process.exit`: that waits for queries which DuckDB does not interrupt. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // It is a help where it is possible.
  }
}

function send(message: FromEngine): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

// A terminal sends its signals to every process of a group: the service's decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => {
  attempt(clearAway);
  end();
});
process.title = 'logquay engine';
attempt(() => writeFileSync('/proc/self/oom_score_adj', OOM_SCORE));

// What the role needs is loaded before the message that says what to open: the service's process loads its own modules meanwhile.
const loaded = import('./load-serving.js').then(({ loadServing }) => loadServing(process.argv[2] as Opening['role']));
const host = Promise.all([import('./host.js'), loaded]).then(([{ Host: Opened }]): Host => {
  const opened = new Opened(send, end);
  const endAtOnce = (error: unknown): void => void opened.break(error);
  process.on('uncaughtException', endAtOnce);
  process.on('unhandledRejection', endAtOnce);
  return opened;
});
host.catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  void send({ kind: 'broken', failure: { type: 'other', message, stack: null } }).then(end);
});
process.on('message', (message: ToEngine) => {
  if (message.kind === 'open' && message.opening.role === 'data') {
    const { folders } = message.opening;
    clearAway = () => folders.forEach(removeFolder);
  }
  void host.then((opened) => opened.hear(message));
});
