/** What can fail, as the condition, the text or the number that a place of a query needs. */
import type { Random } from '../../sandbox/fuzz/random';
import type { Fallible } from './fallible';

/** A condition that computes the value. */
export function truthOf({ sql, type }: Fallible, random: Random): string {
  const direct: Partial<Record<Fallible['type'], string>> = {
    INT64: `${sql} <> 123456`,
    FLOAT64: `${sql} <> 123456.5`,
    NUMERIC: `${sql} <> numeric '123456'`,
    BOOL: sql,
    STRING: `${sql} <> 'none'`,
    DATE: `${sql} <> date '2000-01-01'`,
    TIMESTAMP: `${sql} > timestamp '0001-01-01 00:00:00+00'`,
    LIST: `array_length(${sql}) >= 0`,
    BYTES: `${sql} <> b'none'`,
  };
  const choice = direct[type];
  if (choice !== undefined && random.chance(65)) return `(${choice})`;
  return random.chance(50) ? `(${sql}) is not null` : `to_json_string(${sql}) <> 'none'`;
}

export function textOf({ sql, type }: Fallible, random: Random): string {
  if (type === 'STRING') return sql;
  if (['INT64', 'DATE', 'BOOL'].includes(type) && random.chance(50)) return `cast(${sql} as string)`;
  return `to_json_string(${sql})`;
}

export function numberOf(value: Fallible, random: Random): string {
  if (value.type === 'INT64') return value.sql;
  return random.chance(50) ? `length(${textOf(value, random)})` : `if(${truthOf(value, random)}, 1, 2)`;
}
