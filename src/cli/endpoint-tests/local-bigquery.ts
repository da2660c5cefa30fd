import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A development tool of a checkout: no installation of the service brings it. */
const SCRIPT = path.join(__dirname, '../../../emulator/start.js');

export interface LocalBigQuery {
  /** `127.0.0.1:PORT`, as BIGQUERY_EMULATOR_HOST takes it. */
  readonly host: string;
  /** Resolves when its process has ended. */
  close(): Promise<void>;
}

/**
 * Starts a local BigQuery of one's own over the tables of a folder. It ends with this process, however that ends.
 *
 * @param clock the present of its queries; null: the real one
 * @throws Error where it is not installed, or with what it printed where it does not start
 */
export async function startLocalBigQuery(data: string, clock: string | null): Promise<LocalBigQuery> {
  if (!existsSync(SCRIPT)) {
    throw new Error(
      'The local BigQuery comes with a checkout of the repository (emulator/), not with this installation.',
    );
  }
  const args = [SCRIPT, '--tied', '--port', '0', '--data', data, ...(clock === null ? [] : ['--clock', clock])];
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  const closed = once(child, 'close');
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  child.stdin.on('error', () => undefined);
  const host = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /http:\/\/(\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('error', reject).on('close', () => {
      reject(new Error(complaint.trim() || 'The local BigQuery ended before it listened.'));
    });
  });
  return {
    host,
    close: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
