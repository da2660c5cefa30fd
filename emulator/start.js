/** Starts the local BigQuery; `src/main.ts` has the options. Its TypeScript runs as it stands. */
try {
  require('tsx/cjs/api').register();
} catch {
  process.stderr.write('The local BigQuery is not installed: npm ci --prefix emulator\n');
  process.exit(1);
}
require('./src/main');
