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
