/** What the steps of a run pass to each other. */
import type { Identity } from '../cache/stores';
import type { Usage } from '../cache/usage';
import type { Endpoint } from '../endpoints/endpoint';
import type { MovingStarts } from '../endpoints/parameters';
import type { RawEntry } from '../endpoints/raw-entries';
import type { ConsumerRequest, Paging } from '../endpoints/reserved-parameters';
import type { Misreading } from '@logquay/googlesql/lql';
import type { BoundParameter } from '@logquay/duckdb-engine/contract';
import type { EncodedResponse } from '../rendering/encoded-response';
import type { Representation } from '../rendering/representation';
import type { RequestTelemetry } from '../telemetry';

/** Awaits one step and measures it, without the steps nested in it. */
export type Timed = <T>(phase: string, step: () => Promise<T> | T) => Promise<T>;

/** A request to a stored endpoint, free of Express and sockets. */
export interface RunRequest {
  readonly id: string;
  /** As in the path, percent-decoded. */
  readonly idOrName: string;
  /** Every value of a header, in order; the name in lower case. */
  header(name: string): readonly string[];
  /** The URL's query if it holds all parameters; null if there may be a body. */
  readonly query: string | null;
  /** Reads URL and body, in this order; call it for an authorised caller only. @throws ServiceError 400, 413, 415 */
  parameters(): Promise<readonly RawEntry[]>;
  /** Milliseconds of `performance.now()`. */
  readonly arrived: number;
  /** Whether it has been counted against the rate of its key by who brings it; absent: no. */
  readonly counted?: boolean;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  timed<T>(phase: string, step: () => Promise<T> | T): Promise<T>;
  /** Records attributes for log, metrics and traces as soon as they are known. */
  record(attributes: RequestTelemetry): void;
  /** Announces the deadline of the run, in milliseconds of `performance.now()`: draining waits for it. */
  expectUntil(deadline: number): void;
  /** Sets headers (a flat list) of the response, be it a result or an error; replaces those of an earlier call. */
  setHeaders(headers: readonly string[]): void;
  /** Begins a response that is sent while it is being made. */
  beginBody(head: BodyHead): BodyWriter;
}

/** What is known of a body before it is made. */
export interface BodyHead {
  readonly contentType: string;
  /** Whether it gets shorter by compression. */
  readonly compressible: boolean;
  readonly fileName: string;
  /** A flat header list. */
  readonly headers: readonly string[];
}

/** Takes a body part by part. */
export interface BodyWriter {
  /** Resolves when the client takes more. @throws AbortError when it has left, or was cut off as it took nothing */
  write(bytes: Uint8Array): Promise<void>;
  /** Sends the last part, without which the client sees that the body is not whole; resolves when it has all. @throws as `write` */
  end(bytes: Uint8Array): Promise<void>;
}

/** A validated request: everything is checked but the SQL of a consumer query. */
export interface RequestPlan {
  readonly endpoint: Endpoint;
  readonly query: ConsumerRequest['query'];
  /** Validated, pinned ones included. */
  readonly parameters: readonly BoundParameter[];
  /** Those of them that move on with the clock; null: none. */
  readonly moving: MovingStarts | null;
  readonly redacted: boolean;
  /** TIMESTAMP as ISO 8601 text rather than as microseconds. */
  readonly isoTimestamps: boolean;
  /** A page of the result; null: all of it. */
  readonly page: Paging | null;
  /** Names of parameters that the endpoint does not know; they are ignored. */
  readonly unknown: readonly string[];
  /** What the caller's LQL may have been meant to say otherwise. */
  readonly misreadings: readonly Misreading[];
  /** Whether the stored query hides rows from the caller: see `needsFence`. */
  readonly fenced: boolean;
  readonly representation: Representation;
  /** Whether it is an export whose rows, as NDJSON, are encoded as Parquet. */
  readonly asParquet: boolean;
  /** Name of the key whose slots and budget the run uses. */
  readonly payer: string;
  /** `warm`: a refresh, for which no caller waits. `export`: the rows are sent as they come. */
  readonly purpose: 'run' | 'dry run' | 'warm' | 'export';
  /** Cache key. */
  readonly identity: Identity;
  /** Names the request for the warmer, at any time: the identity but for starts that move on with the clock. */
  readonly usageHash: string;
  /** For the warmer; null: the warmer ignores the request. */
  readonly usage: Usage | null;
}

export interface RunResponse {
  readonly response: EncodedResponse;
  /** `Cache-Control`, `Cache-Status`, cost: a flat header list. */
  readonly headers: readonly string[];
}
