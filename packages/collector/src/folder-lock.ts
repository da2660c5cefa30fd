import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { open, readdir, readFile, stat, unlink, utimes } from 'node:fs/promises';
import path from 'node:path';

import { systemCode } from '@logquay/duckdb-engine/files';

/** Milliseconds between two signs of life, and without one after which the lock of another machine or container is stale. */
const HEARTBEAT = 2_000;
const STALE = 15_000;

/** A process, as the lock of a folder names it. */
interface Holder {
  /** Random. */
  readonly id: string;
  /** Where process numbers mean the same; null: the system does not say. */
  readonly place: string | null;
  readonly pid: number;
  /** When it started, in ticks since the machine did; null: the system does not say. */
  readonly started: string | null;
}

/**
 * Keeps two collectors from appending to the files of one folder. Locks are numbered files: the last one counts, and whoever creates the
 * next one, which is one step that succeeds once, takes over. A lock is stale when its process has ended, which is known among processes
 * that see each other, or without a sign of life. A released one remains, with the time 0, so that no number is given twice.
 */
export class FolderLock {
  #timer: NodeJS.Timeout;

  private constructor(
    private readonly locks: Locks,
    private readonly number: number,
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
   * @param file locks are named like it, with their numbers
   * @param onLost called when the lock has gone, or is another's
   * @returns null: another process holds it
   */
  static async acquire(file: string, onLost: () => void): Promise<FolderLock | null> {
    const locks = new Locks(file);
    const before = (await locks.numbers()).at(-1);
    if (before !== undefined && !(await isStale(locks.file(before)))) return null;
    const number = (before ?? 0) + 1;
    const text = JSON.stringify({ id: randomUUID(), ...thisProcess() } satisfies Holder);
    try {
      await create(locks.file(number), text);
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return null;
      throw error;
    }
    const all = await locks.numbers();
    // Later ones have come and gone on since the first look.
    if (all.at(-1) !== number) {
      await remove(locks.file(number));
      return null;
    }
    for (const old of all.slice(0, -1)) await remove(locks.file(old));
    return new FolderLock(locks, number, text, onLost);
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    const file = this.locks.file(this.number);
    if ((await textOf(file)) === this.text) await utimes(file, 0, 0).catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    const file = this.locks.file(this.number);
    const isLast = (await this.locks.numbers()).at(-1) === this.number;
    if (!isLast || (await textOf(file)) !== this.text) throw new Error('the lock is lost');
    const now = new Date();
    await utimes(file, now, now);
  }
}

/** The files of the locks of one folder. */
class Locks {
  constructor(private readonly path: string) {}

  /** In order. That of 0.2.0 has none, and counts as 0. */
  async numbers(): Promise<number[]> {
    const { dir, base } = path.parse(this.path);
    const endings = (await readdir(dir)).flatMap((name) => (name.startsWith(base) ? [name.slice(base.length)] : []));
    const numbers = endings.flatMap((ending) =>
      ending === '' ? 0 : /^\.\d+$/.test(ending) ? Number(ending.slice(1)) : [],
    );
    return numbers.sort((a, b) => a - b);
  }

  file(number: number): string {
    return number === 0 ? this.path : `${this.path}.${String(number)}`;
  }
}

/** @throws EEXIST where there is one; on a full disk nothing is left that would pass for the lock of another machine */
async function create(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
  } catch (error) {
    await remove(file);
    throw error;
  } finally {
    await handle.close();
  }
}

async function remove(file: string): Promise<void> {
  await unlink(file).catch(() => undefined);
}

/** null: there is none. */
async function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

async function isStale(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  if (mtimeMs === 0) return true;
  const holder = readHolder((await textOf(file)) ?? '');
  // Within one process, as under test, two collectors are two.
  if (holder !== null && holder.place !== null && holder.place === thisProcess().place) {
    return startOf(holder.pid) !== holder.started;
  }
  return Date.now() - mtimeMs > STALE;
}

function readHolder(text: string): Pick<Holder, 'place' | 'pid' | 'started'> | null {
  try {
    const { place, pid, started } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' ? { place: place ?? null, pid, started: started ?? null } : null;
  } catch {
    return null;
  }
}

/** Host names are no place: two containers may have one, and number their processes apart. */
function thisProcess(): Omit<Holder, 'id'> {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const place = `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
    // By the numbers of /proc, which may be those of another namespace.
    const pid = Number(readlinkSync('/proc/self'));
    const started = startOf(pid);
    return { place: started === null ? null : place, pid, started };
  } catch {
    return { place: null, pid: process.pid, started: null };
  }
}

/** When a process started (`proc(5)`, field 22 of stat); null: there is none, or the system does not say. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    // The second field, a name in brackets, may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
