/** Time zones: a TIMESTAMP is UTC, a civil time is what the clocks of a zone show. Zones are SQL texts; null is UTC. */
import { timeZone } from '@logquay/googlesql/types';
import type { Expr } from '@logquay/googlesql';
import type { Argument, Bind, Call } from './call';

/** `printed` is the SQL of a time zone argument; null where it says UTC for certain. */
export function zoneOf(printed: string, expr: Expr): string | null {
  return expr.kind === 'literal' && expr.value !== null && /^(?:UTC|GMT|Etc\/UTC)$/.test(expr.value) ? null : printed;
}

/** A computed time zone: under SAFE. NULL where there is no such zone, for which DuckDB raises an error that TRY does not catch. */
export function knownZone(
  { safe, bind }: Pick<Call, 'safe' | 'bind'>,
  { sql, constant }: Pick<Argument, 'sql' | 'constant'>,
): string {
  if (constant !== null || !safe) return sql;
  return bind([sql], (z) => `CASE WHEN lq_is_time_zone(encode(${z})) THEN ${z} END`);
}

/** What the clocks of `zone` show at `instant`. */
export function toCivil(instant: string, zone: string | null): string {
  if (zone === null) return instant;
  const shift = fixedShift(zone);
  if (shift !== null) return `(${instant} + to_microseconds(${shift}))`;
  return isText(zone) ? `timezone(${zone}, timezone('UTC', ${instant}))` : `lq_civil(${instant}, ${zone})`;
}

/** The instant at which the clocks of `zone` show `civil`; the first of them where they show it twice. */
export function toInstant(bind: Bind, civil: string, zone: string | null): string {
  if (zone === null) return civil;
  const shift = fixedShift(zone);
  if (shift !== null) return `(${civil} - to_microseconds(${shift}))`;
  return bind([civil], (c) =>
    bind([isText(zone) ? `timezone('UTC', timezone(${zone}, ${c}))` : `lq_instant(${c}, ${zone})`], (t) => {
      const before = `${c} - (${toCivil(`(${t} - to_days(1))`, zone)} - (${t} - to_days(1)))`;
      return bind(
        [before],
        (early) => `CASE WHEN ${toCivil(early, zone)} = ${c} THEN least(${early}, ${t}) ELSE ${t} END`,
      );
    }),
  );
}

function isText(zone: string): boolean {
  return /^'(?:[^']|'')*'$/.test(zone);
}

/** The microseconds of a zone that is written as an offset. */
function fixedShift(zone: string): string | null {
  const offset = isText(zone) && /^'(?:UTC)?[+-]/.test(zone) ? timeZone(zone.slice(1, -1)) : null;
  return offset === null ? null : `CAST(${offset(0n)} AS BIGINT)`;
}

/** The instant at which the clocks of `zone` show `text`, a name; NULL where it holds no civil time, or a zone of its own. */
export function instantOfCivilText(bind: Bind, text: string, zone: string | null): string {
  const instant = bind([toInstant(bind, `lq_civil_text(${text})`, zone)], (t) => `lq_in_years_or_null(${t})`);
  return `CASE WHEN lq_is_civil(${text}) THEN ${instant} END`;
}

/** `text`, which needs no zone: an error where there is no such zone, and NULL where it is NULL. @param zone as from `zoneOf` */
export function ofKnownZone(text: string, zone: string | null): string {
  if (zone === null || isText(zone)) return text;
  return `CASE WHEN ${toCivil("TIMESTAMP '1970-01-01'", zone)} IS NOT NULL THEN ${text} END`;
}
