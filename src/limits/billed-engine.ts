import type { Engine, EngineQuery, LineSink, ResultHead, RunLimits } from '../engines/contract';
import { QueryError, ServiceError } from '../errors';
import type { Metrics } from '../metrics';
import type { BudgetedKey, Budgets } from './budget';

export interface Billing {
  readonly budgets: Budgets;
  readonly metrics: Metrics;
  /** The key of that name as it is now; null: it no longer exists. */
  readonly keyOf: (name: string) => BudgetedKey | null;
}

/**
 * An engine whose runs are counted, refused when the budget of the key that pays is spent, and charged to it when they have
 * ended. Who pays and what runs is read from the labels of the query: `endpoint`, `key`, `kind`.
 */
export function billed(engine: Engine, { budgets, metrics, keyOf }: Billing): Engine {
  const charge = ({ labels }: EngineQuery, { bytesProcessed, bytesBilled }: Omit<ResultHead, 'columns'>): void => {
    const { endpoint = '', key = '' } = labels;
    if (bytesProcessed !== null) metrics.count('bytesProcessed', { endpoint, key }, Number(bytesProcessed));
    if (bytesBilled === null) return;
    metrics.count('bytesBilled', { endpoint, key }, Number(bytesBilled));
    budgets.charge(key, bytesBilled);
  };
  const countUntranslated = (error: unknown): void => {
    if (error instanceof QueryError && error.details.note?.code === 'untranslated') metrics.count('untranslated', {});
  };
  const counted = async <T>(query: EngineQuery, limits: RunLimits, work: () => Promise<T>): Promise<T> => {
    const { endpoint = '', key = '', kind = '' } = query.labels;
    await budgets.check(keyOf(key) ?? { name: key, dailyBytes: null });
    const start = performance.now();
    let outcome = 'ok';
    try {
      return await work();
    } catch (error) {
      countUntranslated(error);
      outcome = limits.signal.aborted ? 'abandoned' : outcomeOf(error);
      throw error;
    } finally {
      metrics.count('engineRuns', { endpoint, kind, result: outcome });
      metrics.observe('engineDuration', { endpoint }, (performance.now() - start) / 1000);
    }
  };
  return {
    kind: engine.kind,
    get target() {
      return engine.target;
    },
    ...(engine.opened === undefined ? {} : { opened: engine.opened }),
    ...(engine.dataStatus === undefined ? {} : { dataStatus: () => engine.dataStatus?.() ?? null }),
    run: (query, limits) =>
      counted(query, limits, async () => {
        const result = await engine.run(query, limits);
        charge(query, result);
        return result;
      }),
    stream: (query, limits, sink) =>
      counted(query, limits, () => {
        // Billed is what the query has read, however many of its rows are fetched.
        const begin: LineSink['begin'] = (head, form) => {
          charge(query, head);
          sink.begin(head, form);
        };
        return engine.stream(query, limits, { begin, take: (lines, count) => sink.take(lines, count) });
      }),
    // Of an engine that bills nothing.
    ...(engine.copy === undefined
      ? {}
      : { copy: (query, path, limits) => counted(query, limits, () => engine.copy!(query, path, limits)) }),
    ...(engine.runArrived === undefined
      ? {}
      : {
          runArrived: (query, range, limits) =>
            counted(query, limits, async () => {
              const result = await engine.runArrived!(query, range, limits);
              charge(query, result);
              return result;
            }),
        }),
    tables: (paths, limits) => engine.tables(paths, limits),
    describe: (sql, parameters, limits) => engine.describe(sql, parameters, limits),
    inspect: (statement, tables, parameters, limits) =>
      engine.inspect(statement, tables, parameters, limits).catch((error: unknown) => {
        countUntranslated(error);
        throw error;
      }),
    ...(engine.admits === undefined ? {} : { admits: (keyName) => engine.admits?.(keyName) }),
    dryRun: engine.dryRun,
    ...(engine.breaker === undefined ? {} : { breaker: engine.breaker }),
    ping: (limits) => engine.ping(limits),
    close: () => engine.close(),
  };
}

/** A value of the label `result`. */
function outcomeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason;
  if (error instanceof QueryError) return error.fault;
  return 'internalError';
}
