/**
 * The size of the code, in leaf nodes of TypeScript's tree: comments, blank lines and layout do not count.
 * `npm run count` counts src/ and packages/, and test/ for itself.
 */
const { existsSync, readFileSync, readdirSync } = require('node:fs');
const path = require('node:path');
const ts = require('typescript');

const ROOT = path.join(__dirname, '..');

/** Leaf nodes below a node. @param {import('typescript').Node} node @returns {number} */
function leaves(node) {
  let children = 0;
  let count = 0;
  ts.forEachChild(node, (child) => {
    children++;
    count += leaves(child);
  });
  return children === 0 ? 1 : count;
}

/** @param {(file: string) => boolean} counts whether a file, by its path from the root, is one of these @param {string[]} folders */
function size(counts, folders) {
  const files = folders
    .filter((folder) => existsSync(path.join(ROOT, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        path.join(folder, name),
      ),
    )
    .filter((name) => /\.tsx?$/.test(name) && !/node_modules|\.joined|[/\\]dist[/\\]/.test(name) && counts(name));
  const texts = files.map((name) => /** @type {const} */ ([name, readFileSync(path.join(ROOT, name), 'utf8')]));
  return {
    files: files.length,
    lines: texts.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0),
    leaves: texts.reduce(
      (sum, [name, text]) => sum + leaves(ts.createSourceFile(name, text, ts.ScriptTarget.Latest)),
      0,
    ),
  };
}

const isTest = (/** @type {string} */ name) => name.includes('.test.') || /(?:^|[/\\])test[/\\]/.test(name);
const rows = {
  'src and packages': size((name) => !isTest(name), ['src', 'packages']),
  'src alone': size((name) => !isTest(name), ['src']),
  tests: size(isTest, ['test', 'packages']),
};
for (const [name, { files, lines, leaves: count }] of Object.entries(rows))
  process.stdout.write(`${name}: ${count} leaf nodes, ${lines} lines, ${files} files\n`);
