/** BYTES, encodings, hashes and addresses. */
import { rewritten } from '../sizes';
import { type Call, type FunctionTable, arg, sqlOf } from '../call';

function hash(duckName: string): (call: Call) => string {
  return (call) => `unhex(${duckName}(${sqlOf(call, 0)}))`;
}

/** What stands where a URL has its host: after scheme, slashes and user, before port and path. */
function host(call: Call): string {
  const pattern = String.raw`^\s*(?:[A-Za-z][A-Za-z0-9+.\-]*:)?(?://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)`;
  return call.bind([sqlOf(call, 0)], (url) => `nullif(trim(regexp_extract(${url}, '${pattern}', 1)), '')`);
}

export const BYTES_FUNCTIONS: FunctionTable = {
  // Padding may be left out.
  FROM_BASE64: {
    emit: (call) =>
      call.bind(
        [sqlOf(call, 0)],
        (s) => `from_base64(${s} || repeat('=', CAST((4 - length(${s}) % 4) % 4 AS BIGINT)))`,
      ),
    raises: true,
  },
  FROM_HEX: { emit: (call) => `unhex(${sqlOf(call, 0)})`, raises: true },
  GENERATE_UUID: () => 'CAST(uuid() AS VARCHAR)',
  MD5: hash('md5'),
  'NET.HOST': host,
  SAFE_CONVERT_BYTES_TO_STRING: (call) => {
    if (arg(call, 0).type.kind !== 'BYTES') return call.unsupported('SAFE_CONVERT_BYTES_TO_STRING of this type');
    return call.bind([sqlOf(call, 0)], (b) => `TRY(decode(${b}))`);
  },
  SHA1: hash('sha1'),
  SHA256: hash('sha256'),
  TO_BASE64: (call) =>
    rewritten(
      call,
      () => '1',
      ([bytes]) => `to_base64(${bytes})`,
    ),
  TO_HEX: (call) =>
    rewritten(
      call,
      () => '1',
      ([bytes]) => `lower(hex(${bytes}))`,
    ),
};
