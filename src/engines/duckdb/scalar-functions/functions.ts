/** Every scalar function of our own by its name in SQL. */
import { BIGNUMERIC_FUNCTIONS, numericQuotient } from './decimals';
import { editDistance } from './edit-distance';
import { farmFingerprint, sha512 } from './hashes';
import { intervalParts } from './interval-reading';
import { jsonKeys, prettyJson } from './json';
import { bytesOfLatin1, hexOfLatin1Texts, latin1PatternText, latin1Text } from './latin1';
import { regexpPlace } from './regexp-place';
import { ipFromString, ipNetMask, ipToString, ipTrunc, publicSuffix, registeredDomain } from './net';
import type { ScalarFunction } from './scalar-function';
import { initcap, isTimeZone, normalized } from './texts';

export const SCALAR_FUNCTIONS: Readonly<Record<string, ScalarFunction>> = {
  ...BIGNUMERIC_FUNCTIONS,
  lq_bytes_of_latin1: bytesOfLatin1,
  lq_edit_distance: editDistance,
  lq_farm_fingerprint: farmFingerprint,
  lq_hex_of_latin1_texts: hexOfLatin1Texts,
  lq_initcap: initcap,
  lq_interval_parts: intervalParts,
  lq_ip_from_string: ipFromString,
  lq_ip_net_mask: ipNetMask,
  lq_ip_to_string: ipToString,
  lq_ip_trunc: ipTrunc,
  lq_is_time_zone: isTimeZone,
  lq_json_keys: jsonKeys,
  lq_latin1: latin1Text,
  lq_latin1_pattern: latin1PatternText,
  lq_normalized: normalized,
  lq_numeric_quotient_by_large: numericQuotient,
  lq_pretty_json: prettyJson,
  lq_public_suffix: publicSuffix,
  lq_regexp_place: regexpPlace,
  lq_registered_domain: registeredDomain,
  lq_sha512: sha512,
};
