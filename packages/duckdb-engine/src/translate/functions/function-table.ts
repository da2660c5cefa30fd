/**
 * What becomes of every scalar function and operator on the embedded engine: how it is printed, or that it is refused. The names are those
 * of the language's table: one that is missing here, or not there, does not compile.
 */
import {
  functionOf,
  type FunctionName,
  type ScalarName,
  type AggregateCall,
  type FunctionCall,
} from '@logquay/googlesql';
import type { Context } from '../context';
import {
  type Call,
  type FunctionRow,
  type FunctionTable,
  type Printed,
  type Refused,
  refused,
  rowOf,
} from '../expressions/call';
import { ARRAY_FUNCTIONS } from './arrays';
import { BYTES_FUNCTIONS } from './bytes';
import { CONDITIONAL_FUNCTIONS } from './conditionals';
import { DATE_FUNCTIONS } from './dates';
import { FORMAT_FUNCTIONS } from './formats';
import { INTERVAL_FUNCTIONS } from './intervals';
import { JSON_FUNCTIONS } from './json';
import { MATH_FUNCTIONS } from './math';
import { OPERATORS } from './operators';
import { OWN_FUNCTIONS } from './own-functions';
import { REGEXP_FUNCTIONS } from './regexps';
import { SEARCH_FUNCTIONS } from './search';
import { STRING_FUNCTIONS } from './strings';

const REFUSED = {
  COLLATE: refused('LOWER(x)'),
  FROM_BASE32: refused('FROM_BASE64 or FROM_HEX'),
  GENERATE_RANGE_ARRAY: refused('GENERATE_DATE_ARRAY or GENERATE_TIMESTAMP_ARRAY'),
  'HLL_COUNT.EXTRACT': refused(),
  JSON_ARRAY_APPEND: refused(),
  JSON_ARRAY_INSERT: refused(),
  JSON_REMOVE: refused(),
  JSON_SET: refused(),
  JSON_STRIP_NULLS: refused(),
  PARSE_BIGNUMERIC: refused('CAST(x AS BIGNUMERIC)'),
  RANGE: refused('two columns'),
  RANGE_CONTAINS: refused('comparisons of two columns'),
  RANGE_END: refused(),
  RANGE_INTERSECT: refused(),
  RANGE_OVERLAPS: refused('comparisons of two columns'),
  RANGE_START: refused(),
  SESSION_USER: refused(),
  SOUNDEX: refused('EDIT_DISTANCE'),
  TO_BASE32: refused('TO_BASE64 or TO_HEX'),
} satisfies FunctionTable;

function resolved({ name }: Call): string {
  throw new Error(`a call of ${name} in a resolved tree`);
}

/** What the resolver makes subqueries and operators of. */
const RESOLVED = {
  ARRAY_FILTER: resolved,
  ARRAY_TRANSFORM: resolved,
  EXTRACT: resolved,
} satisfies FunctionTable;

export const SCALARS: Readonly<Record<ScalarName, Printed | Refused>> = {
  ...OPERATORS,
  ...CONDITIONAL_FUNCTIONS,
  ...STRING_FUNCTIONS,
  ...REGEXP_FUNCTIONS,
  ...SEARCH_FUNCTIONS,
  ...OWN_FUNCTIONS,
  ...BYTES_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...DATE_FUNCTIONS,
  ...FORMAT_FUNCTIONS,
  ...INTERVAL_FUNCTIONS,
  ...ARRAY_FUNCTIONS,
  ...JSON_FUNCTIONS,
  ...RESOLVED,
  ...REFUSED,
};

/** What the function or operator of a call becomes. @throws QueryError where it is refused */
export function functionRow(ctx: Context, call: FunctionCall): FunctionRow {
  const row = SCALARS[call.function];
  if ('instead' in row) return refuse(ctx, call, row);
  const printed = rowOf(row);
  refuseTypes(ctx, call, printed.notOf);
  return printed;
}

const SYMBOLS: { readonly [Name in FunctionName]?: string } = {
  ...{ $add: '+', $divide: '/', $multiply: '*', $negate: '-', $subtract: '-', $count_star: 'COUNT(*)' },
  ...{ $bit_and: '&', $bit_not: '~', $bit_or: '|', $bit_xor: '^', $shift_left: '<<', $shift_right: '>>' },
};

/** As messages name it. */
export function writtenName(name: FunctionName): string {
  return SYMBOLS[name] ?? name;
}

type AnyCall = Pick<FunctionCall | AggregateCall, 'function' | 'args' | 'span'>;

export function refuse(ctx: Context, call: AnyCall, { instead }: Refused): never {
  return ctx.unsupported(writtenName(call.function), call.span, instead);
}

/** A BIGNUMERIC is read, cast and compared: no function has an overload of its own for it. */
export function refuseTypes(ctx: Context, call: AnyCall, notOf?: FunctionRow['notOf']): void {
  const isOfNumbers = functionOf(call).signatures.some((signature) => signature.includes('BIGNUMERIC'));
  const refuses = (kind: string): boolean => kind === notOf || (kind === 'BIGNUMERIC' && isOfNumbers);
  const type = call.args.find((a) => refuses(a.type.kind))?.type.kind;
  if (type === undefined) return;
  const instead = type === 'BIGNUMERIC' ? 'CAST(x AS NUMERIC)' : null;
  ctx.unsupported(`${writtenName(call.function)} of ${type}`, call.span, instead);
}
