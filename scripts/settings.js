/** Writes `.env.example` from the table of settings in src/config.ts: `node scripts/settings.js` after a build. */
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

if (require.main === module) {
  // By a path of its own: the types of built code are not checked.
  const { SETTINGS_BY_PART } = require(path.join(__dirname, '../dist/config.js'));
  writeFileSync(path.join(__dirname, '../.env.example'), exports.example(SETTINGS_BY_PART));
}
