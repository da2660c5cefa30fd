/** Function calls and operators. Operands come printed: what is here is only how they are put together. */
import type { FunctionCall } from '../resolved';
import { quotedName } from '../escapes';

type Write = (args: readonly string[], part: string) => string;

const infix =
  (operator: string): Write =>
  (args) =>
    `(${args.join(` ${operator} `)})`;
const pattern =
  (text: string): Write =>
  (args) =>
    text.replace(/\{(\d)\}/g, (_, at: string) => args[Number(at)] ?? '');

/** Operators, and constructs with words of their own. `{0}` is the first operand. */
const OPERATORS: Readonly<Record<string, Write>> = {
  $add: infix('+'),
  $subtract: infix('-'),
  $multiply: infix('*'),
  $divide: infix('/'),
  $negate: pattern('(- {0})'),
  $equal: infix('='),
  $not_equal: infix('!='),
  $less: infix('<'),
  $less_or_equal: infix('<='),
  $greater: infix('>'),
  $greater_or_equal: infix('>='),
  $and: infix('AND'),
  $or: infix('OR'),
  $not: pattern('(NOT {0})'),
  $like: infix('LIKE'),
  $between: pattern('({0} BETWEEN {1} AND {2})'),
  $in: ([operand, ...items]) => `(${operand} IN (${items.join(', ')}))`,
  $in_unnest: pattern('({0} IN UNNEST({1}))'),
  $is_null: pattern('({0} IS NULL)'),
  $is_true: pattern('({0} IS TRUE)'),
  $is_false: pattern('({0} IS FALSE)'),
  $is_distinct_from: infix('IS DISTINCT FROM'),
  $concat: infix('||'),
  $bit_and: infix('&'),
  $bit_or: infix('|'),
  $bit_xor: infix('^'),
  $bit_not: pattern('(~ {0})'),
  $shift_left: infix('<<'),
  $shift_right: infix('>>'),
  $at: pattern('{0}[OFFSET({1})]'),
  $safe_at: pattern('{0}[SAFE_OFFSET({1})]'),
  $json_member: pattern('{0}[{1}]'),
  $json_element: pattern('{0}[{1}]'),
  $interval: (args, part) => `INTERVAL ${args[0]} ${part}`,
  $extract: ([value, zone], part) =>
    `EXTRACT(${part} FROM ${value}${zone === undefined ? '' : ` AT TIME ZONE ${zone}`})`,
};

/** Functions whose first operand, where it is no name or call, needs parentheses before a subscript. */
const SUBSCRIPTS: ReadonlySet<string> = new Set(['$at', '$safe_at', '$json_member', '$json_element']);

/** Where the date part stands among the arguments of a function; `interval`: `INTERVAL n part` in place of argument n. */
function partPosition(name: string): { readonly at: number; readonly interval: boolean } {
  if (/_(ADD|SUB)$/.test(name)) return { at: 1, interval: true };
  if (/^GENERATE_\w+_ARRAY$/.test(name)) return { at: 2, interval: true };
  if (/_DIFF$/.test(name)) return { at: 2, interval: false };
  return { at: 1, interval: false };
}

/** Keywords among the arguments. */
const KEYWORD_ARGUMENT: Readonly<Record<string, number>> = { NORMALIZE: 1, NORMALIZE_AND_CASEFOLD: 1 };

/** Names of functions that are keywords, too, and may be followed by a parenthesis all the same. */
export function callSql(call: FunctionCall, args: readonly string[], named: Readonly<Record<string, string>>): string {
  const part = call.part === null ? '' : partSql(call.part);
  const write = OPERATORS[call.function];
  if (write !== undefined) {
    const operands = SUBSCRIPTS.has(call.function) ? [`(${args[0]})`, ...args.slice(1)] : args;
    return write(operands, part);
  }
  const list = withKeyword(call, withPart(call.function, part, args));
  list.push(...Object.entries(named).map(([name, value]) => `${quotedName(name.toLowerCase())} => ${value}`));
  return `${call.safe ? 'SAFE.' : ''}${call.function}(${list.join(', ')})`;
}

function withPart(name: string, part: string, args: readonly string[]): string[] {
  if (part === '') return [...args];
  const { at, interval } = partPosition(name);
  if (interval) return args.map((arg, i) => (i === at ? `INTERVAL ${arg} ${part}` : arg));
  return [...args.slice(0, at), part, ...args.slice(at)];
}

function withKeyword({ function: name, args }: FunctionCall, printed: string[]): string[] {
  const at = KEYWORD_ARGUMENT[name];
  const keyword = at === undefined ? undefined : args[at];
  if (at !== undefined && keyword?.kind === 'literal') printed[at] = keyword.value ?? '';
  return printed;
}

/** Date parts as they are written: `DAY`, `WEEK(MONDAY)`. */
function partSql(part: string): string {
  return part.replace(/^WEEK_(\w+)$/, 'WEEK($1)');
}
