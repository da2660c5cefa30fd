/**
 * DuckDB macros that translated queries rely on; run once per database, before its configuration is locked. A macro is
 * replaced by its body when a query is planned, so constants still fold and time bounds still reach the zone maps.
 * Arguments are repeated inside: callers pass names.
 */

import { FORMULA_STARTS } from '../../contract/contract';
import { besideStrings, fail, jsonOf, volatile, quoteText } from '../../sql';

/** DuckDB takes 24:00:00 for the end of a day. */
const TIME = String.raw`(?:[01]?\d|2[0-3]):\d{1,2}:\d{1,2}(?:\.\d{1,6})?`;
const CIVIL = String.raw`\d{4,5}-\d{1,2}-\d{1,2}(?:[ Tt]${TIME})?`;
/** Up to 14 hours; one digit of an hour needs a colon before minutes. */
const OFFSET = String.raw`[+-](?:(?:0?\d|1[0-3])(?::[0-5]?\d)?|(?:0\d|1[0-3])[0-5]?\d|14(?::?00?)?)`;
const ZONE_NAME = String.raw`[A-Z]\w*(?:/[\w/+-]*|-[A-Za-z]\w*)?|GMT[+-]0`;
const INSTANT = String.raw`\d{4,5}-\d{1,2}-\d{1,2}(?:[ Tt]${TIME}(?:[Zz]|(?: UTC)?${OFFSET}| (?:${ZONE_NAME}))?)?`;

const IN_YEARS = `t BETWEEN TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'`;
const DATE_IN_YEARS = `t BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'`;

// ------------------------------------------------------------------------------------------
// Upper, lower and folded case by Unicode's full mappings. DuckDB maps letters one by one; where one becomes several, or depends on its
// place in the word, it is replaced beforehand.

/** Letters whose capital form is more than one letter, as a character class. */
const EXPANDING =
  'ßŉǰΐΰև\u1e96-\u1e9aὐὒὔὖ\u1f80-\u1faf\u1fb2-\u1fb4\u1fb6\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc6\u1fc7\u1fcc\u1fd2\u1fd3\u1fd6\u1fd7' +
  '\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2-\u1ff4\u1ff6\u1ff7\u1ffc\ufb00-\ufb06\ufb13-\ufb17';
/** Letters that fold to another letter than their small form. */
const FOLDING = 'µſ\u0345ςϐϑϕϖϰϱϵ\u1c80-\u1c88ẛẞİ';

function lettersOf(characterClass: string): string[] {
  return [...characterClass.matchAll(/(.)-(.)|./gsu)].flatMap(([letter, from, to]) => {
    if (from === undefined || to === undefined) return letter;
    const [first, last] = [from.codePointAt(0)!, to.codePointAt(0)!];
    return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
  });
}

function folded(letter: string): string {
  if (letter === 'ẞ') return 'ss';
  return letter === 'İ' ? 'i\u0307' : letter.toUpperCase().toLowerCase();
}

/** Each letter of the class that is in the text `s` is replaced, all places of a letter at once. */
function replacing(s: string, characterClass: string, by: (letter: string) => string): string {
  const letters = lettersOf(characterClass);
  const map = `MAP {${letters.map((letter) => `${quoteText(letter)}: ${quoteText(by(letter))}`).join(', ')}}`;
  const found = `list_distinct(regexp_extract_all(${s}, ${quoteText(`[${characterClass}]`)}))`;
  return `list_reduce(${found}, lambda t, letter: replace(t, letter, ${map}[letter]), ${s})`;
}

/** What a letter may be followed or preceded by inside of a word, as far as a capital sigma at its end is concerned. */
const BETWEEN = `[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}'.:·’]*`;
const CASED = '\\p{Lu}\\p{Ll}\\p{Lt}';
const FINAL_SIGMA = `([${CASED}]${BETWEEN})Σ(${BETWEEN}(?:[^${CASED}]|$))`;

const isAscii = 'strlen(s) = length(s)';

/** Macros of a text `s`, which they repeat. */
const LETTER_CASE_MACROS: Readonly<Record<string, string>> = {
  'lq_upper(s)': `CASE WHEN ${isAscii} THEN upper(s) ELSE upper(${replacing('s', EXPANDING, (letter) => letter.toUpperCase())}) END`,
  'lq_lower(s)': `CASE WHEN ${isAscii} OR NOT (contains(s, 'Σ') OR contains(s, 'İ')) THEN lower(s)
      ELSE lower(replace(regexp_replace(s, ${quoteText(FINAL_SIGMA)}, '\\1ς\\2', 'g'), 'İ', 'i\u0307')) END`,
  // Of a text in a normal form, which the result need not be in.
  'lq_casefolded(s)': `CASE WHEN ${isAscii} THEN lower(s)
      ELSE lower(${replacing('s', EXPANDING + FOLDING, folded)}) END`,
  // DuckDB's own ends at a NUL, which takes part in no letter.
  'lq_nfc(s)': `CASE WHEN contains(s, chr(0))
      THEN array_to_string(list_transform(string_split(s, chr(0)), lambda p: nfc_normalize(p)), chr(0)) ELSE nfc_normalize(s) END`,
  'lq_folded(s)': `CASE WHEN ${isAscii} THEN lower(s)
      ELSE lower(${replacing('lq_nfc(s)', EXPANDING + FOLDING, folded)}) END`,
};

// ------------------------------------------------------------------------------------------

const MACROS: Readonly<Record<string, string>> = {
  ...LETTER_CASE_MACROS,

  // ---- numbers
  // Fifteen digits where they read back, else seventeen.
  // DuckDB writes the sign of a NaN.
  'lq_float_text(x)': `CASE WHEN isnan(x) THEN 'nan' WHEN NOT isfinite(x) THEN CAST(x AS VARCHAR)
      WHEN CAST(printf('%.15g', x) AS DOUBLE) = x THEN printf('%.15g', x) ELSE printf('%.17g', x) END`,
  // Integers as JavaScript prints them; what JSON has no number for, as text.
  'lq_float_json(x)': `CASE WHEN abs(x) < 1e15 AND x = trunc(x) THEN to_json(TRY_CAST(x AS BIGINT))
      WHEN isfinite(x) THEN to_json(x)
      WHEN isnan(x) THEN to_json('NaN') WHEN x > 0 THEN to_json('Infinity') WHEN x < 0 THEN to_json('-Infinity') END`,
  // A text as a cell of CSV (rendering/render.ts), and with an apostrophe before a formula.
  'lq_csv(x)': `CASE WHEN x IS NULL THEN ''
      WHEN x = '' OR contains(x, '"') OR contains(x, ',') OR contains(x, chr(10)) OR contains(x, chr(13))
      THEN '"' || replace(x, '"', '""') || '"' ELSE x END`,
  'lq_escaped_csv(x)': String.raw`CASE WHEN x <> '' AND ascii(x) IN (${FORMULA_STARTS.join(', ')})
        AND NOT regexp_full_match(x, '[+-](?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-Infinity')
      THEN lq_csv('''' || x) ELSE lq_csv(x) END`,
  // Of decimals with nine digits behind the point, as integers of all their digits and back.
  'lq_digits(x)': `CAST(replace(CAST(x AS VARCHAR), '.', '') AS HUGEINT)`,
  'lq_of_digits(d)': `CAST(d AS DECIMAL(38, 0)) * CAST(0.000000001 AS DECIMAL(10, 9))`,
  'lq_power_of_ten(k)': `CAST(rpad('1', CAST(k + 1 AS INTEGER), '0') AS HUGEINT)`,
  // Exact quotients: nine digits more of what the division of the digits leaves. A divisor of 1e20 leaves no room for them.
  'lq_quotient_of_digits(a, b)': `sign(a) * sign(b) * (abs(a) // abs(b) * 1000000000
      + ((abs(a) % abs(b)) * 1000000000 + abs(b) // 2) // abs(b))`,
  'lq_numeric_quotient(a, b)': 'lq_of_digits(lq_quotient_of_digits(lq_digits(a), lq_digits(b)))',
  // Of decimals with the same number of digits behind the point, as a whole number.
  'lq_whole_quotient(a, b)': `CAST(sign(a) * sign(b) * (abs(lq_digits(a)) // abs(lq_digits(b))) AS HUGEINT)`,
  // Exact products: only that of the two fractions has more digits than there is room for. Below 1e9 all parts are of 64 bits, whose
  // divisions take a hundredth of the time; round divides fewer times than a cast does.
  'lq_product_of_parts(a, b)': `CAST(trunc(a) AS DECIMAL(19, 0)) * b + CAST(a - trunc(a) AS DECIMAL(9, 9)) * CAST(trunc(b) AS DECIMAL(10, 0))
      + CAST(CAST(a - trunc(a) AS DECIMAL(9, 9)) * CAST(b - trunc(b) AS DECIMAL(9, 9)) AS DECIMAL(10, 9))`,
  'lq_numeric_product(a, b)': `CASE WHEN a BETWEEN -999999999 AND 999999999 AND b BETWEEN -999999999 AND 999999999
      THEN CAST(lq_product_of_parts(TRY_CAST(a AS DECIMAL(18, 9)), TRY_CAST(b AS DECIMAL(18, 9))) AS DECIMAL(38, 9))
      WHEN a BETWEEN -999999999999999 AND 999999999999999 AND b BETWEEN -99999 AND 99999
        OR b BETWEEN -999999999999999 AND 999999999999999 AND a BETWEEN -99999 AND 99999 THEN CAST(round(a * b, 9) AS DECIMAL(38, 9))
      ELSE CAST(trunc(a) * b + (a - trunc(a)) * trunc(b) + round((a - trunc(a)) * (b - trunc(b)), 9) AS DECIMAL(38, 9)) END`,
  // Our functions of BIGNUMERIC, of texts that are bounded: what they have to do never comes to more than they may.
  'lq_bignumeric_of_text(t)': `CASE WHEN t IS NULL OR lq_yield() THEN NULL ELSE nullif(lq_bignumeric_of(encode(${volatile('t')})), ''::BLOB) END`,
  'lq_bignumeric_of_double(x)': `CASE WHEN x IS NULL OR lq_yield() THEN NULL
      ELSE nullif(lq_bignumeric_of_float(encode(CAST(${volatile('x')} AS VARCHAR))), ''::BLOB) END`,
  'lq_bignumeric_rounded_text(x, places)': `CASE WHEN x IS NULL OR lq_yield() THEN NULL
      ELSE decode(lq_bignumeric_text(${volatile('x')}, CAST(places AS BIGINT))) END`,
  // A double in all its digits, which its product with a power of ten would lose.
  'lq_numeric_of_float(x)': `TRY_CAST(CASE WHEN isfinite(x) THEN printf('%.40f', x) END AS DECIMAL(38, 9))`,
  'lq_int64(s)': String.raw`CASE
      WHEN regexp_full_match(s, '\s*[+-]?\d+\s*') THEN TRY_CAST(ltrim(trim(s), '+') AS BIGINT)
      WHEN regexp_full_match(s, '\s*[+-]?0[xX][0-9a-fA-F]+\s*') THEN
        TRY_CAST('0x' || regexp_extract(s, '0[xX]([0-9a-fA-F]+)', 1) AS BIGINT)
          * CASE WHEN contains(s, '-') THEN -1 ELSE 1 END END`,
  'lq_float64(s)': String.raw`CASE
      WHEN regexp_full_match(s, '\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*')
        OR regexp_full_match(s, '\s*[+-]?(?i:inf|infinity|nan)\s*')
      THEN TRY_CAST(ltrim(trim(s), '+') AS DOUBLE)
      WHEN regexp_full_match(s, '\s*[+-]?0[xX](?:[0-9a-fA-F]{1,8}\.?[0-9a-fA-F]{0,7}|\.[0-9a-fA-F]{1,7}|[0-9a-fA-F]{9,15}\.?)(?:[pP][+-]?\d{1,3})?\s*')
      THEN TRY_CAST('0x' || regexp_replace(regexp_extract(s, '0[xX]([0-9a-fA-F.]+)', 1), '\.', '') AS BIGINT)::DOUBLE
        * pow(2e0, coalesce(TRY_CAST(regexp_extract(s, '[pP]([+-]?\d+)', 1) AS INTEGER), 0) - 4 * length(regexp_extract(s, '\.([0-9a-fA-F]*)', 1)))
        * CASE WHEN regexp_matches(s, '^\s*-') THEN -1 ELSE 1 END END`,
  // As text; the sign of a nought is not written.
  'lq_float_string(x)': `CASE WHEN x = 0 THEN '0' ELSE lq_float_text(x) END`,
  // Digits in groups, a sign on either side, with white space around it.
  'lq_parsed_number(s)': String.raw`CASE WHEN regexp_full_match(s, '\s*(?:[+-]\s*(?:\d[\d,]*\.?\d*|[\d,]*\.\d+)(?:[eE][+-]?\d+)?|(?:\d[\d,]*\.?\d*|[\d,]*\.\d+)(?:[eE][+-]?\d+)?\s*[+-]?)\s*')
      THEN CASE WHEN regexp_matches(s, '^\s*-|-\s*$') THEN '-' ELSE '' END || regexp_replace(regexp_replace(s, '^\s*[+-]|[+-]\s*$', '', 'g'), '[\s,]', '', 'g') END`,
  'lq_numeric(s)': String.raw`CASE
      WHEN regexp_full_match(s, '\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*') THEN ltrim(trim(s), '+') END`,

  // Digits are taken from what a double is exactly, as BigQuery does: 391.315 is a little less, so it becomes 391.31.
  // The product with a power of ten loses that little; Dekker's product of halves gives it back. Powers beyond 22 are
  // not exact, and beyond 2^52 a double has no such digits to lose.
  'lq_high_half(a)': '(134217729e0 * a) - ((134217729e0 * a) - a)',
  'lq_product_error(a, b)': `((lq_high_half(a) * lq_high_half(b) - a * b) + lq_high_half(a) * (b - lq_high_half(b))
      + (a - lq_high_half(a)) * lq_high_half(b)) + (a - lq_high_half(a)) * (b - lq_high_half(b))`,
  'lq_round_at(x, p)': `CASE WHEN abs(x * p) >= 4503599627370496e0 THEN x
      WHEN abs(x * p) % 1 = 0.5 AND lq_product_error(x, p) * sign(x) < 0 THEN trunc(x * p) / p
      ELSE round(x * p) / p END`,
  'lq_trunc_at(x, p)': `CASE WHEN abs(x * p) >= 4503599627370496e0 THEN x
      WHEN trunc(x * p) = x * p AND lq_product_error(x, p) * sign(x) < 0 THEN (x * p - sign(x)) / p
      ELSE trunc(x * p) / p END`,
  'lq_round(x, n)':
    'CASE WHEN n < -308 AND NOT isfinite(x) THEN 0e0 WHEN NOT isfinite(x) THEN x WHEN n < -308 THEN x * 0 WHEN n BETWEEN 1 AND 22 THEN lq_round_at(x, pow(10e0, n)) WHEN n BETWEEN -22 AND 0 THEN round(x, n) ELSE lq_cut(x, n, true) END',
  'lq_trunc(x, n)':
    'CASE WHEN n < -308 AND NOT isfinite(x) THEN 0e0 WHEN NOT isfinite(x) THEN x WHEN n < -308 THEN x * 0 WHEN n BETWEEN 1 AND 22 THEN lq_trunc_at(x, pow(10e0, n)) WHEN n BETWEEN -22 AND 0 THEN trunc(x, n) ELSE lq_cut(x, n, false) END',
  // Powers of ten beyond 22 are no FLOAT64: all decimals of the number are written out. No number lies halfway between two with so few.
  'lq_cut(x, n, rounded)': `CASE WHEN n IS NULL THEN NULL WHEN abs(x) * pow(10e0, least(n, 308)) * pow(10e0, greatest(n - 308, 0)) >= 4503599627370496e0 THEN x
      ELSE list_transform([replace(format('{:.1074f}', abs(x)), '.', '')], lambda digits: list_transform([length(digits) - 1074 + n], lambda cut:
        CAST(CASE WHEN x < 0 THEN -1 ELSE 1 END * (CAST('0' || left(digits, greatest(cut, 0)) AS BIGINT)
          + CASE WHEN rounded AND cut >= 0 AND substr(digits, cut + 1, 1) >= '5' THEN 1 ELSE 0 END) || 'e' || (-n) AS DOUBLE))[1])[1] END`,

  // A decimal without a sign as its digits from the first to the last that is not 0, and the power of ten behind them.
  'lq_decimal_form(n)': String.raw`list_transform([regexp_extract(n, '^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$', ['i', 'f', 'e'])], lambda p:
      CASE WHEN trim(p.i || p.f, '0') = '' THEN '0' ELSE trim(p.i || p.f, '0') || 'e' || CAST(
        coalesce(TRY_CAST(ltrim(p.e, '+') AS BIGINT), 0) - length(p.f) + length(p.i || p.f) - length(rtrim(p.i || p.f, '0')) AS VARCHAR) END)[1]`,
  // A number in JSON that is beyond FLOAT64, or would lose digits in one; rounded, integers that need more than 64 bits alone.
  'lq_is_wide_number(n, exact)': String.raw`CASE WHEN strlen(n) < 16 AND NOT regexp_matches(n, '[eE][+-]?\d{3}') THEN false WHEN isinf(CAST(n AS DOUBLE)) THEN true
      WHEN regexp_full_match(n, '-?\d+') AND (TRY_CAST(n AS BIGINT) IS NOT NULL OR TRY_CAST(n AS UBIGINT) IS NOT NULL) THEN false
      WHEN exact THEN lq_decimal_form(ltrim(n, '-')) <> lq_decimal_form(CAST(abs(CAST(n AS DOUBLE)) AS VARCHAR))
      ELSE regexp_full_match(n, '-?\d+') END`,

  // GoogleSQL does read a comma too many where it reads JSON from text.
  'lq_reads_json(s)': `json_valid(s) AND NOT ((contains(lower(s), 'nan') OR contains(lower(s), 'inf')) AND ${besideStrings('s', 'nan|inf')})`,
  'lq_json(s)': jsonOf('s'),
  // GoogleSQL escapes control characters in small letters. A backslash that is escaped itself is put aside as a character that JSON has not.
  'lq_json_text(t)': `CASE WHEN contains(CAST(t AS VARCHAR), '\\u00') THEN replace(${[
    '0B',
    '0E',
    '0F',
    '1A',
    '1B',
    '1C',
    '1D',
    '1E',
    '1F',
  ].reduce(
    (text, digits) => String.raw`replace(${text}, '\u00${digits}', '\u00${digits.toLowerCase()}')`,
    String.raw`replace(CAST(t AS VARCHAR), '\\', chr(1))`,
  )}, chr(1), '\\\\') ELSE CAST(t AS VARCHAR) END`,

  // A LIKE pattern, whose escape is the backslash, as a regular expression. What is escaped is put aside as characters
  // for private use, every other character is quoted, and `%` and `_` are what is left.
  'lq_like_expression(p)': String.raw`'(?s)' || replace(replace(replace(replace(replace(regexp_replace(regexp_replace(
      replace(replace(replace(p, '\\', chr(983040)), '\%', chr(983041)), '\_', chr(983042)),
      '(?s)\\(.)', '\1', 'g'), '(?s)([^%_])', '\\Q\1\\E', 'g'), '%', '.*'), '_', '.'),
      chr(983040), '\'), chr(983041), '%'), chr(983042), '_')`,

  'lq_escaped(s)': String.raw`replace(replace(replace(replace(s, '\', '\\'), chr(10), '\n'), chr(13), '\r'), chr(9), '\t')`,
  // A STRING literal as FORMAT('%T') writes it.
  'lq_string_literal(s)': String.raw`CASE WHEN contains(s, '"') AND NOT contains(s, '''')
      THEN '''' || lq_escaped(s) || '''' ELSE '"' || replace(lq_escaped(s), '"', '\"') || '"' END`,

  // ---- dates and times
  // The years of GoogleSQL; DuckDB's reach further. An error outside, or NULL under SAFE.
  'lq_in_years(t)': `CASE WHEN ${IN_YEARS} THEN t WHEN t IS NOT NULL THEN ${fail('date')} END`,
  'lq_in_years_or_null(t)': `CASE WHEN ${IN_YEARS} THEN t END`,
  'lq_date_in_years(t)': `CASE WHEN ${DATE_IN_YEARS} THEN t WHEN t IS NOT NULL THEN ${fail('date')} END`,
  'lq_date_in_years_or_null(t)': `CASE WHEN ${DATE_IN_YEARS} THEN t END`,
  'lq_fraction(t)': `CASE WHEN extract(microseconds FROM t) % 1000000 = 0 THEN ''
      WHEN extract(microseconds FROM t) % 1000 = 0
        THEN '.' || lpad(CAST(extract(microseconds FROM t) // 1000 % 1000 AS VARCHAR), 3, '0')
      ELSE '.' || lpad(CAST(extract(microseconds FROM t) % 1000000 AS VARCHAR), 6, '0') END`,
  // As BigQuery's API writes civil times: six digits or none.
  'lq_six_digits(t)': `CASE WHEN extract(microseconds FROM t) % 1000000 = 0 THEN ''
      ELSE '.' || lpad(CAST(extract(microseconds FROM t) % 1000000 AS VARCHAR), 6, '0') END`,
  // The parts are beyond no INTEGER.
  'lq_interval(t)': `CASE WHEN t IS NULL OR strlen(t) > 100 OR lq_yield() THEN NULL ELSE
      list_transform([string_split(nullif(decode(lq_interval_parts(encode(${volatile('t')}))), ''), ' ')], lambda p:
        to_months(CAST(p[1] AS INTEGER)) + to_days(CAST(p[2] AS INTEGER)) + to_microseconds(CAST(p[3] AS BIGINT)))[1] END`,
  'lq_interval_months(i)': 'extract(year FROM i) * 12 + extract(month FROM i)',
  'lq_interval_micros(i)': `extract(hour FROM i) * 3600000000 + extract(minute FROM i) * 60000000
      + extract(microseconds FROM i)`,
  'lq_interval_length(i)': `CAST(lq_interval_months(i) AS HUGEINT) * 2592000000000 + CAST(extract(day FROM i) AS HUGEINT) * 86400000000
      + lq_interval_micros(i)`,
  'lq_interval_text(i)': `printf('%s%d-%d %d %s%d:%d:%d', CASE WHEN lq_interval_months(i) < 0 THEN '-' ELSE '' END,
      abs(lq_interval_months(i)) // 12, abs(lq_interval_months(i)) % 12, extract(day FROM i),
      CASE WHEN lq_interval_micros(i) < 0 THEN '-' ELSE '' END, abs(lq_interval_micros(i)) // 3600000000,
      abs(lq_interval_micros(i)) // 60000000 % 60, abs(lq_interval_micros(i)) // 1000000 % 60)
      || CASE WHEN lq_interval_micros(i) % 1000000 = 0 THEN ''
        WHEN lq_interval_micros(i) % 1000 = 0 THEN printf('.%03d', abs(lq_interval_micros(i)) // 1000 % 1000)
        ELSE printf('.%06d', abs(lq_interval_micros(i)) % 1000000) END`,
  'lq_iso_part(n, unit)': `CASE WHEN n = 0 THEN '' ELSE CAST(n AS VARCHAR) || unit END`,
  // As JSON has it: each part with its own sign.
  'lq_iso_interval(i)': `CASE WHEN lq_interval_months(i) = 0 AND extract(day FROM i) = 0 AND lq_interval_micros(i) = 0 THEN 'P0Y' ELSE
      'P' || lq_iso_part(sign(lq_interval_months(i)) * (abs(lq_interval_months(i)) // 12), 'Y')
      || lq_iso_part(sign(lq_interval_months(i)) * (abs(lq_interval_months(i)) % 12), 'M')
      || lq_iso_part(extract(day FROM i), 'D') || CASE WHEN lq_interval_micros(i) = 0 THEN '' ELSE 'T' END
      || lq_iso_part(sign(lq_interval_micros(i)) * (abs(lq_interval_micros(i)) // 3600000000), 'H')
      || lq_iso_part(sign(lq_interval_micros(i)) * (abs(lq_interval_micros(i)) // 60000000 % 60), 'M')
      || CASE WHEN lq_interval_micros(i) % 60000000 = 0 THEN '' ELSE
        CASE WHEN lq_interval_micros(i) < 0 THEN '-' ELSE '' END || CAST(abs(lq_interval_micros(i)) // 1000000 % 60 AS VARCHAR)
        || rtrim(rtrim(printf('.%06d', abs(lq_interval_micros(i)) % 1000000), '0'), '.') || 'S' END END`,
  // Bytes as text, each that is part of no UTF-8 as a replacement character: by two hexadecimal digits.
  'lq_text_of_bytes(h)': String.raw`decode(unhex(array_to_string(list_transform(regexp_extract_all(h,
      '[0-7].|(?:C[2-9A-F]|D.)[89AB].|E0[AB].[89AB].|(?:E[1-9A-CEF])[89AB].[89AB].|ED[89].[89AB].|F0[9AB].[89AB].[89AB].|F[1-3][89AB].[89AB].[89AB].|F48.[89AB].[89AB].|..'),
      lambda c: CASE WHEN length(c) = 2 AND c >= '80' THEN 'EFBFBD' ELSE c END), '')))`,
  'lq_offset(z)': String.raw`to_minutes(
      CASE WHEN contains(z, '-') THEN -1 ELSE 1 END
      * (CAST(regexp_extract(z, '[+-](\d{1,2})', 1) AS BIGINT) * 60
        + coalesce(TRY_CAST(regexp_extract(z, ':(\d+)$', 1) || regexp_extract(z, '[+-]\d\d(\d+)$', 1) AS BIGINT), 0)))`,
  'lq_is_offset(z)': `regexp_full_match(z, '(?:UTC)?${OFFSET}')`,
  // DuckDB reads names in any case, GoogleSQL as they are spelt; none is in small letters throughout. It drops minutes of UTC+5:30.
  'lq_zone_name(z)': `CASE WHEN z = lower(z) OR regexp_matches(z, '^(?:UTC|GMT)[+-](?:[^0]|0.)') THEN 'logquay:' || z ELSE z END`,
  'lq_civil(t, z)': `CASE WHEN lq_is_offset(z) THEN t + lq_offset(z) ELSE timezone(lq_zone_name(z), timezone('UTC', t)) END`,
  'lq_instant(t, z)': `CASE WHEN lq_is_offset(z) THEN t - lq_offset(z) ELSE timezone('UTC', timezone(lq_zone_name(z), t)) END`,
  'lq_zone_suffix(m)': `printf('%s%02d%s', CASE WHEN m < 0 THEN '-' ELSE '+' END, abs(m) // 60,
      CASE WHEN m % 60 = 0 THEN '' ELSE printf(':%02d', abs(m) % 60) END)`,
  // Whether a text names a zone other than UTC: DuckDB reads one without it in the zone of a row before it.
  'lq_names_zone(s)': String.raw`contains(s, ':') AND NOT regexp_matches(s, ':\d{1,2}:\d{1,2}(?:\.\d+)?[Zz]?$')`,
  // DuckDB reads the zone once hours and minutes have two digits, names are in upper case.
  'lq_zoned_text(s)': String.raw`regexp_replace(regexp_replace(regexp_replace(upper(s), ' UTC([+-])', '\1'),
      '(\d[+-])(\d)(:\d+)?$', '\10\2\3'), '(\d[+-]\d\d:?)(\d)$', '\10\2')`,
  // A 60th second is the next minute's first, which DuckDB does not know: it reads the second before.
  'lq_has_60(s)': String.raw`contains(s, ':60') AND regexp_matches(s, '^[^:]*:\d{1,2}:60')`,
  'lq_59(s)': String.raw`regexp_replace(s, '^([^:]*:\d{1,2}):60', '\1:59')`,
  'lq_timestamp_of(s)': `CASE WHEN lq_names_zone(s) THEN timezone('UTC', TRY_CAST(lq_zoned_text(s) AS TIMESTAMPTZ))
      ELSE TRY_CAST(upper(s) AS TIMESTAMP) END`,
  'lq_timestamp(s)': `CASE WHEN regexp_full_match(s, '${INSTANT}') THEN lq_in_years_or_null(
      CASE WHEN lq_has_60(s) THEN lq_timestamp_of(lq_59(s)) + INTERVAL 1 SECOND ELSE lq_timestamp_of(s) END) END`,
  // The same, failing by itself: all of it folds, so that a bound from a parameter reaches the zone maps.
  'lq_timestamp_or_fail(s)': `CASE WHEN lq_has_60(s) OR NOT regexp_full_match(s, '${INSTANT}') OR s[1:4] IN ('0000', '0001', '9999') OR s[5] <> '-'
        THEN coalesce(lq_timestamp(s), CAST('logquay:cast' AS TIMESTAMP))
      WHEN lq_names_zone(s) THEN timezone('UTC', CAST(lq_zoned_text(s) AS TIMESTAMPTZ))
      ELSE CAST(upper(s) AS TIMESTAMP) END`,
  // Whether a text names no zone, so that one from elsewhere applies.
  'lq_is_civil(s)': `regexp_full_match(s, '${CIVIL}')`,
  'lq_civil_text(s)': `CASE WHEN lq_has_60(s) THEN TRY_CAST(replace(lq_59(s), 't', 'T') AS TIMESTAMP) + INTERVAL 1 SECOND
      ELSE TRY_CAST(replace(s, 't', 'T') AS TIMESTAMP) END`,
  // GoogleSQL drops the fraction of a 60th second from civil times alone.
  'lq_datetime(s)': `CASE WHEN regexp_full_match(s, '${CIVIL}') THEN lq_in_years_or_null(
      CASE WHEN lq_has_60(s) THEN date_trunc('second', lq_civil_text(s)) ELSE lq_civil_text(s) END) END`,
  'lq_date(s)': String.raw`CASE WHEN regexp_full_match(s, '\d{4,5}-\d{1,2}-\d{1,2}') THEN lq_date_in_years_or_null(TRY_CAST(s AS DATE)) END`,
  'lq_time(s)': `CASE WHEN regexp_full_match(s, '${TIME}') THEN
      CASE WHEN lq_has_60(s) THEN CAST(lq_datetime('1970-01-01 ' || s) AS TIME) ELSE TRY_CAST(s AS TIME) END END`,
};

/** The statements that set a database up for translated queries. Every value they rely on is explicit: UTC, no session state. */
export function setUpStatements(): string[] {
  return [
    "SET TimeZone = 'UTC'",
    ...Object.entries(MACROS).map(([head, body]) => `CREATE OR REPLACE MACRO ${head} AS ${body}`),
  ];
}
