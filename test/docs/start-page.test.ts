import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Command } from 'commander';

import { logquay } from '../../src/cli/program';
import { EXIT } from '../../src/cli/surroundings';

const ROOT = path.join(__dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/start.md'), 'utf8');

const program = logquay({ environment: {}, out: () => undefined, note: () => undefined, now: Date.now });

/** Commands that do something: `keys create`, not `keys`. */
function namesOf(command: Command, before = ''): string[] {
  const name = `${before}${command.name()}`;
  const inner = command.commands.filter((one) => one.name() !== 'help');
  return inner.length === 0 ? [name] : inner.flatMap((one) => namesOf(one, `${name} `));
}

it('docs/start.md lists every command', () => {
  const listed = [...PAGE.matchAll(/^\| `([a-z -]+)` +\|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(
    program.commands
      .filter((one) => one.name() !== 'help')
      .flatMap((one) => namesOf(one))
      .sort(),
  );
});

it('docs/start.md lists every exit code', () => {
  const listed = [...PAGE.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
  expect(listed).toEqual(Object.values(EXIT));
});

it("docs/start.md shows run's own examples", () => {
  const help: string[] = [];
  const run = program.commands.find((one) => one.name() === 'run');
  run?.configureOutput({ writeOut: (text) => help.push(text) }).outputHelp();
  const examples = [...PAGE.matchAll(/^logquay run .*$/gm)].map(([line]) => line);
  expect(examples.length).toBeGreaterThan(3);
  for (const example of examples) expect(help.join('')).toContain(`  ${example}\n`);
});

/** The history. */
const UNCHECKED = ['CHANGELOG.md'];
const PAGES = [
  ...readdirSync(ROOT),
  ...['docs', 'docs/deploy'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((file) => /\.(?:md|yaml|service)$/.test(file) && !UNCHECKED.includes(file));

/** The options of every command line of a page, with the command that has to know them. */
function optionsOn(page: string): { readonly line: string; readonly command: Command; readonly option: string }[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8').replace(/\\\n\s*/g, ' ');
  const lines = text.matchAll(
    /(?:\blogquay|npm run (?:--silent |-s )?(?:keys|check|logquay) --|dist\/cli\.js) ([a-z][^\n`|;&]*)/g,
  );
  return [...lines].flatMap(([line, rest = '']) => {
    const script = /npm run \S*\s?(keys|check) --/.exec(line)?.[1];
    const words = [...(script === undefined ? [] : [script]), ...rest.split(/\s+/)];
    let command = program;
    for (const word of words) {
      const inner = command.commands.find((one) => one.name() === word);
      if (inner === undefined) break;
      command = inner;
    }
    if (command === program) return [];
    return words
      .filter((word) => word.startsWith('--'))
      .map((word) => ({ line, command, option: word.replace(/=.*/, '') }));
  });
}

it('command lines on all pages have options that there are', () => {
  const found = PAGES.flatMap(optionsOn);
  expect(found.length).toBeGreaterThan(40);
  const unknown = found.filter(({ command, option }) => !command.options.some(({ long }) => long === option.trim()));
  expect(unknown.map(({ line }) => line)).toEqual([]);
});
