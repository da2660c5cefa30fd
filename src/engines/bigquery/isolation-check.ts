/**
 * Verifies that BigQuery can check the isolation of consumer queries: the check relies on dry runs that list what a query
 * reads, so first a dry run of a stored query has to list something (docs/sandbox.md). Of a stored query, as a table may take
 * no query without its filter: one that requires a filter on its partitions.
 */
import { type Clock, SYSTEM_CLOCK } from '@logquay/duckdb-engine/concurrency';
import { ServiceError, type RunLimits } from '@logquay/duckdb-engine/contract';
import { ApiFailure, isTransient } from './api-failure';
import type { DryRunQuery } from './api';
import type { Log, ReadingQuery } from './options';

export interface IsolationCheckOptions {
  /** At least one has to be sound. */
  readonly storedQueries: readonly ReadingQuery[];
  /** Not Google's BigQuery: where it lists no tables, the check is off. */
  readonly emulated: boolean;
  readonly dryRun: (query: ReadingQuery, limits: RunLimits) => Promise<DryRunQuery | undefined>;
  readonly log: Log;
  readonly clock?: Clock;
}

/** Milliseconds between two attempts to verify it. */
const RETRY_AFTER = 10_000;

export class IsolationCheck {
  readonly #options: IsolationCheckOptions;
  #state: 'unverified' | 'verified' | 'off' | 'broken' = 'unverified';
  #verifying: Promise<void> | null = null;
  readonly #clock: Clock;
  #triedAt = -Infinity;

  constructor(options: IsolationCheckOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
  }

  /**
   * Whether the check is verified, verifying it first if need be; false: it is off.
   *
   * @throws ServiceError `backendUnavailable` where it could not be verified: nothing may run then
   */
  async isVerified(limits: RunLimits): Promise<boolean> {
    const mayTry = this.#verifying !== null || this.#clock.monotonic() - this.#triedAt > RETRY_AFTER;
    if (this.#state === 'unverified' && mayTry) await this.verify(limits);
    if (this.#state === 'verified') return true;
    if (this.#state === 'off') return false;
    throw new ServiceError('backendUnavailable', 'Queries of your own cannot be checked at the moment.', {
      retryAfter: Math.ceil(RETRY_AFTER / 1000),
    });
  }

  /** Determines the state, unless BigQuery does not answer. Never rejects. */
  verify(limits: RunLimits): Promise<void> {
    this.#verifying ??= this.#verify(limits).finally(() => {
      this.#verifying = null;
    });
    return this.#verifying;
  }

  async #verify(limits: RunLimits): Promise<void> {
    const { storedQueries, emulated, dryRun, log } = this.#options;
    this.#triedAt = this.#clock.monotonic();
    for (const stored of storedQueries) {
      try {
        const query = await dryRun(stored, limits);
        // A view may be listed as its tables: all that counts is that something is listed.
        const isListed = query?.statementType === 'SELECT' && (query.referencedTables?.length ?? 0) > 0;
        this.#settle(isListed);
        return;
      } catch (error) {
        if (error instanceof ApiFailure && !isTransient(error)) continue;
        log.warn(
          { reason: error instanceof ApiFailure ? error.message : String(error) },
          'BigQuery does not answer: consumer queries are refused until a dry run has shown what it reports',
        );
        return;
      }
    }
    if (emulated) this.#settle(false);
    else
      log.error(
        { endpoints: storedQueries.map(({ endpoint }) => endpoint) },
        'No stored query can be read in a dry run: consumer queries are refused',
      );
  }

  #settle(isListed: boolean): void {
    const { emulated, log } = this.#options;
    this.#state = isListed ? 'verified' : emulated ? 'off' : 'broken';
    if (this.#state === 'off')
      log.warn({}, 'This BigQuery lists no tables in a dry run: it does not check the isolation of consumer queries');
    if (this.#state === 'broken') log.error({}, 'BigQuery lists no tables in a dry run: consumer queries are refused');
  }
}
