/**
 * Verifies that BigQuery can check the isolation of consumer queries: the check relies on dry runs that list what a query
 * reads, so first a dry run that reads a table has to list something (docs/sandbox.md).
 */
import { type Clock, SYSTEM_CLOCK } from '../../concurrency/clock';
import { ServiceError } from '../../errors';
import type { RunLimits } from '../contract';
import { ApiFailure, isTransient } from './api-failure';
import type { DryRunQuery } from './api';
import type { Log } from './options';
import { quotePath } from './stub';

export interface IsolationCheckOptions {
  /** Paths of tables that stored queries read; at least one has to exist. */
  readonly tables: readonly (readonly string[])[];
  /** Not Google's BigQuery: where it lists no tables, the check is off. */
  readonly emulated: boolean;
  readonly dryRun: (sql: string, limits: RunLimits) => Promise<DryRunQuery | undefined>;
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
    const { tables, emulated, dryRun, log } = this.#options;
    this.#triedAt = this.#clock.monotonic();
    for (const table of tables) {
      try {
        const query = await dryRun(`SELECT 1 FROM ${quotePath(table)}`, limits);
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
        { tables: tables.map((path) => path.join('.')) },
        'No table of a stored query can be read in a dry run: consumer queries are refused',
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
