/** A log that cannot be written: the service answers on, says so, and ends as asked. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Stage } from './started';

jest.setTimeout(180_000);

const ROOT = path.join(__dirname, '../..');
const METRICS_KEY = 'metrics-key-of-the-test';

const stage = new Stage();
afterAll(() => stage.end());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface LoggingService {
  /** Asks with METRICS_KEY. */
  readonly ask: (at: string) => Promise<Response>;
  /** Asks it to end. @returns its exit code, within the time that it may take */
  readonly end: () => Promise<unknown>;
}

/** A ready service with these outputs; nobody reads a pipe. */
async function serveTo(output: number | 'pipe'): Promise<LoggingService> {
  const port = await freePort();
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    PORT: String(port),
    DRAIN_DELAY: '0',
    RATE_LIMIT: '0',
    API_KEY: 'key-of-the-test-123',
    METRICS_KEY,
    DATA_DIR: path.join(ROOT, 'test/fixture'),
  };
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/cli.js'), 'serve'], {
    cwd: stage.folder(),
    env,
    stdio: ['ignore', output, output],
  });
  children.push(child);
  const exit = new Promise((resolve) => child.on('exit', resolve));
  const ask: LoggingService['ask'] = (at) =>
    fetch(`http://127.0.0.1:${String(port)}${at}`, {
      headers: { 'X-API-KEY': METRICS_KEY },
      signal: AbortSignal.timeout(5000),
    });
  while ((await ask('/ready').catch(() => null))?.status !== 200) {
    expect(child.exitCode).toBeNull();
    await sleep(50);
  }
  const end = async (): Promise<unknown> => {
    child.kill('SIGTERM');
    return Promise.race([exit, sleep(10_000, 'it goes on', { ref: false })]);
  };
  return { ask, end };
}

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

const onLinux = existsSync('/dev/full') ? it : it.skip;

onLinux('a full disk holds up neither requests nor the end', async () => {
  const { ask, end } = await serveTo(openSync('/dev/full', 'w'));
  for (let i = 0; i < 10; i++) expect((await ask('/health')).status).toBe(200);
  await sleep(300);
  expect(await (await ask('/ready')).json()).toMatchObject({
    status: 'ready',
    degraded: true,
    detail: [{ component: 'log', message: expect.stringContaining('ENOSPC') as string }],
  });
  const metrics = await (await ask('/metrics')).text();
  expect(Number(/^logquay_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(metrics).toContain('logquay_degraded{component="log"} 1');
  expect(await end()).toBe(0);
});

it('a reader that hangs holds up neither requests nor the end', async () => {
  const { ask, end } = await serveTo('pipe');
  // More than a pipe holds: 64 KiB.
  for (let i = 0; i < 600; i += 20) await Promise.all(Array.from({ length: 20 }, () => ask('/health')));
  expect((await ask('/health')).status).toBe(200);
  expect(await end()).toBe(0);
});
