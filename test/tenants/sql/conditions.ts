/** Conditions that hold for rows of other projects alone, and conditions that split the own rows. */
import type { Random } from '../../sandbox/fuzz/random';
import { SECRETS } from '../data/value-kinds';
import type { Column } from './relations';

/** Some rows of other projects answer to it, no own row does. Total: it fails on nothing. */
export function foreignCondition(columns: readonly Column[], random: Random): string {
  const everywhere = columns.filter((column) => column.everywhere);
  const column = random.pick(everywhere.length > 0 && random.chance(70) ? everywhere : columns);
  const { sql } = column;
  switch (column.type) {
    case 'STRING': {
      const secret = random.pick(SECRETS);
      return random.pick([
        `starts_with(${sql}, '${secret.slice(0, 1 + random.below(secret.length))}')`,
        `starts_with(${sql}, '${secret}')`,
        `${sql} = 'boom'`,
        `${sql} = ''`,
        `${sql} like '${secret}%'`,
        `length(${sql}) > 100`,
        `length(${sql}) = 0`,
        `${sql} is null`,
        `contains_substr(${sql}, '${secret}')`,
        `regexp_contains(${sql}, '^${secret}')`,
        `${sql} in ('boom', '${secret}')`,
        `upper(${sql}) = '${secret.toUpperCase()}'`,
      ]);
    }
    case 'INT64':
      return random.pick([
        `${sql} < 0`,
        `${sql} = 0`,
        `${sql} > 1000000`,
        `${sql} is null`,
        `${sql} = 9223372036854775807`,
        `${sql} in (0, -1, -7)`,
      ]);
    case 'FLOAT64':
      return random.pick([`${sql} < 0`, `${sql} = 0`, `${sql} > 1e200`]);
    case 'TIMESTAMP':
      return random.pick([
        `extract(year from ${sql}) = 1`,
        `extract(year from ${sql}) = 9999`,
        `${sql} < timestamp '1971-01-01 00:00:00+00'`,
        `${sql} > timestamp '2100-01-01 00:00:00+00'`,
        `unix_seconds(${sql}) = 0`,
      ]);
    case 'BOOL':
      return `${sql} is null`;
    case 'JSON':
      return random.pick([
        `json_type(${sql}) = 'string'`,
        `json_value(${sql}, '$.n') = 'boom'`,
        `json_type(${sql}) = 'array'`,
      ]);
    case 'OTHER':
      return `${sql} is null`;
  }
}

/** Splits the own rows in some way, or keeps all of them. Total. */
export function plainCondition(columns: readonly Column[], random: Random): string {
  const column = random.pick(columns);
  const { sql } = column;
  switch (column.type) {
    case 'STRING':
      return random.pick([
        `${sql} is not null`,
        `length(${sql}) > 2`,
        `${sql} <> 'boom'`,
        `not starts_with(${sql}, 'A')`,
        `${sql} >= '2'`,
        `substr(${sql}, 1, 1) <> 'x'`,
      ]);
    case 'INT64':
      return random.pick([`${sql} between 1 and 150`, `${sql} > 10`, `${sql} <> 0`, `${sql} is not null`]);
    case 'FLOAT64':
      return random.pick([`${sql} > 0`, `${sql} < 90`]);
    case 'TIMESTAMP':
      return random.pick([
        `${sql} > timestamp '2026-09-30 11:30:00+00'`,
        `${sql} <= timestamp '2026-09-30 11:55:00+00'`,
        `${sql} between timestamp '2026-09-30 11:20:00+00' and timestamp '2026-09-30 12:00:00+00'`,
        `extract(minute from ${sql}) > 5`,
      ]);
    case 'BOOL':
      return `${sql} is not false`;
    case 'JSON':
    case 'OTHER':
      return `${sql} is not null`;
  }
}
