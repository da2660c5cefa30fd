import { Threads } from '../../../concurrency/threads';
import type { RunLimits } from '../../contract';
import { openDatabase, type Contents } from '../engine/database';
import { DuckDbEngine } from '../engine/engine';
import { failure } from '../engine/failures';
import { Inspection } from '../engine/inspection';
import type { Log } from '../engine/log';
import type { RowSink } from '../engine/row-stream';
import type { Answers, Opening, Request } from './messages';

/** What an engine's process does for the service's. */
export interface Serving {
  /** Names the data; empty: no data. */
  readonly target: string;
  /** What the same data is opened from again; null: no data. */
  readonly contents: Contents | null;
  /** Settles when the work has really ended. @throws as the method of `Engine` */
  answer(request: Request, limits: RunLimits, sink: RowSink): Promise<Answers[keyof Answers]>;
  close(): Promise<void>;
}

/** @throws DataFault for data that the service cannot start with */
export async function openServing(opening: Opening, log: Log): Promise<Serving> {
  return opening.role === 'data' ? openData(opening, log) : openPlanning(log);
}

async function openData({ options, before }: Opening & { role: 'data' }, log: Log): Promise<Serving> {
  const database = await openDatabase({ ...options, log }, before);
  const engine = new DuckDbEngine(database, { ...options, log });
  return {
    target: engine.target,
    contents: database.contents,
    async answer(request, limits, sink) {
      switch (request.kind) {
        case 'run':
          return engine.stream(request.query, limits, sink);
        case 'tables':
          return engine.tables(request.paths, limits);
        case 'describe':
          return engine.describe(request.sql, request.parameters, limits);
        case 'inspect':
          throw new Error('Statements are planned elsewhere.');
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
    async answer(request, limits) {
      if (request.kind !== 'inspect') throw new Error('There is no data here.');
      const { statement, tables, parameters } = request;
      await inspection.inspect(statement, tables, parameters, limits).catch((error: unknown) => {
        throw failure(error, log);
      });
      return undefined;
    },
    async close() {
      await inspection.close();
      await threads.close();
    },
  };
}
