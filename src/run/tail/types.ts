/** What a live tail needs of HTTP, and why one ends. */
import type { RunLimits } from '../../concurrency/deadline';
import type { ArrivedRange } from '../../engines/contract';
import type { RequestPlan, RunRequest } from '../types';

/** Events as `text/event-stream` has them. */

export interface StreamEvent {
  /** Of the position behind it. */
  readonly id?: string;
  /** Absent: a row. */
  readonly event?: string;
  /** One line of JSON; absent: an event that nobody is called for. */
  readonly data?: string;
  /** Milliseconds until a client that lost the stream comes again. */
  readonly retry?: number;
}

export function eventText({ id, event, data, retry }: StreamEvent): string {
  const lines = [
    ...(retry === undefined ? [] : [`retry: ${String(retry)}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(data === undefined ? [] : [`data: ${data}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** Sends a stream of events that has no end of its own. */
export interface EventWriter {
  /** Bytes that the client has not taken yet. */
  readonly pending: number;
  /** Resolves when the connection is closed, by whom ever. */
  readonly closed: Promise<void>;
  write(bytes: Uint8Array): void;
  /** Resolves when the client has taken what it was sent. @throws AbortError; ServiceError deadlineExceeded when it stalls */
  drained(): Promise<void>;
  /** Sends the last event, and disconnects a client that has not taken it after so many milliseconds. */
  end(bytes: Uint8Array, patience: number): void;
}

export interface TailRequest extends RunRequest {
  /** Begins the response. @param headers a flat header list */
  beginEvents(headers: readonly string[]): EventWriter;
}

/** Why a stream was ended, as its last event and the metrics have it. */
export type TailEnd = 'client_left' | 'slow_reader' | 'key_changed' | 'endpoint_changed' | 'shutting_down' | 'failed';

export interface TailRows {
  /** Texts of JSON objects, as the caller may see them, in an order that is the same each time. */
  readonly rows: readonly string[];
  /** Records that had arrived when the last of these had, and the count's name. */
  readonly upTo: number;
  readonly epoch: string;
}

/** The rows that a query gives of those that arrive in a table. */
export interface ArrivingRows {
  readonly plan: Pick<RequestPlan, 'payer'>;
  readonly table: string;
  /** Milliseconds that one evaluation may take. */
  readonly timeout: number;
  /** The rows of a range, or of its beginning. @throws as Engine.runArrived, with faults for the caller */
  rows(range: Omit<ArrivedRange, 'table'>, limits: RunLimits): Promise<TailRows>;
  /** The rows that there are, `max_rows` at most, the newest of them last; and where those that arrive begin. */
  rowsBefore(limits: RunLimits): Promise<TailRows>;
}
