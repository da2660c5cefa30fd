/** Bounds of the time of rows, as stored queries that the service writes have them (docs/endpoints.md, Writing the query). */
import type { TimeRole } from '@logquay/googlesql/types';

/** Parameters of a time that is not bounded are ''. */
const START = '@iso_timestamp_start';
const END = '@iso_timestamp_end';

/** SQL of a name, in backticks. */
export function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}

/** SQL of a field of `t`. */
export function fieldOf({ path }: Pick<TimeRole, 'path'>): string {
  return ['t', ...path.map(quoted)].join('.');
}

/** SQL of an instant, given as SQL, in the unit of a time column; of nanoseconds in microseconds, as they end in 2262. */
function inUnit(instant: string, { type, unit }: TimeRole): string {
  if (unit === null) return type.kind === 'DATETIME' ? `DATETIME(${instant})` : instant;
  if (type.kind !== 'FLOAT64') return `${UNIX[unit]}(${instant})`;
  return `UNIX_MICROS(${instant})${{ s: ' / 1000000', ms: ' / 1000', us: '', ns: ' * 1000.0' }[unit]}`;
}

const UNIX = { s: 'UNIX_SECONDS', ms: 'UNIX_MILLIS', us: 'UNIX_MICROS', ns: 'UNIX_MICROS' } as const;

/** SQL of a time column as it is compared with such an instant. */
function compared(role: TimeRole): string {
  const field = fieldOf(role);
  return role.unit === 'ns' && role.type.kind !== 'FLOAT64' ? `DIV(${field}, 1000)` : field;
}

/** Whether a row is behind an instant. */
export function isAfter(role: TimeRole, instant: string): string {
  return `${compared(role)} > ${inUnit(instant, role)}`;
}

/** Conditions on the two parameters; rows without a time are within bounds that are not given. */
export function openBounds(role: TimeRole): readonly string[] {
  return [
    `IF(${START} = '', TRUE, ${isAfter(role, `CAST(${START} AS TIMESTAMP)`)})`,
    `IF(${END} = '', TRUE, ${compared(role)} <= ${inUnit(`CAST(${END} AS TIMESTAMP)`, role)})`,
  ];
}
