import { civilOf, daysInMonth, daysOf, SECOND, secondsOf } from '../time/calendar';

const UNITS: Readonly<Record<string, Unit>> = {
  ...spellings('second', 's', 'seconds'),
  ...spellings('minute', 'm', 'minutes'),
  ...spellings('hour', 'h', 'hours'),
  ...spellings('day', 'd', 'days'),
  ...spellings('week', 'w', 'weeks'),
  ...spellings('month', 'mm', 'months'),
  ...spellings('year', 'y', 'years'),
};

type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';

function spellings(unit: Unit, ...others: string[]): Record<string, Unit> {
  return Object.fromEntries([unit, ...others].map((name) => [name, unit]));
}

export type Shorthand =
  | { readonly kind: 'now' | 'today' | 'yesterday' }
  | { readonly kind: 'this'; readonly unit: Unit }
  | { readonly kind: 'last'; readonly count: number; readonly unit: Unit };

const SPELLING = /^(?:(now|today|yesterday)|this@([a-z]+)|last@([0-9]{0,4})([a-z]+))$/;

export function readShorthand(text: string): Shorthand | null {
  const found = SPELLING.exec(text);
  if (found === null) return null;
  const [, name, thisUnit, count, lastUnit] = found;
  if (name !== undefined) return { kind: name as 'now' | 'today' | 'yesterday' };
  const unit = unitNamed(thisUnit ?? lastUnit ?? '');
  if (unit === null) return null;
  if (thisUnit !== undefined) return { kind: 'this', unit };
  return { kind: 'last', count: count === undefined || count === '' ? 1 : Number(count), unit };
}

function unitNamed(name: string): Unit | null {
  return Object.hasOwn(UNITS, name) ? (UNITS[name] ?? null) : null;
}

/** The one spelling under which a shorthand is stored: singular long unit, count written out. */
export function shorthandText(shorthand: Shorthand): string {
  switch (shorthand.kind) {
    case 'this':
      return `this@${shorthand.unit}`;
    case 'last':
      return `last@${shorthand.count}${shorthand.unit}`;
    default:
      return shorthand.kind;
  }
}

/**
 * Both ends of the window, in microseconds, for a clock in microseconds that is first cut to whole seconds. They may
 * lie outside the calendar: the caller checks.
 */
export function windowOf(shorthand: Shorthand, clock: bigint): readonly [bigint, bigint] {
  const now = secondsOf(clock);
  const midnight = floorTo(now, 86_400);
  const micros = (seconds: number) => BigInt(seconds) * SECOND;
  switch (shorthand.kind) {
    case 'now':
      return [micros(now), micros(now)];
    case 'today':
      return [micros(midnight), micros(midnight + 86_400) - 1n];
    case 'yesterday':
      return [micros(midnight - 86_400), micros(midnight) - 1n];
    case 'this':
      return [micros(startOf(shorthand.unit, now)), micros(now)];
    case 'last':
      return [micros(back(shorthand.count, shorthand.unit, now)), micros(now)];
  }
}

const floorTo = (seconds: number, step: number) => Math.floor(seconds / step) * step;

function startOf(unit: Unit, now: number): number {
  const days = Math.floor(now / 86_400);
  switch (unit) {
    case 'second':
      return now;
    case 'minute':
      return floorTo(now, 60);
    case 'hour':
      return floorTo(now, 3600);
    case 'day':
      return days * 86_400;
    case 'week':
      // Day 0 was a Thursday, three days after a Monday.
      return (Math.floor((days + 3) / 7) * 7 - 3) * 86_400;
    case 'month':
    case 'year': {
      const { year, month } = civilOf(days);
      return daysOf(year, unit === 'month' ? month : 1, 1) * 86_400;
    }
  }
}

/** The start of the current second, minute or hour, else today's midnight, moved `count` units back. */
function back(count: number, unit: Unit, now: number): number {
  const days = Math.floor(now / 86_400);
  switch (unit) {
    case 'second':
      return now - count;
    case 'minute':
      return floorTo(now, 60) - count * 60;
    case 'hour':
      return floorTo(now, 3600) - count * 3600;
    case 'day':
      return (days - count) * 86_400;
    case 'week':
      return (days - count * 7) * 86_400;
    case 'month': {
      const { year, month, day } = civilOf(days);
      const total = year * 12 + (month - 1) - count;
      const target = { year: Math.floor(total / 12), month: (((total % 12) + 12) % 12) + 1 };
      return daysOf(target.year, target.month, Math.min(day, daysInMonth(target.year, target.month))) * 86_400;
    }
    case 'year': {
      const { year, month, day } = civilOf(days);
      // 29 February of a common year is the day after 28 February: 1 March.
      return daysOf(year - count, month, day) * 86_400;
    }
  }
}
