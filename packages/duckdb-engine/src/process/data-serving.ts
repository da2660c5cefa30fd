import type { FolderStatus } from '../contract/contract';
import { openDatabase } from '../engine/database';
import { DuckDbEngine } from '../engine/engine';
import type { Log } from '../engine/log';
import { DEFAULTS } from '../engine/options';
import { memoryShares } from './memory-shares';
import type { Opening } from './messages';
import type { OnStatus, Serving } from './serving';

/**
 * The engine over the data.
 *
 * @throws DataFault for data that the service cannot start with
 */
export async function openData(
  { options, before }: Opening & { role: 'data' },
  log: Log,
  onStatus: OnStatus,
): Promise<Serving> {
  const { memory: limit = DEFAULTS.memory, threads = DEFAULTS.threads, dataDir } = options;
  const { queries, conversion, convertedBytes, tailBytes, tailMemory } = memoryShares(limit, threads, dataDir !== null);
  const own = { ...options, memory: queries, conversion, convertedBytes, tailBytes, tailMemory, log };
  let targetNow = (): string => '';
  // The target moves with the fields of the tables: what the service keeps of columns is known by it.
  const report = (status: FolderStatus): void => onStatus(status, targetNow());
  const database = await openDatabase({ ...own, complete: false, onStatus: report }, before);
  targetNow = () => database.target;
  const engine = new DuckDbEngine(database, own);
  return {
    get target() {
      return engine.target;
    },
    contents: database.contents,
    status: database.status,
    opened: engine.opened,
    async answer(request, limits, { rows, lines }) {
      switch (request.kind) {
        case 'run':
          return engine.feed(request.query, limits, rows);
        case 'stream':
          return engine.stream(request.query, limits, lines);
        case 'copy':
          return engine.copy(request.query, request.path, limits);
        case 'arrived':
          return engine.feedArrived(request.query, request.range, limits, rows);
        case 'tables':
          return engine.tables(request.paths, limits);
        case 'describe':
          return engine.describe(request.sql, request.parameters, limits);
        case 'inspect':
          throw new Error('That is done elsewhere.');
        case 'ping':
          await engine.ping(limits);
          return undefined;
      }
    },
    close: () => engine.close(),
  };
}
