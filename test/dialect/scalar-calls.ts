/** Calls of every scalar function and operator, and casts, over the edges of their types: made from the function table. */
import { spread } from '../../src/googlesql/functions/match';
import { signatureOf, type Parameter } from '../../src/googlesql/functions/signature';
import { findFunction, type SqlFunction } from '../../src/googlesql/functions/catalogue';
import type { SqlType } from '../../src/googlesql/types';
import { CAST_TEXTS, PARTS, SPECIAL, VALUES } from './edge-values';
import type { Random } from './random';

/** An expression as SQL text; its arguments are literals, or columns of `row`. */
export interface ScalarCall {
  readonly sql: string;
  /** Name to literal. */
  readonly row: readonly (readonly [name: string, value: string])[];
}

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

/** Whose last two arguments, a number and a date part, are written as one INTERVAL. */
const INTERVAL_TAKING = new Set([
  ...['DATE', 'DATETIME', 'TIMESTAMP', 'TIME'].flatMap((type) => [`${type}_ADD`, `${type}_SUB`]),
  'GENERATE_DATE_ARRAY',
  'GENERATE_TIMESTAMP_ARRAY',
]);

/** The reference engine computes these of decimal numbers for minutes. */
const SLOW_DECIMALS = new Set(['EXP', 'LN', 'LOG', 'LOG10', 'POW', 'SQRT']);

/** Types that a template is bound to. */
const ANY_TYPES = ['STRING', 'INT64', 'FLOAT64', 'BOOL', 'TIMESTAMP', 'DATE', 'BYTES', 'NUMERIC', 'DATETIME'];

/** A random call of the function `name`, by one of its signatures; null where it has none that can be written. */
export function randomCall(name: string, random: Random): ScalarCall | null {
  const fn = findFunction(name);
  if (fn === undefined) throw new Error(`No function ${name}.`);
  const parameters = randomParameters(fn, random);
  if (parameters === null) return null;
  const row: [string, string][] = [];
  const template = random.pick(ANY_TYPES);
  const columns = random.chance(0.6);
  let taken: string | null = null;
  const args = parameters.map((parameter, i) => {
    const special = SPECIAL[name]?.[i] ?? null;
    const type = typeText(parameter, template);
    if (parameter.pattern.kind === 'part') {
      const at = SPECIAL[name]?.[i]?.texts;
      return random.pick(at ?? PARTS[taken ?? 'TIMESTAMP'] ?? PARTS['TIMESTAMP']!);
    }
    taken ??= type;
    if (parameter.pattern.kind === 'mode') return random.pick(special?.texts ?? ['NFC']);
    const text =
      special !== null && (type === 'STRING' || type === 'INT64' || special.constant !== true || type === 'JSON');
    const fits =
      text && !(i === 0 && (type === 'JSON' || type === 'DATE') && special.constant !== true && type !== 'DATE');
    const values = fits ? special.texts : VALUES[type];
    if (values === undefined) return `CAST(NULL AS ${type})`;
    const value = random.chance(0.06) ? `CAST(NULL AS ${type})` : random.pick(values);
    const usable = type.startsWith('BYTES') && value.startsWith(`'`) ? `b${value}` : value;
    if (!columns || special?.constant === true) return usable;
    const column = `c${row.length}`;
    row.push([column, usable]);
    return column;
  });
  return { sql: written(name, args), row };
}

function randomParameters(fn: SqlFunction, random: Random): Parameter[] | null {
  const writable = fn.signatures.filter((text) => !SLOW_DECIMALS.has(fn.name) || !text.includes('NUMERIC'));
  const signature = signatureOf(random.pick(writable));
  const positional = signature.parameters.filter((parameter) => !parameter.namedOnly);
  const counts = Array.from({ length: positional.length + 3 }, (_, i) => spread(signature, i)).filter(
    (p) => p !== null,
  );
  return counts.length === 0 ? null : random.pick(counts);
}

function typeText({ pattern }: Parameter, template: string): string {
  switch (pattern.kind) {
    case 'fixed':
      return nameOf(pattern.type);
    case 'array_template':
      return 'ARRAY<INT64>';
    default:
      return template;
  }
}

function nameOf(type: SqlType): string {
  return type.kind === 'ARRAY' ? `ARRAY<${nameOf(type.element)}>` : type.kind;
}

/** The call of a function or operator as SQL. */
export function written(name: string, args: readonly string[]): string {
  const infix = INFIX[name];
  if (infix !== undefined) return `(${args.join(` ${infix} `)})`;
  const special = WRITTEN[name];
  if (INTERVAL_TAKING.has(name) && args.length > 2) {
    const [count, part = 'DAY'] = args.slice(-2);
    if (!/^\w+$/.test(part) || /^c\d$/.test(part)) return `${name}(${args.slice(0, 2).join(', ')})`;
    return `${name}(${[...args.slice(0, -2), `INTERVAL ${count} ${part}`].join(', ')})`;
  }
  return special === undefined ? `${name}(${args.join(', ')})` : `(${special(args)})`;
}

const CASTS: readonly (readonly [from: string, to: string])[] = (
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

/** A cast between any two types that have one, or a SAFE_CAST. */
export function randomCast(random: Random): ScalarCall {
  const [from, to] = random.pick(CASTS);
  const value = random.pick(from === 'STRING' ? CAST_TEXTS : VALUES[from]!);
  const cast = random.chance(0.5) ? 'CAST' : 'SAFE_CAST';
  if (random.chance(0.3)) return { sql: `${cast}(${value} AS ${to})`, row: [] };
  return { sql: `${cast}(c0 AS ${to})`, row: [['c0', value]] };
}

/** One SELECT of several calls: their columns renamed apart. */
export function selectOf(calls: readonly ScalarCall[]): string {
  const rows: string[] = [];
  const columns = calls.map(({ sql, row }, i) => {
    const renamed = sql.replace(/\bc(\d)\b/g, (column) =>
      row.some(([name]) => name === column) ? `${column}_${i}` : column,
    );
    rows.push(...row.map(([name, value]) => `${value} AS ${name}_${i}`));
    return `${renamed} AS v${i}`;
  });
  const from = rows.length === 0 ? '' : `\nFROM (SELECT ${rows.join(', ')})`;
  return `SELECT ${columns.join(',\n  ')}${from}`;
}
