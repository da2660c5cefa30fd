import { readFileSync } from 'node:fs';
import path from 'node:path';

import { logquay } from './command-line';

const COMMANDS = [
  ['serve'],
  ['init'],
  ['check'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'revoke'],
  ['run'],
  ['test'],
  ['schema'],
  ['lql', 'rules'],
  ['setup-bigquery'],
  ['import-logflare'],
];

it.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
  '%s has help with an example',
  async (name, words) => {
    const { code, out, notes } = await logquay([...words, '--help']);
    expect([code, notes]).toEqual([0, []]);
    const text = out.join('\n');
    expect(text).toMatch(new RegExp(`^Usage: logquay ${name}`));
    expect(text).toMatch(new RegExp(`^  (?:.*\\| )?.*logquay ${name}`, 'm'));
    expect(text).toContain('Exit codes: 0 done; 1 failed; 2 usage error');
  },
);

it.each([[[]], [['keys']], [['lql']], [['sevre']], [['keys', 'remove']], [['run']], [['check', 'a', 'b']]])(
  '%j is no command line',
  async (args) => {
    const { code, out, notes } = await logquay(args);
    expect([code, out]).toEqual([2, []]);
    expect(notes).not.toEqual([]);
  },
);

it.each([
  ['--param without a value', ['run', 'logs.all', '--param', 'project'], /name=value/],
  ['an unknown format', ['run', 'logs.all', '--format', 'xml'], /json, ndjson, csv/],
  ['two languages at once', ['run', 'logs.all', '--sql', 'select 1', '--lql', 'x'], /cannot be used with/],
])('run refuses %s', async (_, args, message) => {
  const { code, out, notes } = await logquay(args);
  expect([code, out]).toEqual([2, []]);
  expect(notes.join('\n')).toMatch(message);
});

it('tells its version', async () => {
  const { version } = JSON.parse(readFileSync(path.join(__dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(await logquay(['--version'])).toEqual({ code: 0, out: [version], notes: [] });
});
