/** Values as GoogleSQL writes them: CAST AS STRING, TO_JSON_STRING, FORMAT. Arguments must be names or may be repeated. */
import type { SqlType } from '../../../../googlesql/types';
import type { Bind } from './call';
import { toCivil } from './time-zones';

/** NUMERIC and BIGNUMERIC: exact, without trailing zeros. */
export function numericText(x: string, kind: SqlType['kind']): string {
  if (kind === 'BIGNUMERIC') return `lq_bignumeric_rounded_text(${x}, 38)`;
  return `regexp_replace(CAST(${x} AS VARCHAR), '\\.?0+$', '')`;
}

/** Nothing, three or six digits after the second, as many as are needed. */
function fraction(x: string): string {
  return `lq_fraction(${x})`;
}

export function datetimeText(x: string, separator: ' ' | 'T'): string {
  return `(strftime(${x}, '%Y-%m-%d${separator}%H:%M:%S') || ${fraction(x)})`;
}

export function timeText(x: string): string {
  return `(strftime(DATE '1970-01-01' + ${x}, '%H:%M:%S') || ${fraction(x)})`;
}

/** `2026-09-30 11:00:00+00`, the offset with minutes only where it has some. */
export function timestampText(bind: Bind, x: string, zone: string | null): string {
  if (zone === null) return bind([x], (t) => `(${datetimeText(t, ' ')} || '+00')`);
  return bind([x], (t) =>
    // Offsets of long ago have seconds, which neither the offset nor the time shows.
    bind([`(epoch_us(${toCivil(t, zone)}) - epoch_us(${t})) // 60000000`], (minutes) =>
      bind([`${t} + to_minutes(${minutes})`], (civil) => `(${datetimeText(civil, ' ')} || lq_zone_suffix(${minutes}))`),
    ),
  );
}
