/** How far a text is read, and what has been read of it. */
import type { ChunkBudget } from './chunk-budget';
import { DateFields, type PlainDate } from './date-fields';

const LONGEST_WEEKDAYS = 32;
const SPACE = ' \t\n\v\f\r';

export class TimeReading {
  at = 0;
  readonly date = new DateFields();
  hour = 0;
  /** The hour is one of twelve. */
  isOfTwelve = false;
  isAfternoon = false;
  minute = 0;
  second = 0;
  micros = 0;
  /** Minutes ahead of UTC; null: none has been read. */
  offset: number | null = null;
  zone = '';
  /** Seconds since 1970, which count alone. */
  epoch: bigint | null = null;

  constructor(
    readonly text: string,
    readonly budget: ChunkBudget,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** The next characters, so many at most. */
  next(count: number): string {
    return this.text.slice(this.at, this.at + count);
  }

  skipSpace(): void {
    while (!this.isAtEnd && SPACE.includes(this.text[this.at]!)) this.at++;
  }

  /** Up to the next space. */
  word(): string {
    const start = this.at;
    while (!this.isAtEnd && !SPACE.includes(this.text[this.at]!)) this.at++;
    return this.text.slice(start, this.at);
  }

  character(expected: string): boolean {
    if (this.text[this.at] !== expected) return false;
    this.at++;
    return true;
  }

  digits(most: number): string {
    const start = this.at;
    while (this.at - start < most && isDigit(this.text[this.at])) this.at++;
    return this.text.slice(start, this.at);
  }

  /** Up to so many characters, of which a minus is one; null: there is no such number. */
  number(most: number, least: number, greatest: number): number | null {
    const isNegative = most > 1 && this.character('-');
    const digits = this.digits(isNegative ? most - 1 : most);
    const value = Number(digits) * (isNegative ? -1 : 1);
    return digits === '' || value < least || value > greatest || Object.is(value, -0) ? null : value;
  }

  /** As strptime reads it: behind blanks, and no digit more than the greatest has room for. */
  numberOfC(most: number, least: number, greatest: number): number | null {
    while (this.character(' '));
    if (!isDigit(this.text[this.at])) return null;
    let [value, left] = [0, most];
    do value = value * 10 + Number(this.text[this.at++]);
    while (--left > 0 && value * 10 <= greatest && isDigit(this.text[this.at]));
    return value < least || value > greatest ? null : value;
  }

  /** The place of a name that is written out, or in three letters. */
  name(names: readonly string[]): number | null {
    const found = names.findIndex((name) => this.next(3).toLowerCase() === name.slice(0, 3).toLowerCase());
    const name = names[found];
    if (name === undefined) return null;
    this.at += this.next(name.length).toLowerCase() === name.toLowerCase() ? name.length : 3;
    return found;
  }

  /** As strptime reads the name of a weekday: with abbreviations of later ones that follow at once. */
  weekday(names: readonly string[]): number | null {
    const text = this.text.slice(this.at, this.at + LONGEST_WEEKDAYS).toLowerCase();
    let [start, end] = [0, 0];
    for (const name of names.map((n) => n.toLowerCase())) {
      if (!text.startsWith(name.slice(0, 3), start)) continue;
      end = Math.max(end, start + (text.startsWith(name, start) ? name.length : 3));
      start += 3;
    }
    this.at += end;
    return end === 0 ? null : 0;
  }

  /** Microseconds since 1970; null: there is no such time. */
  microsOn({ year, month, day }: PlainDate): bigint | null {
    const hour = this.hour + (this.isOfTwelve && this.isAfternoon ? 12 : 0);
    if (hour > 23 || this.second > 60) return null;
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    const millis = date.setUTCHours(hour, this.minute, this.second);
    // The fraction of a 60th second does not count.
    return BigInt(millis) * 1000n + BigInt(this.second === 60 ? 0 : this.micros);
  }
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
