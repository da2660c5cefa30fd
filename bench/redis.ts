/** A Redis of the benchmark's own, which keeps nothing on disk. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { freePort } from './service';

export interface Redis {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @throws Error where there is no `redis-server` */
export async function startRedis(port?: number): Promise<Redis> {
  const chosen = port ?? (await freePort());
  const settings = ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.includes('Ready to accept connections')) break;
  }
  return {
    url: `redis://127.0.0.1:${chosen}`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
