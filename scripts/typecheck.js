/** Checks the types of every program here, by the compiler that is compiled itself: a third of the processor time of the one in JavaScript. */
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const COMPILER = path.join(ROOT, 'node_modules/typescript-native/bin/tsc');

/** Folders with a `tsconfig.json` of their own. */
const PROGRAMS = ['.', 'packages/explorer', 'test/browser', 'emulator'];

const statuses = PROGRAMS.map((program) => {
  const args = [COMPILER, '--noEmit', '--pretty', '-p', path.join(ROOT, program)];
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status;
});
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
