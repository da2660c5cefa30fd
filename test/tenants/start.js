/** Starts main.ts. It needs the local BigQuery's dependencies, which bring along what runs TypeScript as it stands. */
try {
  module.require('../../emulator/node_modules/tsx/dist/cjs/api/index.cjs').register();
} catch {
  process.stderr.write('The local BigQuery is not installed: npm ci --prefix emulator\n');
  process.exit(1);
}
module.require('./main');
