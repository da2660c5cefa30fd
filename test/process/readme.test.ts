import { readFileSync } from 'node:fs';
import path from 'node:path';

const README = readFileSync(path.join(__dirname, '../../README.md'), 'utf8');
const COMMANDS = [...README.matchAll(/```sh\n([^]*?)```/g)].map(([, text]) => (text ?? '').trim());

it('the README begins with starting and testing', () => {
  expect(COMMANDS.filter((command) => command.startsWith('npm'))).toEqual([
    'npm ci && npm start',
    'npm ci && npm test',
  ]);
});

it('the README names scripts and files that there are', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(__dirname, '../../package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, script] of README.matchAll(/npm run ([a-z]+)/g)) expect(Object.keys(scripts)).toContain(script);
  for (const [, file] of README.matchAll(/\]\(([^)]+)\)/g)) {
    expect(readFileSync(path.join(__dirname, '../..', file ?? ''), 'utf8')).not.toBe('');
  }
});
