/** Functions of STRING, in characters, that is code points. Those that also take BYTES say so. */
import type { SqlType } from '@logquay/googlesql/types';
import {
  type Argument,
  type Call,
  type FunctionRow,
  type FunctionTable,
  arg,
  nullFirst,
  raising,
  same,
  sqlOf,
} from '../expressions/call';
import { bytesToCodePoints, endOfBytes, substrBytes } from './bytes';
import { physicalFieldNames, quoteText } from '../../sql';
import { LIMITS, rewritten, unlessOver } from '../expressions/makers';
import { numericText } from '../expressions/casts';
import { concatTexts } from './operators';
import { ofBytesToo, overLatin1 } from './latin1';
import { ownFunction } from './own-functions';

/** Two texts, or the digits of two BYTES. */
function onTexts(print: (a: string, b: string) => string): (call: Call) => string {
  return (call) => {
    const [a, b] = [arg(call, 0), arg(call, 1)];
    return a.type.kind === 'BYTES' ? print(`hex(${a.sql})`, `hex(${b.sql})`) : print(a.sql, b.sql);
  };
}

function ofBytes(call: Call): boolean {
  return arg(call, 0).type.kind === 'BYTES';
}

/** The first character's number; the first byte's. */
function ascii(call: Call): string {
  return call.bind([sqlOf(call, 0)], (s) =>
    ofBytes(call)
      ? `CASE WHEN octet_length(${s}) = 0 THEN CAST(0 AS BIGINT) ELSE CAST('0x' || hex(${s})[1:2] AS BIGINT) END`
      : `CASE WHEN ${s} = '' THEN CAST(0 AS BIGINT) WHEN unicode(${s}) > 127 THEN ${call.fail('argument')} ` +
        `ELSE CAST(unicode(${s}) AS BIGINT) END`,
  );
}

/** The letters of ASCII, which alone have a case in BYTES. */
const UPPERCASE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWERCASE = UPPERCASE.toLowerCase();

const translated =
  (from: string, to: string) =>
  (call: Call): string =>
    `translate(${sqlOf(call, 0)}, ${quoteText(from)}, ${quoteText(to)})`;

/** A macro of one text, which repeats it. */
const named =
  (macro: string) =>
  (call: Call): string =>
    call.bind([sqlOf(call, 0)], (s) => `${macro}(${s})`);

function trim(duckName: string): FunctionRow {
  return ofBytesToo((call) => `${duckName}(${sqlOf(call, 0)}, ${call.args[1]?.sql ?? quoteText(WHITE_SPACE)})`);
}

/**
 * Positions count from 1, from the end where they are negative; 0 is 1, and what lies before the first character is the
 * first one.
 */
function substr(call: Call): string {
  if (ofBytes(call)) return substrBytes(call);
  const [text, position] = [sqlOf(call, 0), arg(call, 1)];
  const length = call.args[2] ?? null;
  const plainLength = length === null || (length.constant !== null && !length.constant.startsWith('-'));
  if (position.constant !== null && Number(position.constant) > 0 && plainLength) {
    const count = length === null ? '' : `, ${upTo(LONGEST, length)}`;
    return `substr(${text}, ${upTo(LONGEST, position)}${count})`;
  }
  const given = [position, ...(length === null ? [] : [length])].map((a) =>
    a.constant === null ? `CASE WHEN ${a.sql} IS NOT NULL THEN ${upTo(LONGEST, a)} END` : upTo(LONGEST, a),
  );
  return call.bind([text, ...given], (s, p, n) => {
    const start = `CASE WHEN ${p} = 0 OR ${p} < -length(${s}) THEN 1 ELSE ${p} END`;
    if (n === undefined) return `substr(${s}, ${start})`;
    return `CASE WHEN ${n} < 0 THEN ${call.fail('argument')} ELSE substr(${s}, ${start}, ${n}) END`;
  });
}

/** DuckDB refuses larger positions and lengths; no text is as long. */
const LONGEST = 2_147_483_647;

function upTo(most: number, { sql, constant }: Argument): string {
  if (constant !== null) return BigInt(constant) > most ? `${most}::BIGINT` : sql;
  return `least(${sql}, ${most})`;
}

function end(duckName: 'left' | 'right'): (call: Call) => string {
  return (call) => {
    if (ofBytes(call)) return endOfBytes(call, duckName);
    const count = arg(call, 1);
    if (count.constant !== null && !count.constant.startsWith('-'))
      return `${duckName}(${sqlOf(call, 0)}, ${upTo(LONGEST, count)})`;
    return call.bind(
      [sqlOf(call, 0), `CASE WHEN ${count.sql} IS NOT NULL THEN ${upTo(LONGEST, count)} END`],
      (s, n) => `CASE WHEN ${n} < 0 THEN ${call.fail('argument')} ELSE ${duckName}(${s}, ${n}) END`,
    );
  };
}

function pad(duckName: 'lpad' | 'rpad'): FunctionRow {
  return ofBytesToo((call) =>
    call.bind([sqlOf(call, 0), sqlOf(call, 1), call.args[2]?.sql ?? "' '"], (s, n, filler) => {
      const wrong = `${n} < 0 OR ${filler} = ''`;
      const over = `${n} > ${LIMITS.filled}`;
      const count = `CAST(CASE WHEN ${over} THEN 0 ELSE ${n} END AS INTEGER)`;
      const text = unlessOver(call, over, `${duckName}(${s}, ${count}, ${filler})`);
      return `CASE WHEN ${wrong} THEN ${call.fail('argument')} ELSE ${text} END`;
    }),
  );
}

function repeat(call: Call): string {
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (s, n) => {
    const over = `strlen(${s}) * CAST(${n} AS DOUBLE) > ${LIMITS.filled}`;
    const text = unlessOver(call, over, `repeat(${s}, CASE WHEN ${over} THEN 0 ELSE ${n} END)`);
    return `CASE WHEN ${n} < 0 THEN ${call.fail('argument')} ELSE ${text} END`;
  });
}

function split(call: Call): string {
  const separator = call.args[1];
  if (separator === undefined || separator.constant !== null)
    return `string_split(${sqlOf(call, 0)}, ${separator?.sql ?? "','"})`;
  // DuckDB takes a NULL for a separator that is not there.
  return call.bind(
    [sqlOf(call, 0), separator.sql],
    (s, by) => `CASE WHEN ${by} IS NOT NULL THEN string_split(${s}, ${by}) END`,
  );
}

/**
 * The place of the n-th occurrence, which may overlap the one before: a search for each, from behind the last. Negative
 * positions count from the end and search backwards, which is a search in the texts reversed.
 */
function instr(call: Call): string {
  const [position, occurrence] = [call.args[2], call.args[3]];
  const first = position === undefined || position.constant === '1';
  if (first && (occurrence === undefined || occurrence.constant === '1'))
    return same('strpos')({ ...call, args: call.args.slice(0, 2) });
  return call.bind(
    [sqlOf(call, 0), sqlOf(call, 1), position?.sql ?? '1', occurrence?.sql ?? '1'],
    (s, sub, given, n) => {
      const searches = `least(${n}, length(${s}) + 2)`;
      // Behind the text, and before it, is nothing: no place that DuckDB's functions or INT64 do not hold.
      const p = `greatest(least(${given}, length(${s}) + 2), -length(${s}) - 2)`;
      const forwards = nthPlace(s, sub, `${p} - 1`, searches);
      const onlyForwards = position === undefined || (position.constant !== null && Number(position.constant) > 0);
      const from = `greatest(-${p} - length(${sub}), 0)`;
      const backwards = call.bind([reversed(s), reversed(sub)], (x, y) => {
        const place = nthPlace(x, y, from, searches);
        return `CASE WHEN ${place} > length(${x}) THEN length(${x}) + 1 ELSE length(${x}) - ${place} - length(${y}) + 2 END`;
      });
      // The empty text is at every place, the one behind the last character included.
      const empty = `CASE WHEN ${p} > 0 THEN ${p} + ${searches} - 1 ELSE length(${s}) + 2 + ${p} - (${searches} - 1) END`;
      return (
        `CASE WHEN ${s} IS NULL OR ${sub} IS NULL OR ${given} IS NULL OR ${n} IS NULL THEN NULL WHEN ${given} = 0 OR ${n} < 1 THEN ${call.fail('argument')} ` +
        `WHEN ${sub} = '' THEN CASE WHEN ${empty} BETWEEN 1 AND length(${s}) + 1 THEN ${empty} ELSE 0 END ` +
        `WHEN ${searches} > ${LIMITS.occurrences} THEN ${call.fail('size')} ` +
        `ELSE list_transform([${onlyForwards ? forwards : `CASE WHEN ${p} > 0 THEN ${forwards} ELSE ${backwards} END`}], lambda place: CASE WHEN place > length(${s}) THEN 0 ELSE place END)[1] END`
      );
    },
  );
}

/** Where the n-th occurrence behind `from` starts; beyond the text without one. */
function nthPlace(s: string, sub: string, from: string, n: string): string {
  const next = `place + coalesce(nullif(strpos(substr(${s}, place + 1), ${sub}), 0), length(${s}) + 1)`;
  return `list_reduce(range(0, CAST(${n} AS BIGINT)), lambda place, turn: ${next}, CAST(${from} AS BIGINT))`;
}

function reversed(text: string): string {
  return `array_to_string(list_reverse(string_split(${text}, '')), '')`;
}

/** A NULL among them makes NULL of all; surrogates are no characters. */
function codePointsToString(call: Call): string {
  return call.bind([sqlOf(call, 0)], (list) => {
    const wrong = `list_filter(${list}, lambda p: p < 0 OR p > 1114111 OR p BETWEEN 55296 AND 57343)`;
    return (
      `CASE WHEN ${list} IS NULL OR list_count(${list}) < len(${list}) THEN NULL ` +
      `WHEN len(${wrong}) > 0 THEN ${call.fail('argument')} ` +
      `ELSE array_to_string(list_transform(${list}, lambda p: chr(CAST(p AS INTEGER))), '') END`
    );
  });
}

/** Whether any text inside a value, at any depth, contains the other, ignoring case. */
function containsSubstr(call: Call): string {
  const value = arg(call, 0);
  return call.bind([value.sql, sqlOf(call, 1)], (x, needle) => {
    const found = anywhere(x, value.type, (text) => `contains(lq_folded(${text}), lq_folded(${needle}))`);
    return found ?? call.unsupported('CONTAINS_SUBSTR of this type');
  });
}

function anywhere(x: string, type: SqlType, test: (text: string) => string): string | null {
  switch (type.kind) {
    case 'STRING':
      return test(x);
    case 'INT64':
    case 'BOOL':
    case 'DATE':
      return test(`CAST(${x} AS VARCHAR)`);
    case 'NUMERIC':
    case 'BIGNUMERIC':
      return test(numericText(x, type.kind));
    case 'FLOAT64':
      return test(`lq_float_string(${x})`);
    case 'ARRAY': {
      const inner = anywhere('e', type.element, test);
      return inner === null
        ? null
        : `(CASE WHEN ${x} IS NOT NULL THEN len(list_filter(${x}, lambda e: ${inner})) > 0 END)`;
    }
    case 'STRUCT': {
      const names = physicalFieldNames(type.fields).map(quoteText);
      const fields = type.fields.flatMap((f, i) => anywhere(`struct_extract(${x}, ${names[i]!})`, f.type, test) ?? []);
      return fields.length === 0 ? null : `(${fields.join(' OR ')})`;
    }
    default:
      return null;
  }
}

function modeOf(call: Call): string {
  return call.args[1]?.constant ?? 'NFC';
}

function normalForm(call: Call, s: string): string {
  const mode = modeOf(call);
  if (mode === 'NFC') return call.bind([s], (x) => `lq_nfc(${x})`);
  return ownFunction(
    call,
    'lq_normalized',
    [
      { sql: s, sized: 'text' },
      { sql: quoteText(mode), sized: 'text' },
    ],
    { text: true },
  );
}

function translateCharacters(call: Call): string {
  return call.bind(
    call.args.map((a) => a.sql),
    (s, from, to) => {
      const twice = `len(list_distinct(string_split(${from}, ''))) < length(${from})`;
      const text = `translate(${s}, ${from}, ${to})`;
      const { constant } = arg(call, 1);
      if (constant !== null) {
        const repeats = new Set(constant).size < Array.from(constant).length;
        return repeats
          ? `CAST(CASE WHEN ${s} IS NOT NULL AND ${to} IS NOT NULL THEN ${call.fail('argument')} END AS VARCHAR)`
          : text;
      }
      return `CASE WHEN ${twice} THEN ${call.fail('argument')} ELSE ${text} END`;
    },
  );
}

/** DuckDB counts bytes, which are the characters of ASCII alone. */
function editDistance(call: Call): string {
  const bound = call.named['MAX_DISTANCE'];
  if (bound !== undefined) {
    const distance = editDistance({ ...call, named: {} });
    return call.bind(
      [distance, bound.sql],
      (d, most) =>
        // LEAST ignores a NULL.
        `CASE WHEN ${d} IS NULL OR ${most} IS NULL THEN NULL WHEN ${most} < 0 THEN ${call.fail('argument')} ELSE least(${d}, ${most}) END`,
    );
  }
  return call.bind([sqlOf(call, 0), sqlOf(call, 1)], (a, b) => {
    const own = ownFunction(
      call,
      'lq_edit_distance',
      [a, b].map((sql) => ({ sql, sized: 'text' })),
    );
    const isAscii = `strlen(${a}) = length(${a}) AND strlen(${b}) = length(${b})`;
    return `CASE WHEN ${isAscii} THEN levenshtein(${a}, ${b}) ELSE ${own} END`;
  });
}

export const STRING_FUNCTIONS = {
  ASCII: ascii,
  BYTE_LENGTH: (call) =>
    arg(call, 0).type.kind === 'BYTES' ? `octet_length(${sqlOf(call, 0)})` : `strlen(${sqlOf(call, 0)})`,
  CHAR_LENGTH: same('length'),
  // DuckDB fails for statistics beyond INTEGER while it plans, where no TRY is.
  CHR: raising((call) =>
    call.bind(
      [sqlOf(call, 0)],
      (x) => `chr(CAST(CASE WHEN ${x} >> 21 = 0 THEN ${x} ELSE (${x} & 0) - 1 END AS INTEGER))`,
    ),
  ),
  CODE_POINTS_TO_STRING: codePointsToString,
  CONCAT: concatTexts,
  CONTAINS_SUBSTR: containsSubstr,
  EDIT_DISTANCE: ofBytesToo(editDistance),
  ENDS_WITH: onTexts((a, b) => `suffix(${a}, ${b})`),
  INITCAP: initcap,
  INSTR: nullFirst(ofBytesToo(instr)),
  LEFT: nullFirst(end('left')),
  LENGTH: (call) =>
    arg(call, 0).type.kind === 'BYTES' ? `octet_length(${sqlOf(call, 0)})` : `length(${sqlOf(call, 0)})`,
  LOWER: (call) =>
    ofBytes(call) ? overLatin1(call, { emit: translated(UPPERCASE, LOWERCASE) }) : named('lq_lower')(call),
  LPAD: nullFirst(pad('lpad')),
  LTRIM: trim('ltrim'),
  NORMALIZE: (call) => normalForm(call, sqlOf(call, 0)),
  NORMALIZE_AND_CASEFOLD: (call) => call.bind([normalForm(call, sqlOf(call, 0))], (x) => `lq_casefolded(${x})`),
  REPEAT: nullFirst(ofBytesToo(repeat)),
  REPLACE: ofBytesToo((call) =>
    rewritten(
      call,
      (_, from, to) => `coalesce(strlen(${to}) / greatest(strlen(${from}), 1), 0)`,
      (...names) => `replace(${names.join(', ')})`,
    ),
  ),
  REVERSE: ofBytesToo((call) => reversed(sqlOf(call, 0))),
  RIGHT: nullFirst(end('right')),
  RPAD: nullFirst(pad('rpad')),
  RTRIM: trim('rtrim'),
  SPLIT: ofBytesToo(split),
  STARTS_WITH: onTexts((a, b) => `starts_with(${a}, ${b})`),
  STRPOS: ofBytesToo(same('strpos')),
  SUBSTR: nullFirst(substr),
  TO_CODE_POINTS: (call) =>
    arg(call, 0).type.kind === 'BYTES'
      ? bytesToCodePoints(call)
      : `list_transform(list_filter(string_split(${sqlOf(call, 0)}, ''), lambda c: c <> ''), lambda c: CAST(unicode(c) AS BIGINT))`,
  TRANSLATE: nullFirst(ofBytesToo(translateCharacters)),
  TRIM: trim('trim'),
  UNICODE: (call) =>
    call.bind([sqlOf(call, 0)], (s) => `CAST(CASE ${s} WHEN '' THEN 0 ELSE unicode(${s}) END AS BIGINT)`),
  UPPER: (call) =>
    ofBytes(call) ? overLatin1(call, { emit: translated(LOWERCASE, UPPERCASE) }) : named('lq_upper')(call),
} satisfies FunctionTable;

// ------------------------------------------------------------------------------------------
// INITCAP: the first letter of each word upper, the others lower.

/** Unicode's White_Space: TRIM takes it off when it is not told what, and it ends a word of INITCAP. */
const WHITE_SPACE =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

const DELIMITERS = `${WHITE_SPACE}[](){}/|<>!?@"^#$&~_,.:;*%+-\\`;

export function initcap(call: Call): string {
  const delimiters = call.args[1];
  if (delimiters !== undefined && delimiters.constant === null) return initcapOf(call, delimiters.sql);
  const set = delimiters?.constant ?? DELIMITERS;
  const escaped = set.replace(/[\\\][^-]/g, '\\$&');
  const pattern = quoteText(set === '' ? '(?s).+' : `[${escaped}]|[^${escaped}]+`);
  // Others are no characters of what is ASCII.
  const inAscii = quoteText(set.replace(/[^\0-\x7f]/gu, ''));
  return call.bind([sqlOf(call, 0)], (s) => capitalized(call, s, inAscii, pattern, quoteText(`${set}ß`)));
}

/**
 * Texts in ASCII by a function of our own; the letters of others as Unicode has them in DuckDB, by one regular expression, some thirty
 * times as long.
 *
 * @param s names the text
 * @param unchanged in SQL: the delimiters, which stay as they are, and the sharp s, which has no capital form of one letter
 */
function capitalized(call: Call, s: string, delimiters: string, pattern: string, unchanged: string): string {
  const given = [s, delimiters].map((sql) => ({ sql, sized: 'text' as const }));
  const inAscii = ownFunction(call, 'lq_initcap', given, { text: true });
  const first = `CASE WHEN contains(${unchanged}, w[1]) THEN w[1] ELSE upper(w[1]) END`;
  const words = `list_transform(regexp_extract_all(${s}, ${pattern}), lambda w: ${first} || lower(w[2:]))`;
  return `CASE WHEN strlen(${s}) = length(${s}) THEN ${inAscii} ELSE array_to_string(${words}, '') END`;
}

function initcapOf(call: Call, delimiters: string): string {
  return call.bind([sqlOf(call, 0), delimiters], (s, set) =>
    call.bind([`regexp_replace(${set}, '[\\\\\\]\\[^-]', '\\\\\\0', 'g')`, `${set} || 'ß'`], (escaped, unchanged) => {
      const pattern = `CASE ${set} WHEN '' THEN '(?s).+' ELSE '[' || ${escaped} || ']|[^' || ${escaped} || ']+' END`;
      const text = capitalized(call, s, set, pattern, unchanged);
      return `CASE WHEN ${s} IS NULL OR ${set} IS NULL THEN NULL ELSE ${text} END`;
    }),
  );
}
