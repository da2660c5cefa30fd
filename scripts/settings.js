/** Writes `.env.example` and `docs/settings.md` from the table of settings in src/config.ts: `node scripts/settings.js` after a build. */
const { writeFileSync } = require('node:fs');
const path = require('node:path');

const INTRODUCTION = [
  'Every setting of Logquay, with its default. Copy this file to `.env` beside the process, or set the variables in its',
  'environment, which wins over the file. An empty value counts as unset.',
];
const WIDTH = 120;

/** @param {string} text @returns {string[]} lines of a comment */
function comment(text) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 3 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => `# ${line}`);
}

/** @param {Record<string, Record<string, { default: string, about: string }>>} parts @returns {string} the file */
exports.example = (parts) => {
  const settings = Object.entries(parts).flatMap(([part, all]) => [
    '',
    `# --- ${part} `.padEnd(WIDTH, '-'),
    ...Object.entries(all).flatMap(([name, { default: given, about }]) => [
      ...(about === '' ? [] : comment(about)),
      `${name}=${given}`,
    ]),
  ]);
  return [...INTRODUCTION.map((line) => `# ${line}`), ...settings, ''].join('\n');
};

const PAGE = [
  '# Settings',
  '',
  'After reading this page you can configure Logquay. Settings are environment variables, or lines of a file `.env` in the',
  'working directory. The environment wins over the file. An empty value counts as unset.',
  '',
  '```',
  'PORT=8080 DATA_DIR=logs bin/logquay serve',
  '```',
  '',
  'A bad value ends the start with exit code 1 and one line for each fault. Settings are read at the start alone.',
  '[.env.example](../.env.example) has the same list. Both are made of `src/config.ts`.',
];

/** @param {string[][]} rows @returns {string[]} lines of a table whose columns are as wide as their widest cell */
function table(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (/** @type {string[]} */ row) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)];
}

/** @param {string} text @returns {string} with links to the pages that it names */
const linked = (text) => text.replace(/\bdocs\/([\w-]+\.md)/g, '[$1]($1)').replace(/\*/g, '`*`');

/** @param {Record<string, Record<string, { default: string, about: string }>>} parts @returns {string} the page */
exports.page = (parts) => {
  const sections = Object.entries(parts).flatMap(([part, all]) => [
    '',
    `## ${part.replace(/ \(docs\/.*\)/, '')}`,
    '',
    ...table([
      ['setting', 'default', 'meaning'],
      ...Object.entries(all).map(([name, { default: given, about }]) => [
        `\`${name}\``,
        given === '' ? 'unset' : `\`${given}\``,
        linked(about),
      ]),
    ]),
  ]);
  return [...PAGE, ...sections, ''].join('\n');
};

if (require.main === module) {
  // By a path of its own: the types of built code are not checked.
  const { SETTINGS_BY_PART } = require(path.join(__dirname, '../dist/config.js'));
  writeFileSync(path.join(__dirname, '../.env.example'), exports.example(SETTINGS_BY_PART));
  writeFileSync(path.join(__dirname, '../docs/settings.md'), exports.page(SETTINGS_BY_PART));
}
