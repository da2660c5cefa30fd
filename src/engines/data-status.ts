import type { LeftOutReason } from './duckdb/data/strict-row';

/** What metrics and `/ready` tell of a table. Plain data. */
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
}

export interface FolderStatus {
  /** Names the data in cache keys: the folder, and the schema. */
  readonly target: string;
  readonly tables: readonly TableStatus[];
  /** What keeps the folder from being followed; null: nothing. For the operator. */
  readonly degraded: string | null;
}
