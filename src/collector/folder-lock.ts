import { readFileSync } from 'node:fs';
import { open, readFile, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';

import { systemCode } from '../errors';

/** Milliseconds between two signs of life, and without one after which the lock of another machine is stale. */
const HEARTBEAT = 2_000;
const STALE = 15_000;

/** A process, as the lock of a folder names it. */
interface Holder {
  readonly host: string;
  readonly pid: number;
  /** When it started, in ticks since the machine did; null: the system does not say. */
  readonly started: string | null;
}

/**
 * Keeps two collectors from appending to the files of one folder. A process that was killed leaves its lock behind: on the same
 * host it is known by its process, from elsewhere by the time since its last sign of life.
 */
export class FolderLock {
  #timer: NodeJS.Timeout;

  private constructor(
    private readonly file: string,
    private readonly text: string,
    onLost: () => void,
  ) {
    this.#timer = setInterval(() => {
      this.#refresh().catch(() => {
        clearInterval(this.#timer);
        onLost();
      });
    }, HEARTBEAT);
    this.#timer.unref();
  }

  /**
   * @param onLost called when the lock has gone, or is another's
   * @returns null: another process holds it
   */
  static async acquire(file: string, onLost: () => void): Promise<FolderLock | null> {
    const { pid } = process;
    const text = JSON.stringify({ host: hostname(), pid, started: startOf(pid) } satisfies Holder);
    for (let i = 0; i < 2; i++) {
      try {
        await create(file, text);
        return new FolderLock(file, text, onLost);
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error;
      }
      if (!(await isStale(file))) return null;
      await unlink(file).catch(() => undefined);
    }
    return null;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if ((await textOf(this.file)) === this.text) await unlink(this.file).catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    if ((await textOf(this.file)) !== this.text) throw new Error('the lock is lost');
    const now = new Date();
    await utimes(this.file, now, now);
  }
}

/** @throws EEXIST where there is one; on a full disk nothing is left that would pass for the lock of another machine */
async function create(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
  } catch (error) {
    await unlink(file).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
}

/** null: there is none. */
async function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

async function isStale(file: string): Promise<boolean> {
  const holder = readHolder((await textOf(file)) ?? '');
  // Within one process, as under test, two collectors are two.
  if (holder?.host === hostname()) return startOf(holder.pid) !== holder.started || holder.started === null;
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs > STALE;
}

function readHolder(text: string): Holder | null {
  try {
    const { host, pid, started } = JSON.parse(text) as Partial<Holder>;
    return typeof host === 'string' && typeof pid === 'number' ? { host, pid, started: started ?? null } : null;
  } catch {
    return null;
  }
}

/** When a process of this host started (`proc(5)`, field 22 of stat); null: there is none, or the system does not say. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    // The second field, a name in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
