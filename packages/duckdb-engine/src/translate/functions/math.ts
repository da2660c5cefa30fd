/** Mathematics. INT64 and FLOAT64 are exact; NUMERIC division and roots go through FLOAT64. */
import { QueryError } from '@logquay/googlesql/types';
import { type Call, type FunctionTable, arg, nullFirst, raising, same, sqlOf } from '../expressions/call';
import { doubleOfDecimal } from '../expressions/casts';
import { duckType } from '../../sql';
import { guarded, product, quotient } from './operators';

function typed(call: Call, text: string): string {
  // TRY does not see the error of a cast that is folded.
  return call.type.kind === 'FLOAT64' ? text : `${call.safe ? 'TRY_CAST' : 'CAST'}(${text} AS ${duckType(call.type)})`;
}

const keeping =
  (duckName: string) =>
  (call: Call): string =>
    typed(call, `${duckName}(${call.args.map((a) => a.sql).join(', ')})`);

interface Raising {
  readonly emit: (call: Call) => string;
  readonly raises: true;
}

/** A result that is no number where every argument is one is an error: an overflow, or an argument outside the domain. */
const finite = (emit: (call: Call) => string): Raising => ({
  emit: (call) => {
    if (call.type.kind !== 'FLOAT64') return emit(call);
    return call.bind([emit(call), ...call.args.map((a) => a.sql)], (result, ...args) => {
      const numbers = args.map((x) => `isfinite(${x})`).join(' AND ');
      return `CASE WHEN NOT isfinite(${result}) AND ${numbers} THEN ${call.fail('overflow')} ELSE ${result} END`;
    });
  },
  raises: true,
});

/** NaN of a negative infinity and, with `both`, of either: DuckDB raises an error of it. */
const unlessInfinite =
  (emit: (call: Call) => string, both = false) =>
  (call: Call): string => {
    if (arg(call, 0).type.kind !== 'FLOAT64') return emit(call);
    return call.bind([sqlOf(call, 0)], (x) => {
      const infinite = both ? `isinf(${x})` : `${x} = CAST('-inf' AS DOUBLE)`;
      return `CASE WHEN ${infinite} THEN CAST('NaN' AS DOUBLE) ELSE ${emit({ ...call, args: [{ ...arg(call, 0), sql: x }] })} END`;
    });
  };

const trigonometry = (duckName: string): Raising => ({ emit: same(duckName), raises: true });

/** Of an infinity there is no such function, and DuckDB raises an error where BigQuery says NaN. */
const ofFinite = (duckName: string): Raising => ({
  emit: (call) =>
    call.bind([sqlOf(call, 0)], (x) => `CASE WHEN isinf(${x}) THEN CAST('NaN' AS DOUBLE) ELSE ${duckName}(${x}) END`),
  raises: true,
});

const reciprocal = ({ emit }: Raising): Raising => finite((call) => `(1 / ${emit(call)})`);
const hyperbolic = (duckName: string): Raising => reciprocal({ emit: same(duckName), raises: true });

/** Halves go away from zero in both engines; digits are INT64 here and INTEGER there. */
function rounding(duckName: 'round' | 'trunc'): (call: Call) => string {
  return (call) => {
    if (call.args.length === 1) return typed(call, `${duckName}(${sqlOf(call, 0)})`);
    const constant = arg(call, 1).constant;
    const mode = duckName === 'trunc' ? 'to_zero' : roundingMode(call);
    if (mode === null) return `CAST(NULL AS ${duckType(call.type)})`;
    if (call.type.kind === 'FLOAT64') {
      const exact = constant !== null && /^[1-9]\d?$/.test(constant) && Number(constant) <= 22;
      if (exact) return call.bind([sqlOf(call, 0)], (x) => `lq_${duckName}_at(${x}, 1e${constant})`);
      const digits = call.bind(
        [sqlOf(call, 1)],
        (n) => `CAST(CASE WHEN ${n} > 400 THEN 400 WHEN ${n} < -400 THEN -400 ELSE ${n} END AS INTEGER)`,
      );
      return call.bind([sqlOf(call, 0), digits], (x, n) =>
        // Beyond FLOAT64 only what is rounded up so far before the point.
        call.bind(
          [`lq_${duckName}(${x}, ${n})`],
          (y) => `CASE WHEN isinf(${y}) AND NOT isinf(${x}) THEN ${call.fail('overflow')} ELSE ${y} END`,
        ),
      );
    }
    const digits = constant === null ? null : Math.max(-100, Math.min(100, Number(constant)));
    if (digits === null || mode === 'half_even' || !roundsToConstant(digits)) return roundedDecimal(call, mode);
    return typed(call, `${duckName}(${sqlOf(call, 0)}, ${digits})`);
  };
}

const ROUNDING_MODES: Readonly<Record<string, Rounding>> = {
  ROUND_HALF_AWAY_FROM_ZERO: 'half_away',
  ROUND_HALF_EVEN: 'half_even',
};

/** @returns null: the mode is NULL. @throws QueryError for a name that is no mode */
function roundingMode(call: Call): Rounding | null {
  const argument = call.args[2];
  if (argument === undefined) return 'half_away';
  if (argument.constant === null) return null;
  const mode = ROUNDING_MODES[argument.constant];
  if (mode !== undefined) return mode;
  const words = `Could not cast literal "${argument.constant}" to type ROUNDING_MODE.`;
  throw new QueryError('invalidQuery', words, argument.expr.span);
}

function integerDivision(operator: '//' | '%'): (call: Call) => string {
  return (call) => {
    const divisor = arg(call, 1);
    if (divisor.constant !== null && !['0', '-1'].includes(divisor.constant) && call.type.kind === 'INT64') {
      return `(${sqlOf(call, 0)} ${operator} ${divisor.sql})`;
    }
    return call.bind([sqlOf(call, 0), divisor.sql], (a, b) => {
      const text = `${a} ${operator} ${guarded(call, a, b)}`;
      // DuckDB divides the lowest number by -1 for its remainder, which overflows.
      if (call.type.kind === 'INT64')
        return operator === '%' ? `CASE WHEN ${b} = -1 THEN ${a} & 0 ELSE ${text} END` : `(${text})`;
      if (operator === '%') return typed(call, text);
      return typed(call, `lq_whole_quotient(${a}, ${guarded(call, a, b)})`);
    });
  };
}

/** The first or last of all, NULL as soon as one of them is. */
function extreme(duckName: 'greatest' | 'least'): (call: Call) => string {
  return (call) =>
    call.bind(
      call.args.map((a) => a.sql),
      (...names) => {
        const some = names.filter((n) => !/^(?:\d|')/.test(n)).map((n) => `${n} IS NULL`);
        const nan = call.type.kind === 'FLOAT64' && duckName === 'least';
        const check = nan ? ` WHEN ${names.map((n) => `isnan(${n})`).join(' OR ')} THEN CAST('NaN' AS DOUBLE)` : '';
        // DuckDB's own compares the parts of an INTERVAL one by one.
        const before = duckName === 'least' ? '<=' : '>=';
        const text =
          call.type.kind === 'INTERVAL'
            ? names.reduceRight(
                (rest, name) =>
                  rest === ''
                    ? name
                    : `list_reduce([${name}, ${rest}], lambda x, y: CASE WHEN lq_interval_length(x) ${before} lq_interval_length(y) THEN x ELSE y END)`,
                '',
              )
            : `${duckName}(${names.join(', ')})`;
        if (some.length === 0 && check === '') return text;
        return `CASE${some.length === 0 ? '' : ` WHEN ${some.join(' OR ')} THEN NULL`}${check} ELSE ${text} END`;
      },
    );
}

const safely =
  (operator: '+' | '-' | '*') =>
  (call: Call): string =>
    call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
      const result = operator === '*' ? product(call, a, b) : `${a} ${operator} ${b}`;
      if (call.type.kind !== 'FLOAT64') return `TRY(${typed(call, result)})`;
      return finiteOrNull(result, a, b);
    });

/** NULL where two numbers make something infinite. */
function finiteOrNull(result: string, a: string, b: string): string {
  return `CASE WHEN isfinite(${result}) OR NOT isfinite(${a}) OR NOT isfinite(${b}) THEN ${result} END`;
}

function logarithm(call: Call): string {
  if (call.args.length === 1) return unlessInfinite(throughFloat('ln').emit)(call);
  return call.bind([float(call, 0), float(call, 1)], (x, base) => {
    const text = typed(call, `(ln(${x}) / ln(${base}))`);
    if (call.type.kind !== 'FLOAT64') return text;
    const nan = `isnan(${x}) OR isnan(${base}) OR ${x} = CAST('-inf' AS DOUBLE) OR isinf(${base})`;
    const infinite = `isinf(${x}) AND ${base} <= 0`;
    return `CASE WHEN ${x} IS NULL OR ${base} IS NULL THEN NULL WHEN ${nan} OR ${infinite} THEN CAST('NaN' AS DOUBLE) WHEN ${base} = 1 THEN CASE WHEN isinf(${x}) THEN ${x} ELSE ${call.fail('overflow')} END ELSE ${text} END`;
  });
}

function float(call: Call, i: number): string {
  return arg(call, i).type.kind === 'FLOAT64' ? sqlOf(call, i) : doubleOfDecimal(sqlOf(call, i));
}

const throughFloat = (duckName: string): { emit: (call: Call) => string; raises: true } => ({
  emit: (call) => typed(call, `${duckName}(${call.args.map((_, i) => float(call, i)).join(', ')})`),
  raises: true,
});

export const MATH_FUNCTIONS = {
  ABS: raising(same('abs')),
  ACOS: ofFinite('acos'),
  ACOSH: raising(unlessInfinite(finite(same('acosh')).emit)),
  ASIN: ofFinite('asin'),
  ASINH: trigonometry('asinh'),
  ATAN: trigonometry('atan'),
  ATAN2: trigonometry('atan2'),
  ATANH: raising(unlessInfinite(finite(same('atanh')).emit, true)),
  BIT_COUNT: { emit: (call) => `CAST(bit_count(${sqlOf(call, 0)}) AS BIGINT)`, notOf: 'BYTES' },
  CBRT: trigonometry('cbrt'),
  CEIL: keeping('ceil'),
  COS: ofFinite('cos'),
  COSH: finite(same('cosh')),
  COT: reciprocal(ofFinite('tan')),
  COTH: hyperbolic('tanh'),
  CSC: reciprocal(ofFinite('sin')),
  CSCH: hyperbolic('sinh'),
  DIV: raising(integerDivision('//')),
  EXP: finite(throughFloat('exp').emit),
  FLOOR: keeping('floor'),
  GREATEST: extreme('greatest'),
  IEEE_DIVIDE: (call) => `(${sqlOf(call, 0)} / ${sqlOf(call, 1)})`,
  IS_INF: same('isinf'),
  IS_NAN: same('isnan'),
  LEAST: extreme('least'),
  LN: raising(unlessInfinite(throughFloat('ln').emit)),
  LOG: raising(logarithm),
  LOG10: raising(unlessInfinite(throughFloat('log10').emit)),
  MOD: raising(integerDivision('%')),
  PARSE_NUMERIC: parsed,
  POW: finite(throughFloat('pow').emit),
  RAND: () => 'random()',
  ROUND: nullFirst(raising(rounding('round'))),
  SAFE_ADD: safely('+'),
  SAFE_DIVIDE: {
    emit: (call) =>
      call.bind([sqlOf(call, 0), `nullif(${sqlOf(call, 1)}, 0)`], (a, b) =>
        call.type.kind === 'FLOAT64' ? finiteOrNull(`(${a} / ${b})`, a, b) : quotient(call, a, b, true),
      ),
    writtenOut: true,
  },
  SAFE_MULTIPLY: safely('*'),
  SAFE_NEGATE: (call) => call.bind([sqlOf(call, 0)], (x) => `TRY(-(${x}))`),
  SAFE_SUBTRACT: safely('-'),
  SEC: reciprocal(ofFinite('cos')),
  SECH: hyperbolic('cosh'),
  SIGN: (call) =>
    call.bind([sqlOf(call, 0)], (x) =>
      call.type.kind === 'FLOAT64'
        ? `CASE WHEN isnan(${x}) THEN ${x} ELSE CAST(sign(${x}) AS DOUBLE) END`
        : typed(call, `sign(${x})`),
    ),
  SIN: ofFinite('sin'),
  SINH: finite(same('sinh')),
  SQRT: raising(throughFloat('sqrt').emit),
  TAN: ofFinite('tan'),
  TANH: trigonometry('tanh'),
  TRUNC: nullFirst(raising(rounding('trunc'))),
} satisfies FunctionTable;

function parsed(call: Call): string {
  const type = duckType(call.type);
  return call.bind(
    [sqlOf(call, 0)],
    (s) =>
      `CASE WHEN ${s} IS NULL THEN NULL ELSE coalesce(TRY_CAST(lq_parsed_number(${s}) AS ${type}), ${call.fail('cast')}) END`,
  );
}

// ------------------------------------------------------------------------------------------
// NUMERIC rounded or cut to a number of digits that only the row knows, and halves to even: by their digits.

export type Rounding = 'half_away' | 'half_even' | 'to_zero';

/** Digits of a decimal of DuckDB. */
const WIDTH = 38;
/** Digits behind the point. */
const SCALE = 9;

/** Whether DuckDB's own functions do so: they give nought where all digits of the type are rounded up, not an overflow. */
function roundsToConstant(digits: number): boolean {
  return digits > SCALE - WIDTH;
}

/** The first argument to as many digits behind the point as the second says. */
function roundedDecimal(call: Call, rounding: Rounding): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (x, n) => {
    const power = `lq_power_of_ten(${SCALE} - ${n})`;
    const digits = call.bind([`lq_digits(${x})`, power], (d, p) => roundedDigits(d, p, rounding));
    const value = call.bind(
      [digits],
      (d) =>
        `CASE WHEN abs(${d}) >= lq_power_of_ten(${WIDTH}) THEN ${call.fail('overflow')} ELSE lq_of_digits(${d}) END`,
    );
    const text = `CASE WHEN ${n} >= ${SCALE} THEN ${x} WHEN ${n} < ${SCALE - WIDTH} THEN ${x} - ${x} ELSE ${value} END`;
    return `CAST(${text} AS ${duckType(call.type)})`;
  });
}

/** A whole number as a multiple of a power of ten. Twice a rest may be more than HUGEINT holds. */
function roundedDigits(d: string, p: string, rounding: Rounding): string {
  const [count, rest] = [`(abs(${d}) // ${p})`, `(abs(${d}) % ${p})`];
  const up = {
    to_zero: 'false',
    half_away: `${rest} >= ${p} - ${rest}`,
    half_even: `${rest} > ${p} - ${rest} OR (${rest} = ${p} - ${rest} AND ${count} % 2 = 1)`,
  }[rounding];
  return `sign(${d}) * (${count} + CASE WHEN ${up} THEN 1 ELSE 0 END) * ${p}`;
}
