import type { StoredAnalyses } from '../analysis/stored-analyses';
import type { Results } from '../cache/results';
import type { UsageBook } from '../cache/usage';
import type { FairSlots, Threads } from '@logquay/duckdb-engine/concurrency';
import type { Catalogue } from '../endpoints/catalogue';
import type { Key } from '../keys/key';
import type { SharedSearches } from '../endpoints/shared-searches';
import type { Gate } from '../sandbox/gate';
import type { Collector } from '@logquay/collector';
import type { Engine } from '@logquay/duckdb-engine/contract';
import type { Budgets } from '../limits/budget';
import type { RateLimits } from '../limits/rate-limits';
import type { Column, ExportFile, Encoder, TakeBytes } from '@logquay/duckdb-engine/parquet';
import type { PageTokens } from './page-query';
import type { Tails } from './tail/tails';
import type { UsageCounts } from '../limits/usage-counts';
import type { PlanCache } from './plan-cache';

/** The services that a run uses, opened by app.ts. */
export interface Services {
  readonly keys: {
    /** Verifies the token of a request; null, or absent: there is nothing to wait for. */
    admit?(header: (name: string) => readonly string[]): Promise<void> | null;
    /**
     * @param before of a request that goes on: the key that it has begun with, and whether its token must not have expired
     * @throws ServiceError unauthenticated
     */
    authenticate(
      header: (name: string) => readonly string[],
      before?: { readonly key: Key; readonly inTime: boolean },
    ): Key;
    find(name: string): Key | null;
  };
  readonly catalogue: Pick<Catalogue, 'current' | 'find' | 'isBroken' | 'resolution'>;
  readonly engine: Engine;
  readonly gate: Gate;
  readonly analyses: StoredAnalyses;
  /** Runs on the engine, by key. */
  readonly admission: FairSlots;
  /** Exports at a time, beside their slots among all runs. */
  readonly exportSlots: FairSlots;
  /** A new file for an export. */
  readonly exportFile: () => ExportFile;
  /** Begins to encode an export; `take` as of `Encoder`. */
  readonly openEncoder: (columns: readonly Column[], take: TakeBytes) => Encoder;
  readonly threads: Threads;
  readonly rates: RateLimits;
  readonly budgets: Pick<Budgets, 'left' | 'check'>;
  readonly plans: PlanCache;
  readonly pageTokens: PageTokens;
  /** Who listens to rows as they arrive; absent: nobody can. */
  readonly tails?: Tails;
  readonly results: Results;
  readonly usage: UsageBook;
  /** Who used how much; absent: nothing is counted. */
  readonly consumption?: Pick<UsageCounts, 'rows'>;
  /** Searches that the operators share; absent: there are none. */
  readonly searches?: Pick<SharedSearches, 'read'>;
  /** What takes logs in, and who may send them; absent: nothing. */
  readonly ingest?: {
    readonly collector: Collector;
    /** @throws ServiceError unauthenticated, accessDenied */
    authenticate(header: (name: string) => readonly string[]): Key;
  };
  /** `degraded`: the shared cache cannot be reached. */
  readonly cacheState: () => 'ok' | 'degraded';
  /** The current time for relative times of LQL, in microseconds since the epoch. */
  readonly now: () => bigint;
  /** US dollars, for the estimate of a dry run. */
  readonly pricePerTiB: number;
  /** Of endpoints that declare nothing else. */
  readonly defaults: {
    /** Milliseconds. */
    readonly timeout: number;
    /** Of exports, of whatever endpoint; milliseconds. */
    readonly exportTimeout: number;
    readonly maxBytesBilled: bigint;
  };
  /** Bytes. */
  readonly longestResponse: number;
  /** Whether CSV escapes formulas, which spreadsheets would evaluate. */
  readonly escapeFormulas: boolean;
}
