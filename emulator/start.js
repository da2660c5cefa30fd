/** Starts the local BigQuery; `src/main.ts` has the options. Its TypeScript runs as it stands. */
try {
  module.require('tsx/cjs/api').register();
} catch {
  process.stderr.write('The local BigQuery is not installed: npm ci --prefix emulator\n');
  process.exit(1);
}
module.require('./src/main');
