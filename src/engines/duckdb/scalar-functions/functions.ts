/** Every scalar function of our own by its name in SQL. */
import { ipFromString, ipNetMask, ipToString, ipTrunc } from './addresses';
import { fromBase32, toBase32 } from './base32';
import { BIGNUMERIC_FUNCTIONS } from './bignumeric';
import { bytesText } from './bytes-text';
import { numericQuotient } from './decimals';
import { publicSuffix, registeredDomain } from './domains';
import { editDistance } from './edit-distance';
import { farmFingerprint, sha512 } from './hashes';
import { initcap } from './initcap';
import { intervalParts } from './interval-reading';
import { jsonArrayAppend, jsonArrayInsert, jsonRemove, jsonSet } from './json-edits';
import { jsonKeys } from './json-keys';
import { jsonStripNulls } from './json-nulls';
import { bytesOfLatin1, hexOfLatin1Texts, latin1PatternText, latin1Text } from './latin1';
import { prettyJson } from './pretty-json';
import { regexpPlace } from './regexp-place';
import type { ScalarFunction } from './scalar-function';
import { formatText } from './text-format';
import { formatNumber } from './number-format';
import { parseTime } from './time-reading';
import { formatTime } from './time-writing';
import { isTimeZone, normalized, soundex } from './texts';

export const SCALAR_FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  ...BIGNUMERIC_FUNCTIONS,
  lq_bytes_of_latin1: bytesOfLatin1,
  lq_bytes_text: bytesText,
  lq_edit_distance: editDistance,
  lq_farm_fingerprint: farmFingerprint,
  lq_format: formatText,
  lq_format_number: formatNumber,
  lq_format_time: formatTime,
  lq_from_base32: fromBase32,
  lq_hex_of_latin1_texts: hexOfLatin1Texts,
  lq_initcap: initcap,
  lq_interval_parts: intervalParts,
  lq_ip_from_string: ipFromString,
  lq_ip_net_mask: ipNetMask,
  lq_ip_to_string: ipToString,
  lq_ip_trunc: ipTrunc,
  lq_is_time_zone: isTimeZone,
  lq_json_array_append: jsonArrayAppend,
  lq_json_array_insert: jsonArrayInsert,
  lq_json_keys: jsonKeys,
  lq_json_remove: jsonRemove,
  lq_json_set: jsonSet,
  lq_json_strip_nulls: jsonStripNulls,
  lq_latin1: latin1Text,
  lq_latin1_pattern: latin1PatternText,
  lq_normalized: normalized,
  lq_numeric_quotient_by_large: numericQuotient,
  lq_parse_time: parseTime,
  lq_pretty_json: prettyJson,
  lq_public_suffix: publicSuffix,
  lq_regexp_place: regexpPlace,
  lq_registered_domain: registeredDomain,
  lq_sha512: sha512,
  lq_soundex: soundex,
  lq_to_base32: toBase32,
};
