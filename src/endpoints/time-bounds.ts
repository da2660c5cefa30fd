/** Bounds of the time of rows, as stored queries that the service writes have them (docs/endpoints.md, Writing the query). */
import { writtenName } from '@logquay/googlesql/syntax';
import type { TimeRole } from '@logquay/googlesql/types';

/** Parameters of a time that is not bounded are ''. */
const START = '@iso_timestamp_start';
const END = '@iso_timestamp_end';

/** SQL of a field of `t`. */
export function fieldOf({ path }: Pick<TimeRole, 'path'>): string {
  return ['t', ...path.map(writtenName)].join('.');
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

/** Least and greatest values by the type of a time column, as SQL. */
const ENDS = {
  TIMESTAMP: [`TIMESTAMP '0001-01-01 00:00:00+00'`, `TIMESTAMP '9999-12-31 23:59:59.999999+00'`],
  DATETIME: [`DATETIME '0001-01-01 00:00:00'`, `DATETIME '9999-12-31 23:59:59.999999'`],
  INT64: ['-9223372036854775807', '9223372036854775807'],
  FLOAT64: ['-1e300', '1e300'],
} as const;

/**
 * Conditions on the two parameters by which BigQuery leaves partitions out: it does for a bare column compared with parameters and
 * constants alone. Rows without a time are never within them.
 */
export function pruningBounds(role: TimeRole): readonly string[] {
  const { type } = role;
  const kind = type.kind === 'DATETIME' || type.kind === 'INT64' || type.kind === 'FLOAT64' ? type.kind : 'TIMESTAMP';
  const [least, most] = ENDS[kind];
  const start = inUnit(`CAST(${START} AS TIMESTAMP)`, role);
  const end = inUnit(`CAST(${END} AS TIMESTAMP)`, role);
  const field = compared(role);
  return [
    // The start itself is left out, but not the least value where there is no start.
    `${field} >= IF(${START} = '', ${least}, ${start})`,
    `IF(${START} = '', TRUE, ${field} > ${start})`,
    `${field} <= IF(${END} = '', ${most}, ${end})`,
  ];
}

/** A day before a start and behind an end, as DATE: days of tables may be those of another time zone. */
const DAY_BEFORE = `DATE_SUB(GREATEST(DATE(CAST(${START} AS TIMESTAMP)), DATE '0001-01-02'), INTERVAL 1 DAY)`;
const DAY_BEHIND = `DATE_ADD(LEAST(DATE(CAST(${END} AS TIMESTAMP)), DATE '9999-12-30'), INTERVAL 1 DAY)`;

/** By which partitions are left out where another column than the time says which one a row is in: it may be later than the time. */
export function partitionBound(column: string | null, kind: string): string {
  const first = (type: string): string => `IF(${START} = '', ${type} '0001-01-01', ${of(type)})`;
  const of = (type: string): string => (type === 'DATE' ? DAY_BEFORE : `${type}(${DAY_BEFORE})`);
  // Rows that are still in the streaming buffer are in no partition yet.
  if (column === null) return `(t._PARTITIONTIME >= ${first('TIMESTAMP')} OR t._PARTITIONTIME IS NULL)`;
  return `t.${writtenName(column)} >= ${first(kind === 'TIMESTAMP' || kind === 'DATETIME' ? kind : 'DATE')}`;
}

/** By which tables are left out whose names end in a day: `events_20260930`. */
export function suffixBounds(): readonly string[] {
  const day = (date: string): string => `FORMAT_DATE('%Y%m%d', ${date})`;
  return [
    `t._TABLE_SUFFIX >= IF(${START} = '', '00000000', ${day(DAY_BEFORE)})`,
    `t._TABLE_SUFFIX <= IF(${END} = '', '99999999', ${day(DAY_BEHIND)})`,
  ];
}
