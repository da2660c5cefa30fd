/** INTERVALs that are written as `1-2 3 4:5:6.789` or a shorter form of that, or by ISO 8601. */
import { scalarFunction } from './scalar-function';

/** Years to months, with what may follow them; days and a time; a time. */
const FORMS = [
  /^(?<months>[+-]?)(?<year>\d+)-(?<month>\d+)(?: (?<day>[+-]?\d+)(?: (?<time>[+-]?)(?<hour>\d+)(?::(?<minute>\d+)(?::(?<second>\d+)(?:\.(?<fraction>\d{1,9}))?)?)?)?)?$/,
  /^(?<day>[+-]?\d+) (?<time>[+-]?)(?<hour>\d+):(?<minute>\d+)(?::(?<second>\d+)(?:\.(?<fraction>\d{1,9}))?)?$/,
  /^(?<time>[+-]?)(?<hour>\d+):(?<minute>\d+):(?<second>\d+)(?:\.(?<fraction>\d{1,9}))?$/,
];
const ISO = /^P(?<date>(?:-?\d+[YMWD])*)(?<clock>T(?:-?\d+(?:[.,]\d{1,9})?[HMS])*)?$/;
const ISO_PART = /(-?)(\d+)(?:[.,](\d+))?([A-Z])/g;

const MICROS = { H: 3_600_000_000n, M: 60_000_000n, S: 1_000_000n } as const;
const MONTHS: Readonly<Record<string, bigint>> = { Y: 12n, M: 1n };
const DAYS: Readonly<Record<string, bigint>> = { W: 7n, D: 1n };

interface Interval {
  readonly months: bigint;
  readonly days: bigint;
  readonly micros: bigint;
}

/** What GoogleSQL lets an INTERVAL be, either way. */
const MOST: Interval = { months: 120_000n, days: 3_660_000n, micros: 87_840_000n * MICROS.H };

/** Months, days and microseconds with a blank between them; NULL: the text, of at most 100 bytes, is no INTERVAL. */
export const intervalParts = scalarFunction(['text'], 'text', (text) => {
  const interval = readIso(text) ?? readForms(text);
  if (interval === null) return null;
  const { months, days, micros } = interval;
  const isWithin = magnitude(months) <= MOST.months && magnitude(days) <= MOST.days && magnitude(micros) <= MOST.micros;
  return isWithin ? `${months} ${days} ${micros}` : null;
});

function readForms(text: string): Interval | null {
  for (const form of FORMS) {
    const groups = form.exec(text)?.groups;
    if (groups === undefined) continue;
    const of = (name: string): bigint => BigInt(groups[name] ?? 0);
    const time =
      of('hour') * MICROS.H +
      of('minute') * MICROS.M +
      of('second') * MICROS.S +
      fractionOf(groups['fraction'], groups['time']);
    return {
      months: signed(groups['months'], of('year') * 12n + of('month')),
      // BigInt reads no plus.
      days: BigInt((groups['day'] ?? '0').replace('+', '')),
      micros: signed(groups['time'], time),
    };
  }
  return null;
}

function readIso(text: string): Interval | null {
  const { date = '', clock } = ISO.exec(text)?.groups ?? {};
  if (date === '' && clock === undefined) return null;
  let [months, days, micros] = [0n, 0n, 0n];
  for (const [, sign, digits = '', , unit = ''] of date.matchAll(ISO_PART)) {
    months += signed(sign, BigInt(digits) * (MONTHS[unit] ?? 0n));
    days += signed(sign, BigInt(digits) * (DAYS[unit] ?? 0n));
  }
  for (const [, sign, digits = '', fraction, unit] of (clock ?? '').matchAll(ISO_PART)) {
    if (fraction !== undefined && unit !== 'S') return null;
    micros += signed(sign, BigInt(digits) * MICROS[unit as keyof typeof MICROS] + fractionOf(fraction, sign));
  }
  return { months, days, micros };
}

/** Microseconds, and no part of one: of a negative number the next below it. */
function fractionOf(digits = '', sign = ''): bigint {
  return (BigInt(digits.padEnd(9, '0')) + (sign === '-' ? 999n : 0n)) / 1000n;
}

function signed(sign: string | undefined, value: bigint): bigint {
  return sign === '-' ? -value : value;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
