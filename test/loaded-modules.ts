/** Which modules a process of the build has loaded: sources, and packages in the build's files or beside them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '..');

/**
 * Lets a process write at its end which modules it has loaded.
 *
 * @param folder takes two files
 * @returns `NODE_OPTIONS` for it, and what reads the modules once it has ended: `src/cli/program.ts`, `node_modules/express/index.js`
 */
export function listingModules(folder: string): { readonly options: string; readonly loaded: () => readonly string[] } {
  const [script, list] = [path.join(folder, 'list-modules.js'), path.join(folder, 'modules')];
  // CommonJS modules are all in the cache, whichever way the process ends.
  writeFileSync(
    script,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, Object.keys(require.cache).join('\\n')));`,
  );
  return {
    options: `--require ${script}`,
    loaded: () => readFileSync(list, 'utf8').split('\n').flatMap(modulesOf),
  };
}

/** A file of the build has been made of those that its source map names. */
function modulesOf(file: string): readonly string[] {
  const map = `${file}.map`;
  const modules = !existsSync(map)
    ? [file]
    : (JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] }).sources.map((source) =>
        path.resolve(path.dirname(file), source),
      );
  return modules.map((module) => path.relative(ROOT, module).split(path.sep).join('/'));
}

/** The package of a module; null: it is a source. */
export function packageOf(module: string): string | null {
  return /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? null;
}
