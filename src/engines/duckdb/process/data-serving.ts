import type { FolderStatus } from '../../contract';
import { openDatabase } from '../engine/database';
import { DuckDbEngine } from '../engine/engine';
import type { Log } from '../engine/log';
import { DEFAULTS } from '../engine/options';
import type { Converter } from '../follow/converter';
import { LocalConverter } from '../follow/local-converter';
import { ConverterProcess } from './converter-process';
import { isLittle, memoryShares } from './memory-shares';
import { MergingConverter } from './merging-converter';
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
  const shares = memoryShares(limit, threads, dataDir !== null);
  const { queries: memory, convertedBytes, tailBytes, tailMemory } = shares;
  const converter = (): Converter => {
    const apart = new ConverterProcess(shares.conversion, shares.resident, log);
    if (!isLittle(limit)) return apart;
    return new MergingConverter(new LocalConverter(shares.conversion, log.progress), apart);
  };
  const report = (status: FolderStatus): void => onStatus(status, database.target);
  const own = { ...options, memory, convertedBytes, tailBytes, tailMemory, log };
  const database = await openDatabase({ ...own, converter, complete: false, onStatus: report }, before);
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
        case 'convert':
          throw new Error('That is done elsewhere.');
        case 'ping':
          await engine.ping(limits);
          return undefined;
      }
    },
    close: () => engine.close(),
  };
}
