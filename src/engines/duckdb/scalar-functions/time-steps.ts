/** What each element of a format reads of a text. */
import { knownZone } from './known-zones';
import { DAYS, MONTHS } from './time-elements';
import type { TimeReading } from './time-fields';

export interface Step {
  /** Whether what the element reads is there. */
  readonly take: (reading: TimeReading) => boolean;
  /** It reads nothing but white space, if there is any. */
  readonly isBlank?: true;
}

/** An element's step, by its place among the elements, and whether another follows at once. */
type Element = (position: number, isFollowed: boolean) => Step['take'];

/** Minutes. */
const LARGEST_OFFSET = 14 * 60;
/** Digits of a fraction that count. */
const OF_MICROS = 6;
const LONGEST_FRACTION = Infinity;

type Read = (reading: TimeReading) => number | null;
type Use = (reading: TimeReading, value: number) => void;

function number(read: Read, use: Use): Step['take'] {
  return (reading) => {
    const value = read(reading);
    if (value !== null) use(reading, value);
    return value !== null;
  };
}

const upTo =
  (most: number, least: number, greatest: number): Read =>
  (reading) =>
    reading.number(most, least, greatest);
/** As strptime reads it. */
const ofC =
  (most: number, least: number, greatest: number): Read =>
  (reading) =>
    reading.numberOfC(most, least, greatest);

/** Taken as strptime reads it, and read once more where it counts: NaN where there is no such number then. */
const twice =
  (most: number, least: number, greatest: number): Read =>
  (reading) => {
    const start = reading.at;
    const value = reading.number(most, least, greatest) ?? NaN;
    reading.at = start;
    return reading.numberOfC(most, least, greatest) === null ? null : value;
  };

// ---------------------------------------------------------------------------- what a number is

const toMonth: Use = (r, month) => (r.date.month = month);
const toDay: Use = (r, day) => (r.date.day = day);
const toHour: Use = (r, hour) => (r.hour = hour);
const toMinute: Use = (r, minute) => (r.minute = minute);
const toSecond: Use = (r, second) => (r.second = second);
const toTwelfth: Use = (r, hour) => {
  r.hour = hour % 12;
  r.isOfTwelve = true;
};

/** The step, after which year, month or day are those of this element. */
const datedBy =
  (step: Step['take'], ...what: readonly ('year' | 'month' | 'day')[]): Element =>
  (position) =>
  (reading) => {
    if (!step(reading)) return false;
    reading.date.gives(position, ...what);
    return true;
  };

/** The step, after which an hour is one of twenty-four. */
const of24 =
  (step: Step['take']): Step['take'] =>
  (reading) => {
    reading.isOfTwelve = false;
    return step(reading);
  };

/** A year, or a century: a digit more is part of it where no other element follows. */
const full =
  (digits: number, use: Use): Element =>
  (position, isFollowed) => {
    const most = isFollowed ? digits : digits + 1;
    return datedBy(number(upTo(most, 0, isFollowed ? 10 ** digits - 1 : 10 ** digits), use), 'year')(
      position,
      isFollowed,
    );
  };

type PartName = Parameters<TimeReading['date']['addPart']>[0];

const part =
  (name: PartName, read: Read): Element =>
  (position) =>
    number(read, (r, value) => {
      r.date.addPart(name, value, position);
    });

// ---------------------------------------------------------------------------- what is more than a number

const all =
  (...steps: readonly Step['take'][]): Step['take'] =>
  (reading) =>
    steps.every((step) => step(reading));
const literal =
  (character: string): Step['take'] =>
  (reading) =>
    reading.character(character);
const blank: Step['take'] = (reading) => {
  reading.skipSpace();
  return true;
};

const halfDay: Step['take'] = (reading) => {
  const half = reading.next(2).toLowerCase();
  reading.at += 2;
  reading.isAfternoon = half === 'pm';
  return half === 'am' || half === 'pm';
};

/** `+HH`, and minutes of two digits behind it, or behind a colon. */
const offset =
  (colon: boolean): Step['take'] =>
  (reading) => {
    const [written, hours] = /^[+-]([01]\d|2[0-3])/.exec(reading.next(3)) ?? [];
    if (written === undefined) return false;
    reading.at += 3;
    const [minutes = '', count = '0'] = (colon ? /^:?([0-5]\d)/ : /^([0-5]\d)/).exec(reading.next(3)) ?? [];
    reading.at += minutes.length;
    const size = Number(hours) * 60 + Number(count);
    reading.offset = written.startsWith('-') ? -size : size;
    return size <= LARGEST_OFFSET;
  };

const zulu: Step['take'] = (reading) => {
  if (!reading.character('Z')) return offset(true)(reading);
  reading.offset = 0;
  return true;
};

const zone: Step['take'] = (reading) => {
  const name = reading.word();
  const found = knownZone(name, reading.budget);
  if (found === undefined) reading.budget.exhaust();
  // SQL takes the name of a zone; an offset has other forms here.
  const isOffset = /[+-]\d/.test(name) && !/^[A-Z][a-z]/.test(name);
  reading.zone = isOffset ? '' : name;
  reading.offset = isOffset && found ? Number(found(0n) / 60_000_000n) : null;
  return !!found;
};

/** A second, and up to so many digits of it. */
const fractional = (most: number): Step['take'] => {
  const second = number(upTo(2, 0, 60), toSecond);
  return (reading) => {
    if (!second(reading)) return false;
    if (most === 0 || !reading.character('.')) return true;
    const digits = reading.digits(most);
    reading.micros = Number(digits.slice(0, OF_MICROS).padEnd(OF_MICROS, '0'));
    return digits !== '';
  };
};

const quarter: Use = (reading, value) => {
  reading.date.month = value * 3 - 2;
  reading.date.day = 1;
};

const month = number(
  (r) => r.name(MONTHS),
  (r, at) => (r.date.month = at + 1),
);
const twelfth = all(blank, number(upTo(2, 1, 12), toTwelfth));
const shortYear = datedBy(
  number(upTo(2, 0, 99), (r, year) => {
    r.date.setShortYear(year);
  }),
  'year',
);
const fullYear = full(4, (r, year) => {
  r.date.setYear(year);
});
const century = full(2, (r, value) => {
  r.date.setCentury(value);
});
const fourDigits = datedBy(
  (reading) =>
    /^\d{4}/.test(reading.next(4)) &&
    number(upTo(4, 0, 9999), (r, year) => {
      r.date.setYearAlone(year);
    })(reading),
  'year',
);
const weekdayName = part('weekday', (r) => r.weekday(DAYS));

// ---------------------------------------------------------------------------- as strptime reads them

const dayOfC = number(ofC(2, 1, 31), toDay);
const monthOfC = number(ofC(2, 1, 12), toMonth);
const hourOfC = number(ofC(2, 0, 23), toHour);
const minuteOfC = number(ofC(2, 0, 59), toMinute);
const secondOfC = number(ofC(2, 0, 61), toSecond);
const yearOfC = number(ofC(4, 0, 9999), (r, year) => {
  r.date.setSince1900(year - 1900);
});
const shortYearOfC = number(ofC(2, 0, 99), (r, year) => {
  r.date.setSince1900(year < 69 ? year + 100 : year);
});
const clockOfC = of24(all(hourOfC, literal(':'), minuteOfC, literal(':'), secondOfC));
const shortDateOfC = all(monthOfC, literal('/'), dayOfC, literal('/'), shortYearOfC);
const textOfC = all(
  ...[
    number(
      (r) => r.weekday(DAYS),
      () => undefined,
    ),
    blank,
    month,
    blank,
    dayOfC,
    blank,
  ],
  ...[clockOfC, blank, yearOfC],
);

const plain =
  (take: Step['take']): Element =>
  () =>
    take;

const ELEMENTS: Readonly<Record<string, Element>> = {
  '%': plain(literal('%')),
  A: weekdayName,
  a: weekdayName,
  B: datedBy(month, 'month'),
  b: datedBy(month, 'month'),
  h: datedBy(month, 'month'),
  C: century,
  c: datedBy(textOfC, 'year', 'month', 'day'),
  D: datedBy(shortDateOfC, 'year', 'month', 'day'),
  d: datedBy(number(upTo(2, 1, 31), toDay), 'day'),
  e: datedBy(dayOfC, 'day'),
  F: datedBy(all(yearOfC, literal('-'), monthOfC, literal('-'), dayOfC), 'year', 'month', 'day'),
  G: part('ISO year', upTo(20, 0, 99_999)),
  g: part('ISO year', (r) => {
    const year = r.number(2, 0, 99);
    return year === null ? null : year + (year < 69 ? 2000 : 1900);
  }),
  H: plain(of24(number(upTo(2, 0, 23), toHour))),
  I: plain(twelfth),
  J: part('ISO day', upTo(3, 1, 371)),
  j: part('day', twice(3, 1, 366)),
  k: plain(hourOfC),
  l: plain(twelfth),
  M: plain(number(upTo(2, 0, 59), toMinute)),
  m: datedBy(number(upTo(2, 1, 12), toMonth), 'month'),
  P: plain(halfDay),
  p: plain(halfDay),
  Q: datedBy(number(upTo(1, 1, 4), quarter), 'month', 'day'),
  R: plain(of24(all(hourOfC, literal(':'), minuteOfC))),
  r: plain(
    all(
      ...[twelfth, literal(':'), number(upTo(2, 0, 59), toMinute), literal(':')],
      ...[number(upTo(2, 0, 60), toSecond), blank, halfDay],
    ),
  ),
  S: plain(number(upTo(2, 0, 60), toSecond)),
  s: datedBy(
    number(upTo(12, -1e12, 1e12), (r, seconds) => (r.epoch = BigInt(seconds))),
    ...(['year', 'month', 'day'] as const),
  ),
  T: plain(clockOfC),
  U: part('Sunday week', twice(2, 0, 53)),
  u: part('weekday', ofC(1, 1, 7)),
  V: part('ISO week', upTo(2, 1, 53)),
  W: part('Monday week', twice(2, 0, 53)),
  w: part('weekday', ofC(1, 0, 6)),
  X: plain(clockOfC),
  x: datedBy(shortDateOfC, 'year', 'month', 'day'),
  Y: fullYear,
  y: shortYear,
  Z: plain(zone),
  z: plain(offset(false)),
  EC: century,
  Ec: plain(textOfC),
  EX: plain(clockOfC),
  Ex: plain(shortDateOfC),
  EY: fullYear,
  Ey: shortYear,
  Ez: plain(zulu),
  E4Y: fourDigits,
  'E*S': plain(fractional(LONGEST_FRACTION)),
  OB: plain(month),
  Ob: plain(month),
  Od: plain(dayOfC),
  Oe: plain(dayOfC),
  OH: plain(of24(hourOfC)),
  Oh: plain(month),
  OI: plain(twelfth),
  OM: plain(minuteOfC),
  Om: plain(monthOfC),
  OS: plain(secondOfC),
  OU: part('Sunday week', upTo(2, 0, 53)),
  Ou: part('weekday', upTo(1, 1, 7)),
  OV: part('ISO week', upTo(2, 1, 53)),
  OW: part('Monday week beside ISO 8601', upTo(2, 0, 53)),
  Ow: part('weekday', upTo(1, 0, 6)),
  Oy: plain(shortYearOfC),
  ...Object.fromEntries(Array.from({ length: OF_MICROS + 1 }, (_, n) => [`E${n}S`, plain(fractional(n))])),
};

const TOKEN = /%(E(?:4Y|[*\d]S|[^])|O[^]|[^])?|[ \t\n\v\f\r]+|[^]/g;
const SPACES = /^[ \t\n\v\f\r]+$/;

/** The steps of a format: an element that there is not finds nothing. */
export function stepsOf(format: string): readonly Step[] {
  let position = 0;
  return [...format.matchAll(TOKEN)].map(({ 0: token, 1: element, index }): Step => {
    if (SPACES.test(token) || element === 'n' || element === 't') return { take: blank, isBlank: true };
    if (!token.startsWith('%')) return { take: literal(token) };
    const isFollowed = format[index + token.length] === '%';
    return { take: ELEMENTS[element ?? '']?.(++position, isFollowed) ?? (() => false) };
  });
}
