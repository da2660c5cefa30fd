/** BYTES, encodings, hashes and addresses. */
import { rewritten } from '../expressions/makers';
import { type Call, type FunctionTable, arg, raising, sqlOf } from '../expressions/call';
import { ownFunction } from './own-functions';
import { quoteText } from '../../sql';

function hash(duckName: string): (call: Call) => string {
  return (call) => `unhex(${duckName}(${sqlOf(call, 0)}))`;
}

/** What stands where a URL has its host: after scheme, slashes and user, before port and path. */
function host(call: Call): string {
  const pattern = String.raw`^(?:[A-Za-z][A-Za-z0-9+.\-]*:)?(?://)?(?:[^/?#]*@)?\.*(\[[^\]]*\]|[^/?#:\\]*)`;
  return call.bind(
    [`regexp_replace(${sqlOf(call, 0)}, '^\\s+|\\s+$', '', 'g')`],
    (url) => `nullif(regexp_extract(${url}, '${pattern}', 1), '')`,
  );
}

/** `SUBSTR` of BYTES, by the two hexadecimal digits of each; positions as in that of STRING. */
export function substrBytes(call: Call): string {
  const length = call.args[2];
  const values = [sqlOf(call, 0), sqlOf(call, 1), ...(length === undefined ? [] : [length.sql])];
  return call.bind(values, (b, p, n) => {
    // A position or a length beyond the end is as good as the end, and does not overflow when doubled.
    const start = `(CASE WHEN ${p} > 0 THEN least(${p}, octet_length(${b}) + 1) WHEN ${p} = 0 OR ${p} < -octet_length(${b}) THEN 1 ELSE octet_length(${b}) + ${p} + 1 END)`;
    if (n === undefined) return `unhex(substr(hex(${b}), 2 * ${start} - 1))`;
    const count = `2 * least(${n}, octet_length(${b}))`;
    return `CASE WHEN ${n} IS NULL THEN NULL WHEN ${n} < 0 THEN ${call.fail('argument')} ELSE unhex(substr(hex(${b}), 2 * ${start} - 1, ${count})) END`;
  });
}

/** LEFT and RIGHT of BYTES. */
export function endOfBytes(call: Call, duckName: 'left' | 'right'): string {
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1)],
    (b, n) =>
      `CASE WHEN ${n} IS NULL THEN NULL WHEN ${n} < 0 THEN ${call.fail('argument')} ` +
      `ELSE unhex(${duckName}(hex(${b}), 2 * least(${n}, coalesce(octet_length(${b}), 0)))) END`,
  );
}

/** The value of each byte. */
export function bytesToCodePoints(call: Call): string {
  return call.bind([sqlOf(call, 0)], (bytes) => {
    const digits = `regexp_extract_all(hex(${bytes}), '..')`;
    return `list_transform(${digits}, lambda d: CAST('0x' || d AS BIGINT))`;
  });
}

/** NULL as soon as one of the values is. */
function codePointsToBytes(call: Call): string {
  return call.bind([sqlOf(call, 0)], (list) => {
    const wrong = `len(list_filter(${list}, lambda p: p < 0 OR p > 255)) > 0`;
    const digits = `array_to_string(list_transform(${list}, lambda p: printf('%02x', p)), '')`;
    return (
      `CASE WHEN ${list} IS NULL OR list_count(${list}) < len(${list}) THEN NULL ` +
      `WHEN ${wrong} THEN ${call.fail('argument')} ELSE unhex(${digits}) END`
    );
  });
}

function ipv4FromInt64(call: Call): string {
  return call.bind(
    [sqlOf(call, 0)],
    (n) =>
      `CASE WHEN ${n} < -2147483648 OR ${n} > 4294967295 THEN ${call.fail('argument')} ` +
      `ELSE unhex(printf('%08x', ${n} & 4294967295)) END`,
  );
}

function ipv4ToInt64(call: Call): string {
  return call.bind(
    [sqlOf(call, 0)],
    (b) => `CASE WHEN octet_length(${b}) <> 4 THEN ${call.fail('argument')} ELSE CAST('0x' || hex(${b}) AS BIGINT) END`,
  );
}

export const BYTES_FUNCTIONS = {
  CODE_POINTS_TO_BYTES: codePointsToBytes,
  // Padding may be left out. A pattern would take up to fifteen times as long for each byte.
  FROM_BASE64: raising((call) =>
    call.bind(
      [`translate(${sqlOf(call, 0)}, ${quoteText(' \t\n\v\f\r')}, '')`],
      (s) => `from_base64(${s} || repeat('=', CAST((4 - length(${s}) % 4) % 4 AS BIGINT)))`,
    ),
  ),
  FROM_HEX: raising((call) => `unhex(${sqlOf(call, 0)})`),
  GENERATE_UUID: () => 'CAST(uuid() AS VARCHAR)',
  MD5: hash('md5'),
  'NET.HOST': host,
  'NET.PUBLIC_SUFFIX': (call) =>
    ownFunction(call, 'lq_public_suffix', [{ sql: host(call), sized: 'text' }], { text: true, empty: 'null' }),
  'NET.REG_DOMAIN': (call) =>
    ownFunction(call, 'lq_registered_domain', [{ sql: host(call), sized: 'text' }], { text: true, empty: 'null' }),
  'NET.IPV4_FROM_INT64': ipv4FromInt64,
  'NET.IPV4_TO_INT64': ipv4ToInt64,
  SAFE_CONVERT_BYTES_TO_STRING: (call) => {
    if (arg(call, 0).type.kind !== 'BYTES') return call.unsupported('SAFE_CONVERT_BYTES_TO_STRING of this type');
    return call.bind([sqlOf(call, 0)], (b) =>
      call.bind(
        [`TRY(decode(${b}))`],
        (text) => `CASE WHEN ${text} IS NOT NULL OR ${b} IS NULL THEN ${text} ELSE lq_text_of_bytes(hex(${b})) END`,
      ),
    );
  },
  SHA1: hash('sha1'),
  SHA256: hash('sha256'),
  TO_BASE64: (call) =>
    rewritten(
      call,
      () => '1',
      (bytes) => `to_base64(${bytes})`,
    ),
  TO_HEX: (call) =>
    rewritten(
      call,
      () => '1',
      (bytes) => `lower(hex(${bytes}))`,
    ),
} satisfies FunctionTable;
