/** Where a listener of a live tail stands, as the ids of its events have it (docs/tail.md). */
import type { Secret } from '../../config';
import { ServiceError } from '../../errors';
import { SealedTexts } from '../sealed-texts';

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
