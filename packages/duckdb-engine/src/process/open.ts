import { join } from 'node:path';

import { DEFAULTS, type DuckDbOptions } from '../engine/options';
import { isLittleMemory, memoryShares } from './memory-shares';
import { RefusedRequests } from './refused-requests';
import { RemoteEngine } from './remote-engine';
import type { StartedProcess } from './start-process';
import { Supervisor } from './supervisor';
import type { Cause } from './watchdog';
import { makeFolder, removeFolder } from './workspace';

const MIB = 1024 * 1024;
/** What the process that plans may take at all. */
const PLANNING_MEMORY = 176 * MIB;
/** With how much it is replaced when nothing is being planned: it begins with 120 MiB. */
const PLANNED_LONG = 150 * MIB;
/**
 * Milliseconds without a new text of a consumer's after which the process that plans them ends. It takes 50 MiB, and half a second to
 * start: where queries have little memory, whoever looks at the same pages again and again does not pay for it.
 */
const PLANNING_IDLE = { usual: 5 * 60_000, littleMemory: 60_000 } as const;

export interface RemoteOptions extends Omit<DuckDbOptions, 'complete'> {
  /** Aborted when the service ends: opening is cancelled. */
  readonly signal?: AbortSignal;
  /** The compiled child.ts; default: the one beside this file. */
  readonly file?: string;
  /** A process for the data that has been started already. */
  readonly first?: StartedProcess | null;
  /** A process has died, and is replaced. */
  readonly died?: (cause: Cause) => void;
}

/**
 * The embedded engine in a process of its own (docs/decisions/engine-process.md), and another for planning consumers'
 * statements that is started when it is needed.
 *
 * @throws DataFault for data that the service cannot start with; AbortError after `signal`; both as `Engine.opened` too
 */
export async function openRemoteEngine({
  signal = new AbortController().signal,
  file = join(__dirname, 'child.js'),
  first = null,
  died = () => undefined,
  ...options
}: RemoteOptions): Promise<RemoteEngine> {
  const { log, onStatus, ...plain } = options;
  const { cacheDir, dataDir, exportsDir = null, connections = DEFAULTS.connections } = options;
  const { memory = DEFAULTS.memory, threads = DEFAULTS.threads } = options;
  const folder = dataDir === null ? await makeFolder(cacheDir, 'samples') : null;
  const streams = await makeFolder(cacheDir, 'streams');
  const folders = [folder, streams].filter((one) => one !== null);
  const samplesFile = folder === null ? null : join(folder, 'samples.duckdb');
  const refused = new RefusedRequests();
  const shared = { file, refused, log, died };
  const data = new Supervisor({
    ...shared,
    first,
    opening: (before) => ({ role: 'data', options: { ...plain, samplesFile }, before, folders }),
    maxResident: memoryShares(memory, threads, dataDir !== null).resident,
    idle: null,
    ...(onStatus === undefined ? {} : { onStatus }),
  });
  const planning = new Supervisor({
    ...shared,
    name: 'The process that plans queries',
    opening: () => ({ role: 'planning' }),
    maxResident: PLANNING_MEMORY,
    replacedAbove: PLANNED_LONG,
    idle: isLittleMemory(memory) ? PLANNING_IDLE.littleMemory : PLANNING_IDLE.usual,
  });
  const removeFolders = (): void => folders.forEach(removeFolder);
  // However this process ends, as far as it has a word in it.
  const end = (): void => {
    data.kill();
    planning.kill();
    removeFolders();
  };
  process.on('exit', end);
  const dispose = (): void => {
    process.off('exit', end);
    removeFolders();
  };
  const copies = dataDir !== null && exportsDir !== null;
  const engine = new RemoteEngine({ data, planning, refused, connections, streams, copies, dispose });
  const onAbort = (): void => void engine.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await data.open();
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  } finally {
    void data.readable
      .catch(() => undefined)
      .finally(() => {
        signal.removeEventListener('abort', onAbort);
      });
  }
}
