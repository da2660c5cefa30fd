/** How every scalar function, operator and cast is written. */

const INFIX: Readonly<Record<string, string>> = {
  $add: '+',
  $subtract: '-',
  $multiply: '*',
  $divide: '/',
  $concat: '||',
  $equal: '=',
  $not_equal: '!=',
  $less: '<',
  $less_or_equal: '<=',
  $greater: '>',
  $greater_or_equal: '>=',
  $bit_and: '&',
  $bit_or: '|',
  $bit_xor: '^',
  $shift_left: '<<',
  $shift_right: '>>',
  $and: 'AND',
  $or: 'OR',
  $like: 'LIKE',
  $is_distinct_from: 'IS DISTINCT FROM',
};

const WRITTEN: Readonly<Record<string, (args: readonly string[]) => string>> = {
  $not: ([a]) => `NOT ${a}`,
  $negate: ([a]) => `- (${a})`,
  $bit_not: ([a]) => `~ ${a}`,
  $between: ([a, b, c]) => `${a} BETWEEN ${b} AND ${c}`,
  $in: ([a, ...list]) => `${a} IN (${list.length === 0 ? a : list.join(', ')})`,
  $in_unnest: ([a, list]) => `${a} IN UNNEST(${list})`,
  $is_true: ([a]) => `${a} IS TRUE`,
  $is_false: ([a]) => `${a} IS NOT FALSE`,
};

/** Every operator, by its dollar name. */
export const OPERATORS: readonly string[] = [...Object.keys(INFIX), ...Object.keys(WRITTEN)];

/** Whose last two arguments, a number and a date part, are written as one INTERVAL. */
const INTERVAL_TAKING = new Set([
  ...['DATE', 'DATETIME', 'TIMESTAMP', 'TIME'].flatMap((type) => [`${type}_ADD`, `${type}_SUB`]),
  'GENERATE_DATE_ARRAY',
  'GENERATE_TIMESTAMP_ARRAY',
]);

/** The reference engine computes these of decimal numbers for minutes. */
export const SLOW_DECIMALS = new Set(['EXP', 'LN', 'LOG', 'LOG10', 'POW', 'SQRT']);

/** The call of a function or operator as SQL. */
export function written(name: string, args: readonly string[]): string {
  const infix = INFIX[name];
  if (infix !== undefined) return `(${args.join(` ${infix} `)})`;
  const special = WRITTEN[name];
  if (INTERVAL_TAKING.has(name) && args.length > 2) {
    const [count, part = 'DAY'] = args.slice(-2);
    if (!/^\w+$/.test(part) || /^c\d+$/.test(part)) return `${name}(${args.slice(0, 2).join(', ')})`;
    return `${name}(${[...args.slice(0, -2), `INTERVAL ${count} ${part}`].join(', ')})`;
  }
  return special === undefined ? `${name}(${args.join(', ')})` : `(${special(args)})`;
}

export const CASTS: readonly (readonly [from: string, to: string])[] = (
  [
    [
      'STRING',
      [
        'INT64',
        'FLOAT64',
        'NUMERIC',
        'BIGNUMERIC',
        'BOOL',
        'BYTES',
        'DATE',
        'DATETIME',
        'TIMESTAMP',
        'TIME',
        'INTERVAL',
      ],
    ],
    ['INT64', ['STRING', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC', 'BOOL']],
    ['FLOAT64', ['STRING', 'INT64', 'NUMERIC', 'BIGNUMERIC']],
    ['NUMERIC', ['STRING', 'INT64', 'FLOAT64', 'BIGNUMERIC']],
    ['BIGNUMERIC', ['STRING', 'INT64', 'FLOAT64', 'NUMERIC']],
    ['BOOL', ['STRING', 'INT64']],
    ['BYTES', ['STRING']],
    ['DATE', ['STRING', 'DATETIME', 'TIMESTAMP']],
    ['DATETIME', ['STRING', 'DATE', 'TIME', 'TIMESTAMP']],
    ['TIMESTAMP', ['STRING', 'DATE', 'TIME', 'DATETIME']],
    ['TIME', ['STRING']],
    ['INTERVAL', ['STRING']],
  ] as const
).flatMap(([from, to]) => to.map((type) => [from, type] as const));
