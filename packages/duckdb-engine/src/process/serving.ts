import type { FolderStatus, LineSink, RunLimits } from '../contract/contract';
import type { Contents } from '../engine/database';
import type { RowSink } from '../engine/line-stream';
import type { Answers, Request } from './messages';

/** Takes what is known of the data folder, and the name of the data. */
export type OnStatus = (status: FolderStatus, target: string) => void;

/** Take what a request gives before its answer: of a run, and of a stream. */
export interface Sinks {
  readonly rows: RowSink;
  readonly lines: LineSink;
}

/** What an engine's process does for the service's. */
export interface Serving {
  /** Names the data; empty: no data. */
  readonly target: string;
  /** What the same data is opened from again; null: no data. */
  readonly contents: Contents | null;
  /** What is known of the data folder; null: there is none. */
  readonly status: FolderStatus | null;
  /** Resolves when rows can be read; rejects where the data cannot be opened. */
  readonly opened: Promise<unknown>;
  /** Settles when the work has really ended. @throws as the method of `Engine` */
  answer(request: Request, limits: RunLimits, sinks: Sinks): Promise<Answers[keyof Answers]>;
  close(): Promise<void>;
}
