/** The column that says when the event of a row was: rows are stored in its order. */
import {
  columnsOf,
  isTimeName,
  type RestField,
  rolesOf,
  type TableSchema,
  PER_SECOND,
  TIME_UNITS,
  type TimeUnit,
  type TimeUnits,
} from '@logquay/googlesql/types';
import { quoteName } from '../sql';

/** The column that rows are ordered by. */
export interface TimeColumn {
  readonly name: string;
  readonly type: RestField['type'];
  /** Of a number. */
  readonly unit: TimeUnit | null;
}

/** The column of a table that is its time; null: none is. @param units of its numbers that are times */
export function timeColumnOf(fields: readonly RestField[], units: TimeUnits): TimeColumn | null {
  const role = rolesOf(columnsOf(fields), {}, units).time;
  const field = fields.find(({ name }) => role?.path.length === 1 && name === role.path[0]);
  return role === null || field === undefined ? null : { name: field.name, type: field.type, unit: role.unit };
}

/** @param units of its numbers that are times */
export function schemaOf(name: string, fields: readonly RestField[], units: TimeUnits): TableSchema {
  const schema = { name, columns: columnsOf(fields) };
  return units.size === 0 ? schema : { ...schema, timeUnits: units };
}

/** Whether a column may hold times as numbers. */
function mayHoldTimes({ name, type, mode }: RestField): boolean {
  return mode !== 'REPEATED' && (type === 'INT64' || type === 'FLOAT64') && isTimeName(name);
}

/** 2001 and 2101 in seconds: no number is in that range in two units. */
const [FIRST, END] = [978_307_200, 4_133_980_800];

/** The unit in which a number is a time of 2001 to 2100; null: in none. */
function unitOf(value: number): TimeUnit | null {
  return TIME_UNITS.find((unit) => value >= FIRST * PER_SECOND[unit] && value < END * PER_SECOND[unit]) ?? null;
}

/** SQL: the time in microseconds, or NULL. */
export function microsOf({ name, type, unit }: TimeColumn): string {
  const column = quoteName(name);
  if (type === 'TIMESTAMP' || type === 'DATETIME') return `epoch_us(${column})`;
  if (unit === null) return 'CAST(NULL AS BIGINT)';
  const wide = type === 'INT64' ? `CAST(${column} AS HUGEINT)` : column;
  const micros =
    unit === 'ns' ? (type === 'INT64' ? `${wide} // 1000` : `${wide} / 1000`) : `${wide} * ${1e6 / PER_SECOND[unit]}`;
  return `TRY_CAST(${micros} AS BIGINT)`;
}

/** SQL: the last first, as those that are read most are found soonest. */
export function latestRowsFirst(time: TimeColumn | null): string {
  return time === null ? '' : ` ORDER BY ${quoteName(time.name)} DESC NULLS LAST`;
}

/** What is known of a column that may hold times. */
interface Observed {
  /** null: a value is no time, or another's unit. */
  readonly unit: TimeUnit | null;
  readonly values: number;
  /** Rows that were looked at. */
  readonly rows: number;
}

export type ObservedTimes = Readonly<Record<string, Observed>>;

/** Values that decide, and rows that are looked at for them. */
export const DECIDING = 100;
export const MOST_OBSERVED = 10_000;

/** Finds out which numbers of a table are times: of each column the first values decide, for good. */
export class TimeUnitsOfTable {
  #observed: ObservedTimes;

  constructor(before: ObservedTimes) {
    this.#observed = before;
  }

  /** To be kept. */
  get observed(): ObservedTimes {
    return this.#observed;
  }

  get units(): TimeUnits {
    const known = Object.entries(this.#observed).flatMap(([name, { unit, values }]) =>
      unit === null || values === 0 ? [] : [[name, unit] as const],
    );
    return new Map(known);
  }

  /** Columns whose next values tell. */
  undecided(fields: readonly RestField[]): readonly RestField[] {
    return fields.filter((field) => {
      if (!mayHoldTimes(field)) return false;
      const { unit, values, rows } = this.#observed[field.name] ?? { unit: null, values: 0, rows: 0 };
      return values < DECIDING && rows < MOST_OBSERVED && (unit !== null || values === 0);
    });
  }

  /** @param values one for each row; null or NaN: it has none */
  observe(name: string, values: readonly (number | null)[]): void {
    let { unit, values: count, rows } = this.#observed[name] ?? { unit: null, values: 0, rows: 0 };
    for (const value of values) {
      if (count === DECIDING || rows === MOST_OBSERVED) break;
      rows++;
      if (value === null || Number.isNaN(value)) continue;
      const own = unitOf(value);
      unit = count === 0 || own === unit ? own : null;
      count++;
      if (unit === null) break;
    }
    this.#observed = { ...this.#observed, [name]: { unit, values: count, rows } };
  }
}
