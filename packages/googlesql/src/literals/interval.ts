/** Text of INTERVAL literals, `INTERVAL '1-2 3' YEAR TO DAY`, in the canonical form `Y-M D H:M:S[.F]`. */

const UNITS = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND'] as const;

/** The separator before each unit where another precedes it. */
const BEFORE: Readonly<Record<string, string>> = { MONTH: '-', DAY: ' ', HOUR: ' ', MINUTE: ':', SECOND: ':' };

/** Months in a unit of years, and what smaller units are in microseconds. */
const SCALES: Readonly<Record<string, { readonly months?: number; readonly days?: number; readonly micros?: number }>> =
  {
    YEAR: { months: 12 },
    QUARTER: { months: 3 },
    MONTH: { months: 1 },
    WEEK: { days: 7 },
    DAY: { days: 1 },
    HOUR: { micros: 3_600_000_000 },
    MINUTE: { micros: 60_000_000 },
    SECOND: { micros: 1_000_000 },
    MILLISECOND: { micros: 1000 },
    MICROSECOND: { micros: 1 },
  };

/** The canonical text, or null where the text is no interval of these units. */
export function intervalText(text: string, from: string, to: string | null): string | null {
  const total = to === null ? single(text, from) : range(text, from, to);
  return total === null ? null : print(total);
}

interface Total {
  months: number;
  days: number;
  nanos: bigint;
}

function single(text: string, unit: string): Total | null {
  const scale = SCALES[unit];
  const fraction = unit === 'SECOND' ? '(?:\\.(\\d{1,9}))?' : '()';
  const match = new RegExp(`^([+-]?)(\\d{1,18})${fraction}$`).exec(text);
  if (scale === undefined || match === null) return null;
  const total: Total = { months: 0, days: 0, nanos: 0n };
  add(total, unit, match[2] ?? '0', match[1] === '-', match[3]);
  return total;
}

function range(text: string, from: string, to: string): Total | null {
  const names: readonly string[] = UNITS;
  const first = names.indexOf(from);
  const last = names.indexOf(to);
  if (first < 0 || last <= first) return null;
  const units = names.slice(first, last + 1);
  // A sign stands before the years and months, before the days, and before the time.
  const signed = (unit: string): boolean => unit === units[0] || unit === 'DAY' || unit === 'HOUR';
  const pattern = units
    .map((unit, i) => {
      const sign = signed(unit) ? '([+-]?)' : '';
      const digits = unit === 'SECOND' ? '(\\d+)(?:\\.(\\d{1,9}))?' : '(\\d+)';
      return `${i === 0 ? '' : BEFORE[unit]}${sign}${digits}`;
    })
    .join('');
  const match = new RegExp(`^${pattern}$`).exec(text);
  if (match === null) return null;
  const total: Total = { months: 0, days: 0, nanos: 0n };
  let at = 1;
  let negative = false;
  for (const unit of units) {
    if (signed(unit)) negative = match[at++] === '-';
    const digits = match[at++] ?? '0';
    add(total, unit, digits, negative, unit === 'SECOND' ? match[at++] : undefined);
  }
  return total;
}

function add(total: Total, unit: string, digits: string, negative: boolean, fraction: string | undefined): void {
  const { months = 0, days = 0, micros = 0 } = SCALES[unit] ?? {};
  const sign = negative ? -1 : 1;
  total.months += sign * Number(digits) * months;
  total.days += sign * Number(digits) * days;
  const amount = BigInt(digits) * BigInt(micros) * 1000n + BigInt((fraction ?? '').padEnd(9, '0'));
  total.nanos += BigInt(sign) * (micros === 0 ? 0n : amount);
}

/** What GoogleSQL lets an INTERVAL be, either way. */
export const MOST_OF_INTERVAL = { months: 120_000, days: 3_660_000, micros: 316_224_000_000_000_000n };

/** The text, of whole microseconds; null: it is out of range. */
function print({ months, days, nanos }: Total): string | null {
  const most = MOST_OF_INTERVAL;
  const micros = nanos / 1000n - (nanos % 1000n < 0n ? 1n : 0n);
  if (Math.abs(months) > most.months || Math.abs(days) > most.days || micros > most.micros || micros < -most.micros)
    return null;
  const absolute = Math.abs(months);
  const years = `${months < 0 ? '-' : ''}${Math.floor(absolute / 12)}-${absolute % 12}`;
  const time = micros < 0n ? -micros : micros;
  const seconds = time / 1_000_000n;
  const rest = time % 1_000_000n;
  const fraction = rest === 0n ? '' : `.${rest.toString().padStart(6, '0').replace(/0+$/, '')}`;
  const clock = `${micros < 0n ? '-' : ''}${seconds / 3600n}:${(seconds / 60n) % 60n}:${seconds % 60n}${fraction}`;
  return `${years} ${days} ${clock}`;
}
