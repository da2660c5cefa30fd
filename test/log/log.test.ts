import { ServiceError } from '../../src/errors';
import { openLog } from '../../src/log';
import { logForeignLines } from '../../src/log/foreign-lines';
import { visible } from '../../src/log/visible';

/** What is written to a stream, a terminal or not. */
function written(isTTY: boolean, write: (log: ReturnType<typeof openLog>) => void, level = 'info'): string {
  let text = '';
  const out = { isTTY, write: (line: string) => (text += line).length > 0 };
  write(openLog(level, out));
  return text;
}

const engineFault = Object.assign(new Error("Could not cast 'hunter2'"), { name: 'DuckError', code: 'E42' });

it('is JSON lines where a program reads it', () => {
  const text = written(false, (log) => {
    log.info({ port: 4000 }, 'listening');
    log.warn('plain');
    log.debug('not at this level');
  });
  const lines = text.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { level: 30, time: expect.any(Number) as number, port: 4000, msg: 'listening' },
    { level: 40, time: expect.any(Number) as number, msg: 'plain' },
  ]);
});

it('is text where a person reads it', () => {
  expect(written(true, (log) => log.info({ port: 4000, names: ['a'] }, 'listening'))).toMatch(
    /^\d\d:\d\d:\d\d info {2}listening port=4000 names=\["a"\]\n$/,
  );
  expect(written(true, (log) => log.error({ err: new Error('broken') }, 'oops'))).toMatch(
    / error oops\n {2}Error: broken\n +at /,
  );
});

it('shows a terminal what would steer it, and gives a program the bytes', () => {
  const steering = { table: 'a\u001b[2Jb\u009b1m\u202ec' };
  expect(written(true, (log) => log.info(steering, 'x\ry'))).toContain(
    String.raw`x\u000dy table=a\u001b[2Jb\u009b1m\u202ec`,
  );
  expect(JSON.parse(written(false, (log) => log.info(steering, 'x')))).toMatchObject(steering);
  const every = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('');
  // oxlint-disable-next-line no-control-regex
  expect(visible(every)).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  const value = { text: 'a\u007f\u0085\u2066\r\n\t\u001bß' };
  expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value);
  expect(visible('a,b\r\n"c\td"\r\n')).toBe('a,b\r\n"c\td"\r\n');
});

it("tells a bug with its place, and an engine's fault without its words", () => {
  const bug = new ServiceError('internalError', 'Something.', {}, { cause: new TypeError('x is not a function') });
  expect(written(false, (log) => log.error({ err: bug }, 'failed'))).toMatch(/x is not a function.*at /);
  const fault = new ServiceError('backendError', 'The engine failed.', {}, { cause: engineFault });
  const text = written(false, (log) => log.error({ err: fault }, 'failed'));
  expect(text).not.toContain('hunter2');
  expect(JSON.parse(text)).toMatchObject({
    err: { reason: 'backendError', message: 'The engine failed.', cause: { name: 'DuckError', code: 'E42' } },
  });
});

it('logs the position of a text that could not be read, and nothing of it', () => {
  for (const read of [() => JSON.parse('hunter2\n    at hunter2 (x)') as unknown, () => new RegExp('hunter2(')]) {
    const text = written(false, (log) => {
      try {
        read();
      } catch (cause) {
        log.error({ err: cause }, 'failed');
        log.error({ err: new ServiceError('internalError', 'Something.', {}, { cause }) }, 'failed');
      }
    });
    expect(text.match(/"message":"SyntaxError"/g)).toHaveLength(2);
    expect(text).toMatch(/log\.test/);
    expect(text).not.toContain('hunter2');
  }
});

it('is silent when it should be', () => {
  expect(written(false, (log) => log.fatal('x'), 'silent')).toBe('');
});

it('has lines of JSON for what libraries write', async () => {
  const written: string[] = [];
  const log = openLog('info', { isTTY: false, write: (line: string) => written.push(line) });
  const { write } = process.stderr;
  const restore = logForeignLines(log);
  try {
    process.stderr.write('one\nline\n');
    await new Promise<void>((resolve) => {
      process.stderr.write(Buffer.from('with a callback'), () => resolve());
    });
  } finally {
    restore();
  }
  expect(written.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 40, from: 'stderr', msg: 'one\nline' }),
    expect.objectContaining({ from: 'stderr', msg: 'with a callback' }),
  ]);
  expect(process.stderr.write).toBe(write);
});
