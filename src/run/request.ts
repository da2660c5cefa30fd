import type { Results } from '../cache/results';
import type { UsageBook } from '../cache/usage';
import type { Threads } from '../concurrency/threads';
import type { Catalogue, RawEntry } from '../endpoints';
import type { Engine } from '../engines/contract';
import type { Key } from '../keys/key';
import type { Admission } from '../limits/admission';
import type { RateLimits } from '../limits/rate-limits';
import type { EncodedResponse } from '../rendering/encoded-response';
import type { Gate } from '../sandbox';
import type { RequestTelemetry } from '../telemetry';
import type { JudgedRequests } from './asked';

/** A request to a stored endpoint, as far as its run needs to know it: nothing of Express or of sockets. */
export interface RunRequest {
  readonly id: string;
  /** As in the path, percent-decoded. */
  readonly idOrName: string;
  /** Every value of a header, in order; the name in lower case. */
  header(name: string): readonly string[];
  /** The URL's query where that alone holds the parameters; null where there may be a body. */
  readonly query: string | null;
  /** Reads URL and body, in this order, when who asks is known. @throws ServiceError */
  parameters(): Promise<readonly RawEntry[]>;
  /** Milliseconds of `performance.now()`. */
  readonly arrived: number;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Does one step and counts its time. */
  timed<T>(phase: string, step: () => Promise<T> | T): Promise<T>;
  /** Records attributes for log, metrics and traces as soon as they are known. */
  record(attributes: RequestTelemetry): void;
  /** Headers, names and values in turn, that the answer carries, whatever it becomes; they take the place of those given before. */
  also(headers: readonly string[]): void;
}

/** What a run gives to who writes the answer. */
export interface RunAnswer {
  readonly response: EncodedResponse;
  /** `Cache-Control`, `Cache-Status` and what else the run knows about its answer: names and values in turn. */
  readonly headers: readonly string[];
}

/** The services that a run uses, opened by app.ts. */
export interface Services {
  readonly keys: {
    authenticate(header: (name: string) => readonly string[]): Key;
    find(name: string): Key | null;
  };
  readonly catalogue: Pick<Catalogue, 'current' | 'find'>;
  readonly engine: Engine;
  readonly gate: Gate;
  readonly admission: Admission;
  readonly threads: Threads;
  readonly rates: RateLimits;
  readonly judged: JudgedRequests;
  readonly results: Results;
  readonly usage: UsageBook;
  /** Whether what processes share can be reached. */
  readonly cacheState: () => 'ok' | 'degraded';
  /** Microseconds since the epoch: the service's notion of now. */
  readonly now: () => bigint;
  /** US dollars, for the estimate of a dry run. */
  readonly pricePerTiB: number;
  /** Where the endpoint says nothing else. */
  readonly defaults: {
    /** Milliseconds. */
    readonly timeout: number;
    readonly maxBytesBilled: bigint;
  };
  /** Bytes. */
  readonly longestResponse: number;
  /** Whether CSV keeps spreadsheets from computing texts of a result. */
  readonly escapeFormulas: boolean;
}
