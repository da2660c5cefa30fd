/** What a clock and a calendar show at an instant. */

const DAY_MILLIS = 86_400_000;

/** Of years and weeks by ISO 8601. */
interface IsoWeek {
  readonly year: number;
  readonly week: number;
}

/** A civil time, and how far it is from UTC. */
export class CivilClock {
  readonly #date: Date;
  readonly micros: number;
  /** Seconds since 1970 of the civil time, and of the instant. */
  readonly civilSeconds: bigint;
  readonly seconds: bigint;
  /** Minutes ahead of UTC. */
  readonly offset: number;

  /** @param civil and `instant`: microseconds since 1970 */
  constructor(civil: bigint, instant: bigint) {
    // An offset of long ago has seconds, which neither it nor the time shows.
    const minutes = (civil - instant) / 60_000_000n;
    const shown = instant + minutes * 60_000_000n;
    this.offset = Number(minutes);
    this.civilSeconds = floored(shown, 1_000_000n);
    this.seconds = floored(instant, 1_000_000n);
    this.micros = Number(shown - this.civilSeconds * 1_000_000n);
    this.#date = new Date(Number(this.civilSeconds) * 1000);
  }

  get year(): number {
    return this.#date.getUTCFullYear();
  }

  /** From 1. */
  get month(): number {
    return this.#date.getUTCMonth() + 1;
  }

  get day(): number {
    return this.#date.getUTCDate();
  }

  /** From Sunday, 0. */
  get weekday(): number {
    return this.#date.getUTCDay();
  }

  /** From 1. */
  get dayOfYear(): number {
    return (this.#midnight() - yearStart(this.year)) / DAY_MILLIS + 1;
  }

  get hour(): number {
    return this.#date.getUTCHours();
  }

  get minute(): number {
    return this.#date.getUTCMinutes();
  }

  get second(): number {
    return this.#date.getUTCSeconds();
  }

  /** Weeks that begin on `first`; days before the first of these are in week 0. */
  week(first: 0 | 1): number {
    return Math.floor((this.dayOfYear + 6 - ((this.weekday - first + 7) % 7)) / 7);
  }

  get isoWeek(): IsoWeek {
    const thursday = new Date(this.#midnight() + (3 - ((this.weekday + 6) % 7)) * DAY_MILLIS);
    const year = thursday.getUTCFullYear();
    return { year, week: Math.floor((thursday.getTime() - yearStart(year)) / DAY_MILLIS / 7) + 1 };
  }

  #midnight(): number {
    return Math.floor(this.#date.getTime() / DAY_MILLIS) * DAY_MILLIS;
  }
}

/** Milliseconds since 1970; `Date.UTC` takes the years before 100 for those of the last century. */
export function yearStart(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}

function floored(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}
