// @ts-check
/**
 * A process that speaks as an engine's does, and does what the SQL of a query says:
 *   answer           gives its own process id
 *   hang             goes on for ever, and does not mind being cancelled
 *   wait             goes on until it is cancelled
 *   spin             keeps its event loop to itself
 *   fill             takes all the memory that it can get
 *   grow             takes 64 MiB, and gives its process id
 *   die              ends the process
 *   die FILE         ends the process, unless the file is there; makes the file
 */
const { existsSync, writeFileSync } = require('node:fs');

/** @type {Set<Buffer>} */
const taken = new Set();
/** @type {Map<number, () => void>} */
const cancels = new Map();

/** @param {object} message */
const send = (message) => {
  process.send?.(message);
};

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (/** @type {any} */ message) => {
  const { kind, id } = message;
  if (kind === 'open') {
    // Why its data does not open; empty: it ends without a word.
    const { folders: [fault] = [] } = message.opening;
    const broken = { kind: 'broken', failure: { type: 'data', message: fault } };
    send({ kind: 'opened', target: 'scripted', contents: { tables: [] } });
    if (fault === undefined) send({ kind: 'readable' });
    else if (fault === '') setImmediate(() => process.exit(1));
    else process.send?.(broken, undefined, undefined, () => process.exit(1));
  }
  if (kind === 'beat') send({ kind: 'beat', resident: process.memoryUsage.rss() });
  if (kind === 'cancel') cancels.get(id)?.();
  if (kind === 'close') process.exit(0);
  if (kind !== 'call') return;
  const [word, file = ''] = (message.request.query?.sql ?? message.request.statement ?? 'answer').split(' ');
  switch (word) {
    case 'grow':
    case 'answer':
      if (word === 'grow') taken.add(Buffer.alloc(64 * 1024 * 1024, 1));
      send({ kind: 'rows', id, lines: Buffer.from(`{"pid":${process.pid}}\n`), count: 1 });
      send({ kind: 'answer', id, answer: { columns: [], truncated: false }, written: null });
      break;
    case 'wait':
      cancels.set(id, () => send({ kind: 'failure', id, failure: { type: 'abort', message: 'cancelled' } }));
      break;
    case 'spin':
      for (;;);
    case 'fill':
      setInterval(() => taken.add(Buffer.alloc(16 * 1024 * 1024, 1)), 1);
      break;
    case 'die':
      if (file !== '' && existsSync(file))
        send({ kind: 'answer', id, answer: { columns: [], truncated: false }, written: null });
      else {
        if (file !== '' && file.length < 300) writeFileSync(file, '');
        process.kill(process.pid, 'SIGKILL');
      }
  }
});
