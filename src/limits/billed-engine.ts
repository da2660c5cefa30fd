import { groupOf } from '@logquay/duckdb-engine/concurrency';
import {
  type Engine,
  type EngineQuery,
  type EngineResult,
  type LineSink,
  type ResultHead,
  type RunLimits,
  ForwardingEngine,
} from '@logquay/duckdb-engine/contract';
import { QueryError, ServiceError } from '../errors';
import type { Metrics } from '../metrics/metrics';
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
export class BilledEngine extends ForwardingEngine {
  readonly #billing: Billing;

  constructor(engine: Engine, billing: Billing) {
    super(engine);
    this.#billing = billing;
  }

  override run(query: EngineQuery, limits: RunLimits): Promise<EngineResult> {
    return this.#counted(query, limits, async () => this.#charged(query, await super.run(query, limits)));
  }

  override stream(query: EngineQuery, limits: RunLimits, sink: LineSink): Promise<boolean> {
    return this.#counted(query, limits, () => {
      // Billed is what the query has read, however many of its rows are fetched.
      const begin: LineSink['begin'] = (head, form) => sink.begin(this.#charged(query, head), form);
      return super.stream(query, limits, { begin, take: (lines, count) => sink.take(lines, count) });
    });
  }

  /** Of an engine that bills nothing. */
  override get copy(): Engine['copy'] {
    const copy = super.copy;
    return copy && ((query, path, limits) => this.#counted(query, limits, () => copy(query, path, limits)));
  }

  override get runArrived(): Engine['runArrived'] {
    const runArrived = super.runArrived;
    return (
      runArrived &&
      ((query, range, limits) =>
        this.#counted(query, limits, async () => this.#charged(query, await runArrived(query, range, limits))))
    );
  }

  override async inspect(...call: Parameters<Engine['inspect']>): Promise<void> {
    try {
      await super.inspect(...call);
    } catch (error) {
      this.#countUntranslated(error);
      throw error;
    }
  }

  #charged<Head extends ResultHead>({ labels }: EngineQuery, head: Head): Head {
    const { budgets, metrics } = this.#billing;
    const { bytesProcessed, bytesBilled } = head;
    const { endpoint = '', key: payer = '' } = labels;
    const key = groupOf(payer);
    if (bytesProcessed !== null) metrics.count('bytesProcessed', { endpoint, key }, Number(bytesProcessed));
    if (bytesBilled !== null) {
      metrics.count('bytesBilled', { endpoint, key }, Number(bytesBilled));
      budgets.charge(payer, bytesBilled);
    }
    return head;
  }

  async #counted<T>(query: EngineQuery, limits: RunLimits, work: () => Promise<T>): Promise<T> {
    const { budgets, metrics, keyOf } = this.#billing;
    const { endpoint = '', key = '', kind = '' } = query.labels;
    await budgets.check(keyOf(key) ?? { name: key, dailyBytes: null });
    const start = performance.now();
    let outcome = 'ok';
    try {
      return await work();
    } catch (error) {
      this.#countUntranslated(error);
      outcome = limits.signal.aborted ? 'abandoned' : outcomeOf(error);
      throw error;
    } finally {
      metrics.count('engineRuns', { endpoint, kind, result: outcome });
      metrics.observe('engineDuration', { endpoint }, (performance.now() - start) / 1000);
    }
  }

  #countUntranslated(error: unknown): void {
    if (error instanceof QueryError && error.details.note?.code === 'untranslated') {
      this.#billing.metrics.count('untranslated', {});
    }
  }
}

/** A value of the label `result`. */
function outcomeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason;
  if (error instanceof QueryError) return error.fault;
  return 'internalError';
}
