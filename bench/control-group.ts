/** Memory of a control group as `docker stats` counts it, which is how what containers take is reported (Linux, as root). */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the kernel's first and second kind of control groups. */
const KINDS = [
  { parent: '/sys/fs/cgroup/memory', usage: 'memory.usage_in_bytes', cache: 'total_inactive_file' },
  { parent: '/sys/fs/cgroup', usage: 'memory.current', cache: 'inactive_file' },
] as const;

const MIB = 1024 * 1024;

export interface ControlGroup {
  /** What a shell does to run in it. */
  readonly enter: string;
  /** The beginning of a command that runs in it: what follows is the rest. */
  readonly command: readonly [string, ...string[]];
  /** MiB: what its processes have in memory and what the kernel keeps for them, without page cache that is not in use. */
  used(): number;
  remove(): void;
}

/**
 * A control group whose processes run a Node of their own, of which nothing is in the page cache: what they share with others would be
 * counted where it was read first.
 *
 * @param folder takes the copy of Node
 * @returns null where there may be none, or the page cache may not be dropped
 */
export function createControlGroup(folder: string): ControlGroup | null {
  for (const { parent, usage, cache } of KINDS) {
    const group = join(parent, `logquay-bench-${String(process.pid)}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    const read = (name: string): string => readFileSync(join(group, name), 'latin1');
    const remove = (): void => rmdirSync(group);
    if (!existsSync(join(group, usage))) {
      remove();
      continue;
    }
    const node = join(folder, 'node');
    try {
      copyFileSync(process.execPath, node);
      spawnSync('sync');
      writeFileSync('/proc/sys/vm/drop_caches', '1');
    } catch {
      remove();
      return null;
    }
    const enter = `echo $$ > ${join(group, 'cgroup.procs')}`;
    return {
      enter,
      command: ['/bin/sh', '-c', `${enter} && exec "$0" "$@"`, node],
      used: () => {
        const unused = new RegExp(`^${cache} (\\d+)$`, 'm').exec(read('memory.stat'))?.[1];
        return (Number(read(usage)) - Number(unused ?? 0)) / MIB;
      },
      remove,
    };
  }
  return null;
}
