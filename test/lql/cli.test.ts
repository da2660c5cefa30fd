import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { CASES, tablesOf } from './case-file';

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
  test('answers every case of one table set in one run, line by line', async () => {
    for (const tables of new Set(CASES.map((c) => tablesOf(c).join(',')))) {
      const cases = CASES.filter((c) => tablesOf(c).join(',') === tables && c.now === undefined);
      const lines = await answers(
        ['rules', '--tables', tables, ...NOW],
        cases.map((c) => `${JSON.stringify(c.lql)}\n`).join(''),
      );
      const outcome = (answer: Answer | undefined) =>
        answer?.error?.code ?? (answer?.rules === null ? 'blank' : 'rules');
      expect(cases.map((c, i) => [c.id, outcome(lines[i])])).toEqual(
        cases.map((c) => [c.id, c.error?.code ?? (c.rules === null ? 'blank' : 'rules')]),
      );
    }
  });

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
    const [rows, error] = await answers(
      ['rules', '--tables=a,b', ...NOW],
      '"f:b t:last@2h m.x:9007199254740993"\n"f:b\\nm.x:>NULL"',
    );
    expect(rows).toEqual({
      rules: {
        from: 'b',
        select: [],
        filters: [
          {
            path: 'timestamp',
            operator: 'range',
            values: ['2024-03-17T11:00:00Z', '2024-03-17T13:47:02Z'],
            modifiers: { origin: 'absolute' },
            shorthand: 'last@2hour',
          },
          { path: 'metadata.x', operator: '=', value: { int64: '9007199254740993' }, modifiers: {} },
        ],
        chart: null,
      },
      sql: expect.stringContaining('u1.`x` = 9007199254740993') as string,
    });
    expect(error?.error).toMatchObject({ code: 'operator_on_null', line: 2, column: 6, near: 'NULL' });
  });

  test('no table at all, and the real clock', async () => {
    expect((await answers(['rules', '--tables', ''], '"x"'))[0]?.error?.code).toBe('no_tables');
    const before = Math.floor(Date.now() / 1000);
    const [now] = await answers(['rules'], '"t:now"');
    const { filters } = now?.rules as { filters: readonly { value: string }[] };
    const outcome = Date.parse(filters[0]?.value ?? '') / 1000;
    expect(outcome).toBeGreaterThanOrEqual(before);
    expect(outcome).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
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
