import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { Stage } from './started';

jest.setTimeout(180_000);

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

it("the README's requests give rows", async () => {
  const stage = new Stage();
  try {
    const service = stage.start({ DATA_DIR: '' });
    const base = await service.ready();
    const requests = COMMANDS.filter((command) => command.startsWith('curl'));
    expect(requests).toHaveLength(2);
    const answers: string[] = [];
    for (const command of requests) {
      const here = command.replaceAll('http://127.0.0.1:4000', base);
      const { stdout } = await promisify(execFile)('sh', ['-c', `${here} -s --fail`], { cwd: service.folder });
      answers.push(stdout);
    }
    const { result } = JSON.parse(answers[0] ?? '') as { result: object[] };
    expect(result.length).toBeGreaterThan(0);
    const [header, ...rows] = (answers[1] ?? '').trim().split('\r\n');
    expect(header).toBe(
      'timestamp,total_rest_requests,total_storage_requests,total_auth_requests,total_realtime_requests',
    );
    expect(rows.length).toBeGreaterThan(30);
  } finally {
    await stage.end();
  }
});
