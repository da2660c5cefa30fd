import { Threads } from '../concurrency/threads/threads';
import { failure } from '../engine/failures';
import { Inspection } from '../engine/inspection';
import type { Log } from '../engine/log';
import type { Serving } from './serving';

/** Plans consumers' statements, and holds no data. */
export function openPlanning(log: Log): Serving {
  const threads = new Threads();
  const inspection = new Inspection(threads);
  return {
    target: '',
    contents: null,
    status: null,
    opened: Promise.resolve(),
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
