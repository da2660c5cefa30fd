import type { Engine, RunLimits } from '../../contract';
import { raceLimits } from '../../../concurrency/deadline';

/** The engine, with answers at deadline and signal at the latest; what is under way ends behind them. */
export function answeringInTime(engine: Engine): Engine {
  const within = <T>(limits: RunLimits, work: () => Promise<T>): Promise<T> => raceLimits(limits, work, ignore);
  return {
    kind: engine.kind,
    get target() {
      return engine.target;
    },
    dataStatus: () => engine.dataStatus?.() ?? null,
    ...(engine.concurrency === undefined ? {} : { concurrency: engine.concurrency }),
    dryRun: engine.dryRun,
    run: (query, limits) => within(limits, () => engine.run(query, limits)),
    ...(engine.runArrived === undefined
      ? {}
      : { runArrived: (query, range, limits) => within(limits, () => engine.runArrived!(query, range, limits)) }),
    stream: (query, limits, sink) => within(limits, () => engine.stream(query, limits, sink)),
    tables: (paths, limits) => within(limits, () => engine.tables(paths, limits)),
    describe: (sql, parameters, limits) => within(limits, () => engine.describe(sql, parameters, limits)),
    inspect: (statement, tables, parameters, limits) =>
      within(limits, () => engine.inspect(statement, tables, parameters, limits)),
    ping: (limits) => within(limits, () => engine.ping(limits)),
    close: () => engine.close(),
  };
}

function ignore(): void {
  // Nobody waits for it any more.
}
