/**
 * Whether the sandbox's last wall can be relied on here. It rests on dry runs that list what a query reads, so before it
 * is used a dry run that reads a table must list something (docs/sandbox.md).
 */
import { ServiceError } from '../../errors';
import type { RunLimits } from '../contract';
import { ApiFailure, isTransient } from './api-failure';
import type { DryRunQuery } from './api';
import type { Log } from './options';
import { quotePath } from './stub';

export interface WallOptions {
  /** Tables that stored queries read, as paths: at least one of them has to be there. */
  readonly tables: readonly (readonly string[])[];
  /** Not Google's own BigQuery: where it cannot list tables, the wall is off. */
  readonly emulated: boolean;
  readonly dryRun: (sql: string, limits: RunLimits) => Promise<DryRunQuery | undefined>;
  readonly log: Log;
}

/** Milliseconds after which a proof that failed is tried again. */
const RETRY_AFTER = 10_000;

export class Wall {
  readonly #options: WallOptions;
  #state: 'unproven' | 'stands' | 'off' | 'broken' = 'unproven';
  #proving: Promise<void> | null = null;
  #triedAt = -Infinity;

  constructor(options: WallOptions) {
    this.#options = options;
  }

  /**
   * Whether the wall stands; false: it is off. Proves it first where that has not been done.
   *
   * @throws ServiceError `backendUnavailable` where it should stand and does not: nothing may pass then
   */
  async stands(limits: RunLimits): Promise<boolean> {
    const mayTry = this.#proving !== null || performance.now() - this.#triedAt > RETRY_AFTER;
    if (this.#state === 'unproven' && mayTry) await this.prove(limits);
    if (this.#state === 'stands') return true;
    if (this.#state === 'off') return false;
    throw new ServiceError('backendUnavailable', 'Queries of your own cannot be checked at the moment.', {
      retryAfter: Math.ceil(RETRY_AFTER / 1000),
    });
  }

  /** Settles the state, or leaves it open where BigQuery does not answer. Never rejects. */
  prove(limits: RunLimits): Promise<void> {
    this.#proving ??= this.#prove(limits).finally(() => {
      this.#proving = null;
    });
    return this.#proving;
  }

  async #prove(limits: RunLimits): Promise<void> {
    const { tables, emulated, dryRun, log } = this.#options;
    this.#triedAt = performance.now();
    for (const table of tables) {
      try {
        const query = await dryRun(`SELECT 1 FROM ${quotePath(table)}`, limits);
        // A view may be listed by the tables behind it: what counts is that a reading query does not look like one that
        // reads nothing.
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
    this.#state = isListed ? 'stands' : emulated ? 'off' : 'broken';
    if (this.#state === 'off')
      log.warn({}, 'This BigQuery lists no tables in a dry run: it does not check consumer queries a last time');
    if (this.#state === 'broken') log.error({}, 'BigQuery lists no tables in a dry run: consumer queries are refused');
  }
}
