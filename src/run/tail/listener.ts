/** One client of a live tail. */
import type { Endpoint } from '../../endpoints/endpoint';
import { ServiceError } from '../../errors';
import type { Key } from '../../keys/key';
import { type Cursors, type TailPosition, eventText, type EventWriter, type TailEnd } from './types';

/** Bytes that a client may have left unread when the next rows come. */
const MOST_PENDING = 1024 * 1024;
/** Milliseconds that a client has to take the last event; and so many where nothing more may be sent to it. */
const PATIENCE = 30_000;
const LAST_PATIENCE = 1_000;
/** Milliseconds after which a client that lost the stream comes again, at least; and so many more at random. */
const RETRY = 1_000;
const SPREAD = 2_000;

const PATIENCES: Partial<Record<TailEnd, number>> = { slow_reader: PATIENCE, failed: PATIENCE };

/** What `failed` says beside its message, in the words of error answers. */
export interface TailFailure {
  readonly reason: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export interface ListenerOptions {
  readonly key: Key;
  readonly endpoint: Endpoint;
  readonly writer: EventWriter;
  /** The key that its credentials are now. @throws ServiceError unauthenticated */
  readonly authenticate: (before: Key) => Key;
  /** What its positions are good for: those of listeners with the same are the same. */
  readonly purpose: string;
  readonly cursors: Cursors;
  readonly onEnd: (cause: TailEnd) => void;
}

/** Of a position behind a whole evaluation. */
export type Place = Pick<TailPosition, 'epoch' | 'after'>;

export class Listener {
  /** As it was when it was last looked at. */
  key: Key;
  #ended = false;
  /** `performance.now()` of the last event. */
  #last = performance.now();

  /** @param position behind what it was given */
  constructor(
    private readonly options: ListenerOptions,
    public position: Place,
  ) {
    this.key = options.key;
    void options.writer.closed.then(() => this.#end('client_left'));
  }

  get endpoint(): Endpoint {
    return this.options.endpoint;
  }

  get purpose(): string {
    return this.options.purpose;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Milliseconds since the last event. */
  get idle(): number {
    return performance.now() - this.#last;
  }

  /** The key that its credentials are now. @throws ServiceError unauthenticated */
  authenticate(before: Key): Key {
    return this.options.authenticate(before);
  }

  /** A position as an id of its events. */
  idOf(position: TailPosition): string {
    return this.options.cursors.write(position, this.options.purpose);
  }

  /** The first event. @param position null: its place follows behind the rows that come first */
  begin(position: TailPosition | null): void {
    this.#send(eventText({ retry: retryTime(), ...(position === null ? {} : { id: this.idOf(position) }) }));
  }

  /** Sends events, or cuts a client off that has not taken those before. @param bytes shared with other listeners */
  give(bytes: Uint8Array): void {
    if (this.options.writer.pending > MOST_PENDING) this.#cutOff();
    else this.#send(bytes);
  }

  /** As `give`; resolves when the client has taken it. */
  async giveWhenRead(bytes: Uint8Array): Promise<void> {
    this.#send(bytes);
    try {
      await this.options.writer.drained();
    } catch (error) {
      if (error instanceof ServiceError) this.#cutOff();
      else this.#end('client_left');
    }
  }

  /** Shows that the connection is alive, and moves the client's place on. */
  beat(): void {
    const { epoch, after } = this.position;
    const id = this.idOf({ epoch, after, upTo: after, given: 0 });
    if (this.options.writer.pending === 0) this.#send(`: no rows\n${eventText({ id })}`);
  }

  /** Says something that is no event. */
  note(text: string): void {
    if (this.options.writer.pending === 0) this.#send(`: ${text}\n\n`);
  }

  /** Ends the stream with an event that says why. */
  end(cause: TailEnd, message: string, error: TailFailure | null = null): void {
    if (this.#ended) return;
    const data = JSON.stringify({ cause, message, ...error });
    const retry = retryTime() + (error?.retryAfter ?? 0) * 1000;
    this.options.writer.end(Buffer.from(eventText({ event: 'end', data, retry })), PATIENCES[cause] ?? LAST_PATIENCE);
    this.#end(cause);
  }

  #cutOff(): void {
    this.end('slow_reader', 'The client has not taken the rows that it was sent.');
  }

  #end(cause: TailEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.options.onEnd(cause);
  }

  #send(text: string | Uint8Array): void {
    if (this.#ended) return;
    this.#last = performance.now();
    this.options.writer.write(typeof text === 'string' ? Buffer.from(text) : text);
  }
}

function retryTime(): number {
  return RETRY + Math.floor(Math.random() * SPREAD);
}
