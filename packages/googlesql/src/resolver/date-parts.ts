/** Date parts: which there are, and which function or type takes which. */
import { QueryError } from '../errors';
import type { DatePart, Expression } from '../tree';
import { nearest, suggestion } from './suggestion';

const WEEKDAYS = new Set(['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY']);

const DAYS = ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'ISOYEAR', 'ISOWEEK'];
const CLOCK = ['HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND'];
const WEEK_OF = [...WEEKDAYS].map((day) => `WEEK_${day}`);
const DATE_PARTS = new Set([...DAYS, ...WEEK_OF]);
const ALL_PARTS = new Set([...DAYS, ...WEEK_OF, ...CLOCK]);
const OF_DAY = new Set(['DAYOFWEEK', 'DAYOFYEAR']);

const KNOWN = new Set([...ALL_PARTS, ...OF_DAY, 'DATE', 'TIME', 'DATETIME']);

/** Parts of other dialects. */
const OTHERS: Readonly<Record<string, string>> = {
  DOW: 'In GoogleSQL: EXTRACT(DAYOFWEEK FROM x), where Sunday is 1.',
  DOY: 'In GoogleSQL: EXTRACT(DAYOFYEAR FROM x).',
  EPOCH: 'In GoogleSQL: UNIX_SECONDS(x).',
  ISODOW: 'In GoogleSQL: EXTRACT(DAYOFWEEK FROM x), where Sunday is 1.',
  WEEKDAY: 'In GoogleSQL: EXTRACT(DAYOFWEEK FROM x), where Sunday is 1.',
};

/** `DAY`, `WEEK_MONDAY`, ... of a part as EXTRACT wrote it. */
export function partName({ name, weekday, span }: DatePart): string {
  const part = weekday === null ? name.toUpperCase() : `${name.toUpperCase()}_${weekday.toUpperCase()}`;
  if (!KNOWN.has(part)) throw unknownPart(part, span);
  return part;
}

/**
 * The part that an argument names, `day` or `week(monday)`; null where it is no name.
 *
 * @param hint for an unknown name
 */
export function partOfExpression(expression: Expression, hint?: string): string | null {
  if (expression.kind === 'path' && expression.parts.length === 1) {
    const name = (expression.parts[0]?.name ?? '').toUpperCase();
    if (!KNOWN.has(name)) throw unknownPart(expression.parts[0]?.name ?? '', expression.span, hint);
    return name;
  }
  if (expression.kind !== 'call' || expression.path.length !== 1) return null;
  const [argument] = expression.arguments;
  if (expression.path[0]?.name.toUpperCase() !== 'WEEK' || argument?.expression.kind !== 'path') return null;
  const part = `WEEK_${(argument.expression.parts[0]?.name ?? '').toUpperCase()}`;
  if (!KNOWN.has(part)) throw unknownPart(part.slice(5), argument.span);
  return part;
}

function unknownPart(name: string, span: { start: number; end: number }, given?: string): QueryError {
  const near = nearest(name.toUpperCase(), KNOWN);
  const other = Object.hasOwn(OTHERS, name.toUpperCase()) ? OTHERS[name.toUpperCase()] : undefined;
  const hint = given ?? other;
  const details = hint === undefined ? suggestion(name, near) : { hint };
  return new QueryError('invalidQuery', `A valid date part name is required but found ${name}.`, span, details);
}

/** Whether an expression reads as the name of a part. */
export function isPartName(expression: Expression | undefined): boolean {
  if (expression?.kind !== 'path' || expression.parts.length !== 1) return false;
  return KNOWN.has((expression.parts[0]?.name ?? '').toUpperCase());
}

/** Units of INTERVAL. */
export function isIntervalPart(part: string): boolean {
  return INTERVAL_PARTS.has(part);
}

const INTERVAL_PARTS = new Set(['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', ...CLOCK]);
const EXTRACTED = new Set([...ALL_PARTS, ...OF_DAY]);
const UNITS_ONLY = (parts: Iterable<string>): Set<string> =>
  new Set([...parts].filter((part) => !part.startsWith('WEEK_') && !part.startsWith('ISO')));

/** What EXTRACT takes from a type. */
export const EXTRACT_PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  DATE: new Set([...DATE_PARTS, ...OF_DAY]),
  DATETIME: new Set([...EXTRACTED, 'DATE', 'TIME']),
  TIMESTAMP: new Set([...EXTRACTED, 'DATE', 'TIME', 'DATETIME']),
  TIME: new Set(CLOCK),
  INTERVAL: new Set(['YEAR', 'MONTH', 'DAY', ...CLOCK]),
};

/** What a function takes; the type is that of its first argument. undefined: the function has no rule of its own. */
export function partsOfFunction(name: string, type: string): ReadonlySet<string> | undefined {
  if (/^(DATE|DATETIME|TIMESTAMP|TIME)_(ADD|SUB)$/.test(name)) return ADDED[type];
  if (/_(TRUNC|DIFF)$/.test(name)) return name.endsWith('DIFF') ? DIFFERENCE[type] : TRUNCATED[type];
  if (name === 'LAST_DAY') return new Set([...DATE_PARTS].filter((part) => part !== 'DAY'));
  if (name === 'GENERATE_DATE_ARRAY') return UNITS_ONLY(DATE_PARTS);
  if (name === 'GENERATE_TIMESTAMP_ARRAY') return new Set(['DAY', ...CLOCK]);
  return undefined;
}

const ADDED: Readonly<Record<string, ReadonlySet<string>>> = {
  DATE: UNITS_ONLY(DATE_PARTS),
  DATETIME: UNITS_ONLY(ALL_PARTS),
  TIMESTAMP: new Set(['DAY', ...CLOCK]),
  TIME: new Set(CLOCK),
};

const TRUNCATED: Readonly<Record<string, ReadonlySet<string>>> = {
  DATE: DATE_PARTS,
  DATETIME: ALL_PARTS,
  TIMESTAMP: ALL_PARTS,
  TIME: new Set(CLOCK),
};

const DIFFERENCE: Readonly<Record<string, ReadonlySet<string>>> = {
  DATE: DATE_PARTS,
  DATETIME: ALL_PARTS,
  TIMESTAMP: new Set(['DAY', ...CLOCK]),
  TIME: new Set(CLOCK),
};
