#!/usr/bin/env node
/** The entry point `logquay`. */
import { runLogquay } from './cli/program';
import { EXIT } from './cli/surroundings';
import { print } from './log/visible';
import { loadSettingsFile } from './settings-file';

// Before the first thing that uses libuv's pool, which is the first command that is loaded.
process.env.UV_THREADPOOL_SIZE ??= '12';
try {
  loadSettingsFile();
} catch (error) {
  print(process.stderr, `${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(EXIT.failure);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe may leave before the end, as `head` does.
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure);
});
process.stderr.on('error', () => undefined);

void runLogquay(process.argv.slice(2), {
  environment: process.env,
  out: (line) => void print(process.stdout, `${line}\n`),
  note: (line) => void print(process.stderr, `${line}\n`),
  now: Date.now,
}).then((code) => {
  // Not process.exit: what was written to a pipe has to arrive.
  process.exitCode = code;
});
