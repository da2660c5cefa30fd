/** Builds dist/ for `npm pack`: one ES module for each face, with types. The service does without (scripts/build.js). */
const { execFileSync } = require('node:child_process');
const { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');

const DIST = path.join(__dirname, 'dist');
const FACE = path.join(__dirname, 'src/face');

rmSync(DIST, { recursive: true, force: true });
createRequire(__filename)('esbuild').buildSync({
  absWorkingDir: __dirname,
  entryPoints: readdirSync(FACE).map((name) => path.join(FACE, name)),
  outdir: DIST,
  bundle: true,
  // What several faces need is in files of its own, so that a QueryError of one is that of another.
  splitting: true,
  packages: 'external',
  format: 'esm',
  target: 'es2022',
});
const compiler = require.resolve('typescript-native/package.json');
execFileSync(
  process.execPath,
  [path.join(path.dirname(compiler), 'bin/tsc'), '-p', path.join(__dirname, 'tsconfig.types.json')],
  { stdio: ['ignore', 2, 2] },
);
// Declarations of ES modules name files, sources do without their endings.
for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = path.join(DIST, name);
  const text = readFileSync(file, 'utf8').replace(/(from|import\()( ?)'(\.[^']+)'/g, (_, word, space, target) => {
    const folder = path.join(path.dirname(file), target);
    const isFolder = !readdirSync(path.dirname(folder)).includes(`${path.basename(folder)}.d.ts`);
    return `${word}${space}'${target}${isFolder ? '/index' : ''}.js'`;
  });
  writeFileSync(file, text);
}
copyFileSync(path.join(__dirname, '../../LICENSE'), path.join(DIST, 'LICENSE'));
writeFileSync(path.join(DIST, 'package.json'), '{ "type": "module" }\n');
