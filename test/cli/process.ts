import { spawn } from 'node:child_process';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `logquay` as a process over the fixture's tables, at a fixed instant; `npm test` has built it before. */
export function start(
  args: readonly string[],
  {
    environment = {},
    input = '',
    cwd = ROOT,
    under = (command) => command,
  }: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly input?: string;
    readonly cwd?: string;
    /** The command as another one runs it. */
    readonly under?: (command: readonly string[]) => readonly string[];
  } = {},
) {
  const env = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: path.join(ROOT, 'test/fixture'),
    QUERIES_DIR: path.join(ROOT, 'queries'),
    CLOCK: '2026-09-30T12:00:00Z',
    ...environment,
  };
  const [command = '', ...rest] = under([process.execPath, path.join(ROOT, 'dist/cli.js'), ...args]);
  const child = spawn(command, rest, { env, cwd });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
  return { child, ended };
}

export function end(...given: Parameters<typeof start>): Promise<Outcome> {
  return start(...given).ended;
}

/** On a terminal of its own, by util-linux: both outputs come as one. */
export function onTerminal(command: readonly string[]): readonly string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  return ['script', '-qec', quoted, '/dev/null'];
}
