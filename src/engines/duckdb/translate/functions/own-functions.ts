/** Functions that our own scalar functions compute (engines/duckdb/scalar-functions), each for values up to a size. */
import { type Argument, type Call, type FunctionTable, arg, sqlOf } from '../expressions/call';
import { type Bound, LIMITS } from '../expressions/size-limits';
import type { Failure } from '../../sql';

/** An argument of one of them: SQL, and of what kind it is. */
interface Given {
  readonly sql: string;
  /** Absent: of a fixed size. */
  readonly sized?: 'text' | 'bytes';
}

/** Of those that take more time for each byte than the others: all of them some 300 ms for a chunk of rows. */
const BOUNDS: readonly (readonly [RegExp, Bound])[] = [
  [/^lq_(?:farm_fingerprint|(?:to|from)_base32)$/, LIMITS.encodings],
  [/^lq_json_/, LIMITS.jsonEdits],
];

/**
 * The value of our function, NULL where an argument is. Its size is bounded also for what a table holds: it runs on one thread
 * for all queries.
 *
 * @param failure what it means that there is no value; null: NULL
 */
export function ownFunction(call: Call, name: string, given: readonly Given[], failure: Failure | null): string {
  return call.bind(
    given.map(({ sql }) => sql),
    (...names) => {
      const bytes = given.flatMap(({ sized }, i) =>
        sized === undefined ? [] : [`${sized === 'text' ? 'strlen' : 'octet_length'}(${names[i]!})`],
      );
      const { once, perRow } = BOUNDS.find(([names]) => names.test(name))?.[1] ?? LIMITS.ownFunctions;
      const value = `${name}(${names.join(', ')})`;
      return (
        `CASE WHEN ${names.map((n) => `${n} IS NULL`).join(' OR ')} THEN NULL ` +
        (bytes.length === 0
          ? ''
          : `WHEN ${bytes.join(' + ')} > ${call.once ? once : perRow} THEN ${call.fail('size')} `) +
        `ELSE ${failure === null ? value : `coalesce(${value}, ${call.fail(failure)})`} END`
      );
    },
  );
}

const text = (sql: string): Given => ({ sql, sized: 'text' });
const bytes = (sql: string): Given => ({ sql, sized: 'bytes' });

/** The bytes of a STRING or BYTES. */
function bytesOf({ sql, type }: Argument): Given {
  return bytes(type.kind === 'BYTES' ? sql : `encode(${sql})`);
}

export const OWN_FUNCTIONS: FunctionTable = {
  FARM_FINGERPRINT: (call) => ownFunction(call, 'lq_farm_fingerprint', [bytesOf(arg(call, 0))], null),
  FROM_BASE32: (call) => ownFunction(call, 'lq_from_base32', [text(sqlOf(call, 0))], 'argument'),
  'NET.IP_FROM_STRING': (call) => ownFunction(call, 'lq_ip_from_string', [text(sqlOf(call, 0))], 'argument'),
  'NET.IP_NET_MASK': (call) =>
    ownFunction(call, 'lq_ip_net_mask', [{ sql: sqlOf(call, 0) }, { sql: sqlOf(call, 1) }], 'argument'),
  'NET.IP_TO_STRING': (call) => ownFunction(call, 'lq_ip_to_string', [bytes(sqlOf(call, 0))], 'argument'),
  'NET.IP_TRUNC': (call) =>
    ownFunction(call, 'lq_ip_trunc', [bytes(sqlOf(call, 0)), { sql: sqlOf(call, 1) }], 'argument'),
  'NET.SAFE_IP_FROM_STRING': (call) => ownFunction(call, 'lq_ip_from_string', [text(sqlOf(call, 0))], null),
  SHA512: (call) => ownFunction(call, 'lq_sha512', [bytesOf(arg(call, 0))], null),
  SOUNDEX: (call) => ownFunction(call, 'lq_soundex', [text(sqlOf(call, 0))], null),
  TO_BASE32: (call) => ownFunction(call, 'lq_to_base32', [bytes(sqlOf(call, 0))], null),
};
