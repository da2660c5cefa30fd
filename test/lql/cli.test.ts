import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** `npm test` has built it before. */
const ENTRY = join(__dirname, '../../dist/cli.js');

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function lql(args: readonly string[], input: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [ENTRY, 'lql', ...args]);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => undefined).end(input);
  });
}

interface Answer {
  readonly rules?: unknown;
  readonly sql?: string | null;
  readonly error?: { readonly code: string };
}

async function answers(args: readonly string[], input: string): Promise<readonly Answer[]> {
  const { code, stdout, stderr } = await lql(args, input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.endsWith('\n')).toBe(true);
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

const NOW = ['--now', '2024-03-17T13:47:02.123456Z'];

describe('the lql command', () => {
  test('a bad line is an error of its own and stops nothing', async () => {
    const input = ['"a"', '', '{"lql":"a"}', 'nonsense', '"', 'null', '""', '"\\ud800"', '"\u2028"', '"z"'].join('\n');
    const lines = await answers(['rules'], input);
    expect(lines.map((line) => line.error?.code ?? (line.rules === null ? 'blank' : 'rules'))).toEqual([
      'rules',
      ...['bad_line', 'bad_line', 'bad_line', 'bad_line', 'bad_line'],
      'blank',
      'bad_char',
      'rules',
      'rules',
    ]);
    expect(lines[6]).toEqual({ rules: null, sql: null });
  });

  test('prints rules and SQL, or the error with its place', async () => {
    const [rows, error] = await answers(['rules', '--tables=a,b', ...NOW], '"f:b t:last@2h m.x:7"\n"f:b\\nm.x:>NULL"');
    expect(rows).toMatchObject({
      rules: { from: 'b', chart: null },
      sql: expect.stringContaining('u1.`x` = 7') as string,
    });
    expect(error?.error).toMatchObject({ code: 'operator_on_null', line: 2, column: 6, near: 'NULL' });
  });

  test.each([[[]], [['rule']], [['rules', 'more']], [['rules', '--now', 'noon']], [['rules', '--nosuch']]])(
    'refuses the arguments %j',
    async (args) => {
      const { code, stdout, stderr } = await lql(args, '"x"\n');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/Usage|--now|--nosuch|unknown command|too many arguments/);
    },
  );
});
