/** Functions that our own scalar functions compute (scalar-functions/), for so many bytes at once. */
import { type Argument, type Call, type FunctionTable, arg, sqlOf } from '../expressions/call';
import { LIMITS } from '../expressions/makers';
import { type Failure, volatile } from '../../sql';

/** An argument of one of them: SQL, and of what kind it is. */
interface Given {
  readonly sql: string;
  /** Absent: of a fixed size. */
  readonly sized?: 'text' | 'bytes';
}

interface Result {
  /** It is a STRING. */
  readonly text?: true;
  /** What an empty one means; absent: it is a value like any other. */
  readonly empty?: Failure | 'null';
}

/** What is the same for all rows: it may be computed once, and stays as it is. */
const FIXED = /^(?:['$\d-]|unhex\('|CAST\(\$|CAST\(NULL|NULL|true|false)/;

/**
 * The value of our function, NULL where an argument is. What it is given at once is bounded, what a table holds included: it
 * runs on one thread for all queries.
 */
export function ownFunction(call: Call, name: string, given: readonly Given[], { text, empty }: Result = {}): string {
  return call.bind(
    given.map(({ sql }) => sql),
    (...names) => {
      const sizes = given.flatMap(({ sized }, i) =>
        sized === undefined ? [] : [`${sized === 'text' ? 'strlen' : 'octet_length'}(${names[i]!})`],
      );
      const isFixed = names.every((n) => FIXED.test(n));
      const args = names.map((n, i) => {
        // Else DuckDB may compute it on all values of a dictionary, ten chunks of them in one go.
        const value = FIXED.test(n) ? n : volatile(n);
        return given[i]!.sized === 'text' ? `encode(${value})` : value;
      });
      // NULL: the rows before have used up what may be done at once.
      let value = `coalesce(${name}(${args.join(', ')}), ${call.overload()})`;
      if (empty !== undefined) value = `nullif(${value}, ''::BLOB)`;
      if (empty !== undefined && empty !== 'null') value = `coalesce(${value}, ${call.fail(empty)})`;
      return (
        `CASE WHEN ${names.map((n) => `${n} IS NULL`).join(' OR ')} THEN NULL ` +
        (sizes.length === 0 ? '' : `WHEN ${sizes.join(' + ')} > ${LIMITS.ownFunctions} THEN ${call.overload()} `) +
        (isFixed ? '' : 'WHEN lq_yield() THEN NULL ') +
        `ELSE ${text === true ? `decode(${value})` : value} END`
      );
    },
  );
}

const text = (sql: string): Given => ({ sql, sized: 'text' });
const bytes = (sql: string): Given => ({ sql, sized: 'bytes' });

/** The bytes of a STRING or BYTES. */
function bytesOf({ sql, type }: Argument): Given {
  return type.kind === 'BYTES' ? bytes(sql) : text(sql);
}

export const OWN_FUNCTIONS = {
  FARM_FINGERPRINT: (call) => ownFunction(call, 'lq_farm_fingerprint', [bytesOf(arg(call, 0))]),
  'NET.IP_FROM_STRING': (call) => ownFunction(call, 'lq_ip_from_string', [text(sqlOf(call, 0))], { empty: 'argument' }),
  'NET.IP_NET_MASK': (call) => {
    const given = [{ sql: sqlOf(call, 0) }, { sql: sqlOf(call, 1) }];
    return ownFunction(call, 'lq_ip_net_mask', given, { empty: 'argument' });
  },
  'NET.IP_TO_STRING': (call) => {
    return ownFunction(call, 'lq_ip_to_string', [bytes(sqlOf(call, 0))], { text: true, empty: 'argument' });
  },
  'NET.IP_TRUNC': (call) => {
    const given = [bytes(sqlOf(call, 0)), { sql: sqlOf(call, 1) }];
    return ownFunction(call, 'lq_ip_trunc', given, { empty: 'argument' });
  },
  'NET.SAFE_IP_FROM_STRING': (call) =>
    ownFunction(call, 'lq_ip_from_string', [text(sqlOf(call, 0))], { empty: 'null' }),
  SHA512: (call) => ownFunction(call, 'lq_sha512', [bytesOf(arg(call, 0))]),
} satisfies FunctionTable;
