/** Starts the generator of main.ts. It needs the judge, which brings along what runs TypeScript as it stands. */
try {
  module.require('../../../emulator/node_modules/tsx/dist/cjs/api/index.cjs').register();
} catch {
  process.stderr.write('The judge of the sandbox is not installed: npm ci --prefix emulator\n');
  process.exit(1);
}
module.require('./main');
