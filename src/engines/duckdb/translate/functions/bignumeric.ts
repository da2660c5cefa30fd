/**
 * BIGNUMERIC: 32 bytes of a BLOB (scalar-functions/big-decimal.ts), in their order, so that DuckDB compares, sorts and groups them by
 * itself. What computes with them are functions of our own.
 */
import { type Failure, quoteText } from '../../sql';
import { type Call, type FunctionTable, sqlOf } from '../expressions/call';
import { BIGNUMERIC_ZERO } from '../expressions/literals';
import { LONGEST_NUMBER } from '../expressions/makers';
import { roundingMode } from './math';
import { ownFunction } from './own-functions';

/** The value of our function; where it has none, `failure`: an error, or NULL. */
function computed(call: Call, name: string, values: readonly string[], failure: Failure | 'null'): string {
  const given = values.map((sql) => ({ sql }));
  return ownFunction(call, `lq_bignumeric_${name}`, given, { empty: failure });
}

const named =
  (name: string, failure: Failure | 'null' = 'overflow') =>
  (call: Call): string => {
    const values = call.args.map(({ sql }) => sql);
    return computed(call, name, values, failure);
  };

/** A division, which fails by nought, unless the dividend is NULL. */
const dividing =
  (name: string) =>
  (call: Call): string =>
    call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
      const isByZero = `${b} = ${BIGNUMERIC_ZERO} AND ${a} IS NOT NULL`;
      return `CASE WHEN ${isByZero} THEN ${call.fail('division')} ELSE ${computed(call, name, [a, b], 'overflow')} END`;
    });

function rounded(call: Call): string {
  const mode = call.name === 'TRUNC' ? 'to_zero' : roundingMode(call);
  if (mode === null) return 'CAST(NULL AS BLOB)';
  const places = call.args[1]?.sql ?? '0::BIGINT';
  const given = [{ sql: sqlOf(call, 0) }, { sql: places }, { sql: quoteText(mode), sized: 'text' as const }];
  return ownFunction(call, 'lq_bignumeric_round', given, { empty: 'overflow' });
}

function parsed(call: Call): string {
  return call.bind([sqlOf(call, 0)], (s) => {
    const value = `coalesce(lq_bignumeric_of_text(lq_parsed_number(${s})), ${call.fail('cast')})`;
    return `CASE WHEN ${s} IS NULL THEN NULL WHEN strlen(${s}) > ${LONGEST_NUMBER} THEN ${call.fail('size')} ELSE ${value} END`;
  });
}

function unsupported(call: Call): never {
  return call.unsupported(`${call.name} of BIGNUMERIC`);
}

/** What functions are of BIGNUMERIC, where that is not what they are of other types. */
export const BIGNUMERIC_FUNCTIONS: FunctionTable = {
  $add: named('add'),
  $divide: dividing('divide'),
  $multiply: named('multiply'),
  $negate: named('negate'),
  $subtract: named('subtract'),
  ABS: named('abs'),
  CEIL: named('ceil'),
  DIV: dividing('div'),
  EXP: named('exp'),
  FLOOR: named('floor'),
  GENERATE_ARRAY: unsupported,
  LN: named('ln', 'argument'),
  LOG: (call) =>
    call.args.length === 1 ? computed(call, 'ln', [sqlOf(call, 0)], 'argument') : named('log', 'argument')(call),
  LOG10: named('log10', 'argument'),
  MOD: dividing('mod'),
  PARSE_BIGNUMERIC: parsed,
  POW: named('power'),
  ROUND: rounded,
  SAFE_ADD: named('add', 'null'),
  SAFE_DIVIDE: named('divide', 'null'),
  SAFE_MULTIPLY: named('multiply', 'null'),
  SAFE_NEGATE: named('negate', 'null'),
  SAFE_SUBTRACT: named('subtract', 'null'),
  SIGN: named('sign'),
  SQRT: named('sqrt', 'argument'),
  TRUNC: rounded,
};
