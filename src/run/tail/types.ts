/** What a live tail needs of HTTP: where a listener stands, the text of its events, and why a stream ends (docs/querying.md). */
import type { Secret } from '../../config';
import { ServiceError } from '../../errors';
import { SealedTexts } from '../sealed-texts';
import type { RunLimits, SharedNames } from '@logquay/duckdb-engine/concurrency';
import type { ArrivedRange } from '@logquay/duckdb-engine/contract';
import type { RequestPlan, RunRequest } from '../types';

/** Records that had arrived, as the engine counts them. */
export interface TailPosition {
  /** Names the count. */
  readonly epoch: string;
  /** Rows of the records behind these have not been given, or `given` of them. */
  readonly after: number;
  /** Those of whose rows `given` were given: the end of one evaluation. */
  readonly upTo: number;
  readonly given: number;
}

/** Milliseconds for which a cursor is good. */
const LONGEST = 60 * 60_000;
/** Digits of numbers: every cursor is as long as any other. */
const DIGITS = 16;

export class Cursors {
  readonly #sealed: SealedTexts;

  /** @param secret null: one of this process. @param now milliseconds since the epoch */
  constructor(
    secret: Secret | null,
    private readonly now: () => number = Date.now,
  ) {
    this.#sealed = new SealedTexts(secret);
  }

  /** @param purpose all that the position depends on */
  write({ epoch, after, upTo, given }: TailPosition, purpose: string): string {
    const numbers = [after, upTo, given, this.now()].map((number) => String(number).padStart(DIGITS, '0'));
    return this.#sealed.seal([epoch, ...numbers].join(' '), purpose);
  }

  /** @throws ServiceError invalidParameter for a cursor of another request, key, service or time */
  read(cursor: string, purpose: string): TailPosition {
    const text = this.#sealed.open(cursor, purpose);
    if (text === null) {
      throw refused(
        'The Last-Event-ID is not one of this request: other parameters, another key, or an endpoint that has changed.',
      );
    }
    const [epoch = '', ...numbers] = text.split(' ');
    const [after = 0, upTo = 0, given = 0, at = 0] = numbers.map(Number);
    if (this.now() - at > LONGEST) throw refused('The Last-Event-ID is more than an hour old.');
    return { epoch, after, upTo, given };
  }
}

/** A position that cannot be gone on from. */
export function refused(message: string): ServiceError {
  return new ServiceError('invalidParameter', message, {
    parameter: 'Last-Event-ID',
    hint: 'Begin without it, and query what may have been missed.',
  });
}

/** An event as `text/event-stream` has it. */
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
  /** The rows of a range, or of its beginning. @param payers keys of which any may give a slot; default: that of the limits @throws as Engine.runArrived, with faults for the caller */
  rows(range: Omit<ArrivedRange, 'table'>, limits: RunLimits, payers?: SharedNames): Promise<TailRows>;
  /** The rows that there are, `max_rows` at most, the newest of them last; and where those that arrive begin. */
  rowsBefore(limits: RunLimits): Promise<TailRows>;
}
