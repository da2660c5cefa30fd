import type { RunLimits } from '../concurrency/deadline';
import type { Description } from '@logquay/googlesql';
import type { Span } from '@logquay/googlesql/syntax';
import type { NamedType, TableSchema, BoundParameter } from '@logquay/googlesql/types';

/** Why a row of the data folder is left out, as metrics count it. */
export type LeftOutReason = 'not_json' | 'too_long' | 'no_timestamp' | 'does_not_fit' | 'too_wide';

/** What metrics and `/ready` say about a table. Plain data. */
export interface TableStatus {
  readonly table: string;
  readonly rows: number;
  /** Of segments, in CACHE_DIR. */
  readonly bytes: number;
  readonly files: number;
  /** Seconds since there came to be something that is not served yet; 0: everything is. */
  readonly behind: number;
  readonly leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
  readonly ignoredFields: number;
  readonly nulledValues: number;
  /** Since the start. */
  readonly conversions: number;
  /** Files set aside. */
  readonly faults: number;
  /** Whether its fields are declared, in schema.json or as a log table. */
  readonly declared: boolean;
  /** Records that have arrived, in the count of `FolderStatus.epoch`. */
  readonly arrived: number;
}

export interface FolderStatus {
  /** Names the data in cache keys: the folder, and the schema. */
  readonly target: string;
  /** Names the count of records that have arrived. */
  readonly epoch: string;
  readonly tables: readonly TableStatus[];
  /** What keeps the folder from being followed; null: nothing. For the operator. */
  readonly degraded: string | null;
}

/** Rows of a result as lines of bytes: each is the text of one JSON object with a newline behind it, and none within. */

/** In their order. */
export interface Lines {
  /** Each holds whole lines, in UTF-8. */
  readonly parts: readonly Uint8Array[];
  readonly count: number;
}

/** Bytes before and behind lines that `withRoom` has made place for. */
const ROOM = 64;
/** Bytes of both. */
export const SPARE_ROOM = 2 * ROOM;
const ROOMY = new WeakSet<ArrayBufferLike>();

/** Memory for lines to which something can be added at both ends without copying them: `around`. @param size bytes of the lines */
export function withRoom(size: number): Buffer {
  const all = Buffer.allocUnsafeSlow(size + SPARE_ROOM);
  ROOMY.add(all.buffer);
  return all.subarray(ROOM, ROOM + size);
}

/** The same memory with `before` bytes more before it, and `behind` behind it; null: it is not of `withRoom`, or has less room. */
export function around({ buffer, byteOffset, byteLength }: Uint8Array, before: number, behind: number): Buffer | null {
  if (before > ROOM || behind > ROOM || !ROOMY.has(buffer)) return null;
  return Buffer.from(buffer, byteOffset - before, before + byteLength + behind);
}

/** The texts of rows, one by one. */
export function textsOf({ parts }: Lines): readonly string[] {
  return parts.flatMap((part) => bufferOf(part).toString().split('\n').slice(0, -1));
}

/** The same bytes. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A result of an engine that bills nothing, with its rows as lines and as texts: these are made when they are first read. */
export function resultOf<T>(outcome: T, lines: Lines): T & Rows & typeof UNBILLED {
  let rows: readonly string[] | null = null;
  return Object.defineProperty({ ...outcome, ...UNBILLED, lines }, 'rows', {
    get: () => (rows ??= textsOf(lines)),
    enumerable: true,
  }) as T & Rows & typeof UNBILLED;
}

const UNBILLED = { bytesProcessed: null, bytesBilled: null } as const;

interface Rows {
  readonly lines: Lines;
  readonly rows: readonly string[];
}

export type { BoundParameter } from '@logquay/googlesql/types';

/**
 * That no expression of a query is evaluated on a row that the stored part of its text leaves out, as far as it could fail
 * there (docs/sandbox.md, The fence).
 */
export interface Fence {
  /** The consumer's statement inside `sql`; null: all of it is the stored query's. */
  readonly consumer: Span | null;
}

export interface EngineQuery {
  /** GoogleSQL, complete: what the stored query and the gate have made of the request. */
  readonly sql: string;
  /** Every parameter that the text names, and no other. */
  readonly parameters: readonly BoundParameter[];
  /** Rows beyond these are cut off and reported as `truncated`. */
  readonly maxRows: number;
  /** Render BYTES as null: redaction cannot see into them. */
  readonly hideBytes: boolean;
  /** For BigQuery; null where the engine bills nothing. */
  readonly maxBytesBilled: bigint | null;
  /** TIMESTAMP as ISO 8601 text, at any depth, rather than as microseconds. */
  readonly isoTimestamps?: boolean;
  /** Of `stream`: sort the rows by their texts, so that none comes before all have been computed. */
  readonly sorted?: boolean;
  /** Of `stream`: how rows are to be written, by engines that can; default: as JSON, which all can. */
  readonly lines?: LineForm;
  /** The operator's own text alone, which is known and short: it is read on the spot. */
  readonly stored?: boolean;
  /** Isolation from rows that the stored query leaves out; null where nothing is hidden from the caller. */
  readonly fence?: Fence | null;
  /** What BigQuery shows in its job list and its bill; values are sanitised by the engine. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What an engine knows of tables that a stored query names. */
export interface TableSchemas {
  /**
   * By the path as it is written, its parts joined by dots; without tables that are not there. The embedded engine says which numbers
   * are times (`timeUnits`).
   */
  readonly schemas: ReadonlyMap<string, TableSchema>;
  /** Those whose columns depend on their rows; missing: none do. */
  readonly inferred?: ReadonlySet<string>;
  /** Every table there is, for suggestions; empty: not known. */
  readonly names: readonly string[];
  /** What their owner says of their columns, by the same paths; missing: nothing. */
  readonly descriptions?: ReadonlyMap<string, readonly Description[]>;
  /** By which time they are parted, by the same paths; missing: by none. */
  readonly partitions?: ReadonlyMap<string, TimePartitions>;
}

/** Of a table that is parted by time. */
export interface TimePartitions {
  /** null: the time at which a row was taken in. */
  readonly column: string | null;
  /** Whether every query has to bound them. */
  readonly required: boolean;
}

export type { RunLimits };

export interface EngineResult {
  readonly columns: readonly NamedType[];
  /** Each row as the text of one JSON object, by the type table of docs/querying.md. Made of `lines` where there are such, when first read. */
  readonly rows: readonly string[];
  /** The same as bytes; missing: the engine has none. */
  readonly lines?: Lines;
  readonly truncated: boolean;
  /** Bytes as BigQuery counts them; null on an engine that does not bill. */
  readonly bytesProcessed: bigint | null;
  readonly bytesBilled: bigint | null;
}

/** Records of a table that arrived one after the other, by their numbers (docs/decisions/tail.md). */
export interface ArrivedRange {
  readonly table: string;
  /** Names the count; numbers of one epoch can be compared. */
  readonly epoch: string;
  /** Records that had arrived before the first and when the last of them had. */
  readonly after: number;
  readonly upTo: number;
  /** All of it is read, as it was read before. */
  readonly whole: boolean;
}

export interface ArrivedResult extends EngineResult {
  readonly epoch: string;
  /** Records that had arrived when the last that was read had. */
  readonly upTo: number;
}

/** What a query would read, in bytes, and what of it would be billed on demand. */
export interface DryRun {
  readonly bytesProcessed: bigint;
  readonly bytesBilled: bigint;
}

/** How a row is written as a line: as JSON, or as CSV, whose formulas are escaped or not (rendering/render.ts). */
export type LineForm = 'json' | 'csv' | 'escaped csv';

/**
 * First characters of a text that a spreadsheet computes (OWASP ASVS 5.0, 1.2.10, and its page on CSV injection): `= + - @`, plain and
 * full-width, NUL, tab, LF and CR.
 */
export const FORMULA_STARTS = [0x3d, 0x2b, 0x2d, 0x40, 0xff1d, 0xff0b, 0xff0d, 0xff20, 0x00, 0x09, 0x0a, 0x0d] as const;

/** What is known of a result before its rows. */
export type ResultHead = Pick<EngineResult, 'columns' | 'bytesProcessed' | 'bytesBilled'>;

/** Takes a result part by part. */
export interface LineSink {
  /** Before the first rows, also where there are none. @param form of all lines */
  begin(head: ResultHead, form: LineForm): void;
  /**
   * Takes so many whole lines, the last one's end included. The bytes are its own until it has resolved, and the next come then; what it
   * throws ends the run.
   */
  take(lines: Uint8Array, count: number): Promise<void> | void;
}

/**
 * What executes SQL. `test/engines/contract.ts` is the suite that every implementation passes.
 *
 * Errors: `QueryError` for a fault in `sql` (spans are offsets into `sql`; `span` null where the engine reports no
 * place), `ServiceError` for everything else (`deadlineExceeded`, `resourcesExceeded`, `bytesBilledLimitExceeded`,
 * `backendError`, `backendUnavailable`), an `AbortError` DOMException after `signal`. Errors raised while executing carry
 * a fixed text for their kind and never a value.
 */
export interface Engine {
  readonly kind: 'duckdb' | 'bigquery';
  /** Names engine and data in cache keys and verdicts: project, data set, location and host, or data folder and schema. */
  readonly target: string;
  /** Queries that it runs at once; missing: as many as it is sent. */
  readonly concurrency?: number | undefined;
  /**
   * Resolves when queries can be run; before, `tables` and `describe` are answered, and the others wait. Missing: from the beginning.
   * Rejects where the data cannot be opened.
   */
  readonly opened?: Promise<unknown> | undefined;
  run(query: EngineQuery, limits: RunLimits): Promise<EngineResult>;
  /**
   * As `run`, for results of any length: rows go to `sink` as they come, and no faster than it takes them.
   *
   * @returns whether there are more than `maxRows`; `sink` has had that many at most
   */
  stream(query: EngineQuery, limits: RunLimits, sink: LineSink): Promise<boolean>;
  /**
   * Writes a result of any length as Parquet, by itself. Nothing of it is hidden from the caller: there is no fence. Missing: it can
   * write no files.
   *
   * @param path of a file that is not there yet, in a folder that the engine may write to; what is in it after a failure is no result
   * @returns how many rows there are, whatever `maxRows` is
   */
  readonly copy?: ((query: EngineQuery, path: string, limits: RunLimits) => Promise<number>) | undefined;
  /**
   * Runs a query that takes each row of one table by itself: over the rows that arrived in a range, or in its beginning where that
   * is long; or over all that there are, with the place where those begin that arrive. Missing: no rows arrive.
   *
   * @throws as run; ServiceError invalidParameter for a range that is not known (any more)
   */
  readonly runArrived?:
    | ((
        query: EngineQuery,
        range: ArrivedRange | { readonly table: string; readonly after: null },
        limits: RunLimits,
      ) => Promise<ArrivedResult>)
    | undefined;
  /** Schemas of tables by their paths. @throws ServiceError where they cannot be read at the moment */
  tables(paths: readonly (readonly string[])[], limits: RunLimits): Promise<TableSchemas>;
  /** The columns of a query without running it; an operator has written it all. */
  describe(sql: string, parameters: readonly BoundParameter[], limits: RunLimits): Promise<readonly NamedType[]>;
  /**
   * The sandbox's last wall: the engine itself reads a consumer's statement where nothing exists but empty tables of
   * the given names and types. Resolves when it reads nothing else.
   *
   * @throws QueryError `sandboxViolation` where it does; for another fault in `statement` with a span in it
   */
  inspect(
    statement: string,
    tables: readonly TableSchema[],
    parameters: readonly BoundParameter[],
    limits: RunLimits,
  ): Promise<void>;
  /**
   * Called before work is spent on a text of a key. Missing: every key may send texts.
   *
   * @throws ServiceError `tooManyConcurrentQueries`: texts of the key have cost the engine too much
   */
  readonly admits?: ((keyName: string) => void) | undefined;
  /** What a run would read and be billed, without running it; null on an engine that bills nothing. */
  readonly dryRun: ((query: EngineQuery, limits: RunLimits) => Promise<DryRun>) | null;
  /** Bytes in memory of processes of its own; missing where it has none. */
  readonly resident?: number | undefined;
  /** State of the breaker in front of it; missing: no breaker. */
  readonly breaker?: (() => 'closed' | 'open' | 'half-open') | undefined;
  /** What is known of the data folder; missing or null: there is none. */
  readonly dataStatus?: (() => FolderStatus | null) | undefined;
  /** Resolves when the engine answers; rejects when it does not. */
  ping(limits: RunLimits): Promise<void>;
  /** Ends running queries and gives back every resource. */
  close(): Promise<void>;
}
