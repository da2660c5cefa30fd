/** What a live tail needs of HTTP, and why one ends. */
import type { RunRequest } from '../types';

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
