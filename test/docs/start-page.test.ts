import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Command } from 'commander';

import { logquay } from '../../src/cli/program';
import { EXIT } from '../../src/cli/surroundings';

const PAGE = readFileSync(path.join(__dirname, '../../docs/start.md'), 'utf8');

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
