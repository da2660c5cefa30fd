import type { RestField } from '@logquay/googlesql/types';
import type { FolderStatus } from '../contract/contract';
import type { Resources } from '../follow/backlog';
import type { Log } from './log';

export interface DuckDbOptions {
  /** The folder with the tables' files; null: a week of made-up logs. It is only read. */
  readonly dataDir: string | null;
  /** A file that declares tables, beside the one in `dataDir`, and is taken up while the folder is followed; default: none. */
  readonly schemaFile?: string | null;
  /** Tables that are described without a schema.json, and those of the samples. */
  readonly declared: ReadonlyMap<string, readonly RestField[]>;
  /** Where segments of tables are stored; made if missing. */
  readonly cacheDir: string;
  /** Where exports are written, if there is a data folder; default: none are. Beside `cacheDir` the only folder that SQL could reach. */
  readonly exportsDir?: string | null;
  /** Where samples are kept, so that the next process that opens them need not make them again; default: in memory. */
  readonly samplesFile?: string | null;
  /** Microseconds since the epoch that the service takes for now; null: the real time, anew for every run. */
  readonly now: bigint | null;
  readonly log: Log;
  /** The most memory that DuckDB may use, as it writes it; default `1GB`. */
  readonly memory?: string;
  /** Threads that work on queries; default 2. */
  readonly threads?: number;
  /**
   * Queries that run at once; default 4. Each occupies a thread of libuv's pool (`UV_THREADPOOL_SIZE`, 4 unless set),
   * which file access and compression need too.
   */
  readonly connections?: number;
  /** Of the database in which large files of the data folder are read; default: as much as queries have. */
  readonly conversion?: Resources;
  /** Whether opening waits until all of the data folder is read, rather than begin with what there is; default: true. */
  readonly complete?: boolean;
  /** Bytes of a text file that are read into memory; what is larger is stored as a segment at once. Default 8 MiB. */
  readonly smallFile?: number;
  /** Bytes of content that are stored as one segment. Default 512 MiB. */
  readonly convertedBytes?: number;
  /** Bytes of rows in memory beyond which they are stored. Default 32 MiB. */
  readonly tailBytes?: number;
  /** Bytes of DuckDB's memory in which there are such rows, beyond which no more are read before some are stored. Default 192 MiB. */
  readonly tailMemory?: number;
  /** Takes what is known of the data folder whenever it changes. */
  readonly onStatus?: (status: FolderStatus) => void;
  /** The most bytes of row texts in one result; default 64 MiB. */
  readonly maxResultBytes?: number;
}

export const DEFAULTS = {
  memory: '1GB',
  threads: 2,
  connections: 4,
  maxResultBytes: 64 * 1024 * 1024,
  smallFile: 8 * 1024 * 1024,
  convertedBytes: 512 * 1024 * 1024,
  tailBytes: 32 * 1024 * 1024,
  tailMemory: 192 * 1024 * 1024,
} as const;
