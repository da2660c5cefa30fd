import { Threads } from '../../../concurrency/threads';
import type { LineSink, RunLimits } from '../../contract';
import { openDatabase, type Contents } from '../engine/database';
import { DuckDbEngine } from '../engine/engine';
import { failure } from '../engine/failures';
import { Inspection } from '../engine/inspection';
import type { Log } from '../engine/log';
import type { FolderStatus } from '../../data-status';
import type { Converter } from '../follow/converter';
import { LocalConverter } from '../follow/local-converter';
import { DEFAULTS } from '../engine/options';
import type { RowSink } from '../engine/line-stream';
import { ConverterProcess } from './converter-process';
import { memoryShares } from './memory-shares';
import type { Answers, Opening, Request } from './messages';

/** Takes what is known of the data folder, and the name of the data. */
export type OnStatus = (status: FolderStatus, target: string) => void;

/** Take what a request gives before its answer: of a run, and of a stream. */
export interface Sinks {
  readonly rows: RowSink;
  readonly lines: LineSink;
}

/** What an engine's process does for the service's. */
export interface Serving {
  /** Names the data; empty: no data. */
  readonly target: string;
  /** What the same data is opened from again; null: no data. */
  readonly contents: Contents | null;
  /** What is known of the data folder; null: there is none. */
  readonly status: FolderStatus | null;
  /** Settles when the work has really ended. @throws as the method of `Engine` */
  answer(request: Request, limits: RunLimits, sinks: Sinks): Promise<Answers[keyof Answers]>;
  close(): Promise<void>;
}

/** @throws DataFault for data that the service cannot start with */
export async function openServing(opening: Opening, log: Log, onStatus: OnStatus): Promise<Serving> {
  switch (opening.role) {
    case 'data':
      return openData(opening, log, onStatus);
    case 'planning':
      return openPlanning(log);
    case 'converter':
      return openConverter(opening, log);
  }
}

async function openData(
  { options, before }: Opening & { role: 'data' },
  log: Log,
  onStatus: OnStatus,
): Promise<Serving> {
  const { memory: limit = DEFAULTS.memory, threads = DEFAULTS.threads, dataDir } = options;
  const shares = memoryShares(limit, threads, dataDir !== null);
  const { queries: memory, convertedBytes, tailBytes, tailMemory } = shares;
  const converter = (): Converter => new ConverterProcess(shares.conversion, shares.resident, log);
  const report = (status: FolderStatus): void => onStatus(status, engine.target);
  const own = { ...options, memory, convertedBytes, tailBytes, tailMemory, log };
  const database = await openDatabase({ ...own, converter, complete: false, onStatus: report }, before);
  const engine = new DuckDbEngine(database, own);
  return {
    get target() {
      return engine.target;
    },
    contents: database.contents,
    status: database.status,
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

function openPlanning(log: Log): Serving {
  const threads = new Threads();
  const inspection = new Inspection(threads);
  return {
    target: '',
    contents: null,
    status: null,
    async answer(request, limits) {
      if (request.kind !== 'inspect') throw new Error('There is no data here.');
      const { statement, tables, parameters } = request;
      await inspection.inspect(statement, tables, parameters, limits).catch((error: unknown) => {
        throw failure(error, log, statement, limits.signal.aborted);
      });
      return undefined;
    },
    async close() {
      await inspection.close();
      await threads.close();
    },
  };
}

function openConverter({ resources }: Opening & { role: 'converter' }, log: Log): Serving {
  const converter = new LocalConverter(resources, log.progress);
  return {
    target: '',
    contents: null,
    status: null,
    async answer(request) {
      if (request.kind !== 'convert') throw new Error('There are no queries here.');
      return converter.convert(request.job);
    },
    // What is half written goes with the folder that it is in.
    close: () => Promise.resolve(),
  };
}
