/** The fields of a date as a text gives them: year, month and day, a day of the year or a week, of which the last counts. */
import { yearStart } from './civil-clock';

const DAY_MILLIS = 86_400_000;

type PartName =
  | 'weekday'
  | 'Sunday week'
  | 'Monday week'
  | 'Monday week beside ISO 8601'
  | 'day'
  | 'ISO year'
  | 'ISO week'
  | 'ISO day';

/** What is read beside year, month and day, and where among the elements of the format. */
interface DatePart {
  readonly value: number;
  readonly position: number;
}

export interface PlainDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export class DateFields {
  month = 1;
  day = 1;
  /** Of 1900, or of the century. */
  #year = 70;
  #century = 0;
  #usesCentury = false;
  #centuryIsWritten = false;
  /** Positions of the last elements that give each. */
  readonly #last = { year: -1, month: -1, day: -1 };
  /** Beside a part of the calendar those of ISO 8601 do not count. */
  #isCivil = false;
  readonly #parts = new Map<PartName, DatePart>();

  setYear(year: number): void {
    this.setYearAlone(year);
    this.#centuryIsWritten = false;
  }

  /** A written century counts on for two digits that come later. */
  setYearAlone(year: number): void {
    this.#year = year - 1900;
    this.#usesCentury = false;
  }

  setShortYear(year: number): void {
    this.#year = year;
    if (!this.#centuryIsWritten) this.#century = year < 69 ? 20 : 19;
    this.#usesCentury = true;
  }

  setCentury(century: number): void {
    if (!this.#usesCentury) this.#year = 0;
    this.#century = century;
    this.#usesCentury = true;
    this.#centuryIsWritten = true;
  }

  /** Years since 1900, as strptime sets them, which knows of no century. */
  setSince1900(years: number): void {
    this.#year = years;
  }

  /** The element at `position` gives these. */
  gives(position: number, ...what: readonly ('year' | 'month' | 'day')[]): void {
    this.#isCivil = true;
    for (const field of what) this.#last[field] = position;
  }

  addPart(name: PartName, value: number, position: number): void {
    if (name === 'day' || name.endsWith('day week')) this.#isCivil = true;
    this.#parts.set(name === 'Monday week beside ISO 8601' ? 'Monday week' : name, { value, position });
  }

  /** Null: there is no such date, or none that the reference knows. */
  resolved(): PlainDate | null {
    const year = this.#usesCentury ? this.#century * 100 + this.#year : 1900 + this.#year;
    const date = { year, month: this.month, day: this.day };
    const isoYear = this.#isCivil ? undefined : this.#parts.get('ISO year');
    const found = isoYear === undefined ? this.#ofParts(date) : this.#ofIsoYear(isoYear.value);
    return found !== null && isDate(found) ? found : null;
  }

  /** Of a day of the year, and a week behind which a weekday may stand, the last one. */
  #chosen(day: DatePart | undefined, week: DatePart | undefined): 'day' | 'week' | null {
    const hasWeekday = this.#parts.has('weekday');
    if (day !== undefined && (day.position > (week?.position ?? -1) || !hasWeekday)) return 'day';
    return week === undefined ? null : 'week';
  }

  #ofIsoYear(isoYear: number): PlainDate | null {
    const [day, week] = [this.#parts.get('ISO day'), this.#parts.get('ISO week')];
    const chosen = this.#chosen(day, week);
    // The reference has no weeks of ISO 8601 yet.
    if (chosen === 'week') return null;
    const [start, next] = [isoYearStart(isoYear), isoYearStart(isoYear + 1)];
    const millis = start + ((chosen === 'day' ? (day?.value ?? 1) : 1) - 1) * DAY_MILLIS;
    return millis < next ? dateOf(millis) : null;
  }

  #ofParts(date: PlainDate): PlainDate | null {
    const day = this.#parts.get('day');
    const week = this.#week();
    const chosen = this.#chosen(day, week);
    if (chosen === null) return date;
    const found = chosen === 'day' ? dayOfYear(date.year, day?.value ?? 1) : this.#dayOfWeek(date.year, week);
    const position = (chosen === 'day' ? day : week)?.position ?? -1;
    if (found === null) return null;
    const last = this.#last;
    return {
      year: last.year < position ? found.year : date.year,
      month: last.month < position ? found.month : date.month,
      day: last.day < position ? found.day : date.day,
    };
  }

  #week(): (DatePart & { readonly first: 0 | 1 }) | undefined {
    const [sunday, monday] = [this.#parts.get('Sunday week'), this.#parts.get('Monday week')];
    if (monday === undefined || (sunday !== undefined && sunday.position > monday.position))
      return sunday === undefined ? undefined : { ...sunday, first: 0 };
    return { ...monday, first: 1 };
  }

  /** The first day of a week; the reference knows no other yet. */
  #dayOfWeek(year: number, week: (DatePart & { readonly first: 0 | 1 }) | undefined): PlainDate | null {
    if (week === undefined || this.#parts.has('weekday')) return null;
    const [start, end] = [yearStart(year), yearStart(year + 1) - DAY_MILLIS];
    const first = start + ((week.first - new Date(start).getUTCDay() + 7) % 7) * DAY_MILLIS;
    const least = first === start ? 1 : 0;
    const most = (end - first) / DAY_MILLIS >= 364 ? 53 : 52;
    return week.value >= least && week.value <= most ? dateOf(first + (week.value - 1) * 7 * DAY_MILLIS) : null;
  }
}

function dayOfYear(year: number, day: number): PlainDate | null {
  const date = dateOf(yearStart(year) + (day - 1) * DAY_MILLIS);
  return date.year === year ? date : null;
}

/** The Monday of the week with January 4. */
function isoYearStart(year: number): number {
  const fourth = yearStart(year) + 3 * DAY_MILLIS;
  return fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MILLIS;
}

function dateOf(millis: number): PlainDate {
  const date = new Date(millis);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function isDate({ year, month, day }: PlainDate): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
