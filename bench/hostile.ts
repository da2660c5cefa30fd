/** Consumer texts that are meant to keep the service busy. `n` makes each another text, so that no verdict is known. */

/** As many units as fit beside the rest into 64 KiB. */
function fill(unit: string, rest = 200): string {
  return unit.repeat(Math.floor((64 * 1024 - rest) / unit.length));
}

function nested(open: string, close: string, levels: number): string {
  return `select ${open.repeat(levels)}1${close.repeat(levels)} as x`;
}

/** Each CTE has twice the columns of the one before it. */
function doubling(ctes: number): string {
  const entry = (i: number): string => {
    const before = i === 0 ? 'edge_logs' : `c${i - 1}`;
    return `c${i} as (select a.*, b.* from ${before} a, ${before} b)`;
  };
  return `with ${Array.from({ length: ctes }, (_, i) => entry(i)).join(', ')}`;
}

const LIST = Array.from({ length: 9_900 }, (_, i) => i % 10).join(',');

export const HOSTILE: Readonly<Record<string, (n: number) => string>> = {
  brackets: (n) => `${nested('[', ']', 90)} -- ${n}`,
  structs: (n) => `${nested('struct(', ')', 90)} -- ${n}`,
  casts: (n) => `${nested('cast(', ' as string)', 90)} -- ${n}`,
  'casts that the second parser is asked about': (n) =>
    `select ${Array.from({ length: 200 }, (_, i) => `${'cast('.repeat(8)}${i}${' as string)'.repeat(8)} as c${i}`).join(', ')} -- ${n}`,
  '64 KiB of parentheses': (n) => `select ${fill('(')} -- ${n}`,
  'pairs of parentheses': (n) => `select ${fill('(1),')} 1 -- ${n}`,
  'a list of 9,900 items': (n) => `select count(*) as n from edge_logs where 1 in (${LIST}) and ${n} > 0`,
  'an array of 9,900 items': (n) => `select array_length([${LIST}]) as n, ${n} as o`,
  'arguments, 9,900 of them': (n) => `select coalesce(${LIST}) as n, ${n} as o`,
  'a long filter': (n) => `select id from edge_logs where ${fill("regexp_contains(event_message, 'a') and ")} ${n} > 0`,
  'a chain of 99 CTEs': (n) =>
    `with ${Array.from({ length: 99 }, (_, i) => `c${i} as (select a.id from ${i === 0 ? 'edge_logs' : `c${i - 1}`} a)`).join(', ')} select count(*) as n, ${n} as o from c98`,
  'CTEs that double': (n) => `${doubling(99)} select ${n} as o from c98`,
  'CTEs that double, in a short text': (n) => `${doubling(14)} select ${n} as o from c13`,
  '400 joins': (n) =>
    `select ${n} as o from edge_logs ${Array.from({ length: 400 }, (_, i) => `join auth_logs a${i} using (id)`).join(' ')}`,
  '1,400 branches of a union': (n) =>
    `${Array.from({ length: 1_400 }, () => 'select id from edge_logs').join(' union all ')} limit ${n}`,
  '1,400 subqueries': (n) =>
    `select ${Array.from({ length: 1_400 }, (_, i) => `(select max(id) from auth_logs) as c${i}`).join(', ')}, ${n} as o`,
  'garbage to the end': (n) => `select ${fill('a + ')} ${n} from from`,
};
