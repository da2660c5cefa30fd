/** The edges of every type, as GoogleSQL expressions, and the texts that functions read: patterns, formats, paths, zones. */

const quoted = (texts: readonly string[]): string[] =>
  texts.map((text) => `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t')}'`);
const of = (type: string, texts: readonly string[]): string[] => texts.map((text) => `${type} '${text}'`);

export const STRINGS = quoted(
  "¦a¦abc¦Hello, World¦naïve café¦cafe\u0301¦日本語テキスト¦😀👍🏽 ok¦  padded\t ¦a,b,,c¦GET /rest/v1/a%20b?x=1&y=2¦100%_\\¦ß İ Σ¦line one\nline two¦ΟΔΟΣ όδος¦ﬁ ﬂ ǆ ŉ ǰ¦straße STRASSE ſ K Å¦e\u0323\u0307 ḍ\u0307 한국¦don't o'neil-smith x2y¦aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab¦\u00a0\u2003x\u200b".split(
    '¦',
  ),
);

export const VALUES: Readonly<Record<string, readonly string[]>> = {
  STRING: STRINGS,
  BYTES:
    String.raw`b''¦b'abc'¦b'\xff\x00\x80'¦b'\xe6\x97\xa5'¦b'a,b'¦b'\xed\xa0\x80x'¦b'ABC abc'¦b' \t1.2 '¦b'\xe9\xc9\xb5 e\xcc\x81'¦b'a\r\nb\n'¦b'\'it\\x27s" \x60'¦b'ab%_aab'¦b'Hello, World'`.split(
      '¦',
    ),
  BOOL: ['TRUE', 'FALSE'],
  INT64: '0¦1¦-1¦2¦3¦-2¦7¦100¦2147483648¦9223372036854775807¦(-9223372036854775807 - 1)'.split('¦'),
  FLOAT64:
    "0.0¦-0.0¦1.5¦-1.5¦2.5¦0.1¦3.0¦-7.25¦1e16¦1.7e308¦-1.7e308¦5e-324¦CAST('nan' AS FLOAT64)¦CAST('inf' AS FLOAT64)¦CAST('-inf' AS FLOAT64)".split(
      '¦',
    ),
  NUMERIC: of('NUMERIC', '0 1.5 -2.5 3 0.000000001 99999999999999999999999999999.999999999 -123.456'.split(' ')),
  BIGNUMERIC: of('BIGNUMERIC', '0 1.5 -2.5 3 1e-38 1e38 -123.456'.split(' ')),
  DATE: of(
    'DATE',
    '2026-09-30 2024-02-29 1969-12-31 2026-01-01 2000-12-31 2021-01-03 2018-12-31 2026-03-29 0987-05-04 0001-01-01 9999-12-31'.split(
      ' ',
    ),
  ),
  DATETIME: of(
    'DATETIME',
    '2026-09-30 11:22:33.123456¦2024-02-29 23:59:59.999999¦1969-12-31 23:59:59.5¦2027-01-03 00:00:00¦2026-03-29 02:30:00¦2026-10-25 02:15:00¦2026-03-08 02:59:59.999999¦2026-11-01 01:30:00¦2026-04-05 01:45:00¦2026-10-04 02:10:00¦0001-01-01 00:00:00¦9999-12-31 23:59:59.999999'.split(
      '¦',
    ),
  ),
  TIMESTAMP: of(
    'TIMESTAMP',
    '2026-09-30 11:22:33.123456+00¦2026-03-29 01:30:00+00¦2024-02-29 23:59:59.999999+00¦1969-12-31 23:59:59.5+00¦2027-01-03 00:00:00+00¦2026-10-25 00:59:59.000001+00¦1900-01-01 00:00:00+00¦2026-10-25 01:30:00+00¦2026-11-01 05:30:00+00¦2026-11-01 06:30:00.25+00¦2026-03-08 07:00:00+00¦2026-04-04 15:15:00+00¦2026-10-03 16:00:00+00¦0001-01-01 00:00:00+00¦9999-12-31 23:59:59.999999+00'.split(
      '¦',
    ),
  ),
  TIME: of('TIME', ['00:00:00', '11:22:33.123456', '23:59:59.999999', '12:00:00']),
  INTERVAL:
    "INTERVAL 1 DAY¦INTERVAL -3 MONTH¦INTERVAL '1:30:00.5' HOUR TO SECOND¦INTERVAL '1-2 -3 4:5:6.789' YEAR TO SECOND¦INTERVAL 0 SECOND¦INTERVAL 40 HOUR".split(
      '¦',
    ),
  JSON: of(
    'JSON',
    'null¦true¦1¦-2.5¦9007199254740993¦"text"¦"12"¦[1, "two", null, [3]]¦{"a": {"b": [10, 20]}, "c": "x", "d": null, "e e": true}¦[]¦{}'.split(
      '¦',
    ),
  ),
  'ARRAY<INT64>': '[1, 2, 3]¦ARRAY<INT64>[]¦[-1]¦[104, 228, 128512]¦[5, 5, 1]'.split('¦'),
  'ARRAY<FLOAT64>': ['[1.5, -2.0]', '[0.5, 3.0]', 'ARRAY<FLOAT64>[]'],
  'ARRAY<STRING>': [`['a', 'b', 'c']`, 'ARRAY<STRING>[]', `['', 'é']`],
  'ARRAY<BYTES>': [`[b'a', b'\\xff']`, 'ARRAY<BYTES>[]', `[b'', b'a,b']`],
};

/** Counts and positions that do not make a text of gigabytes. */
const SMALL = '-3 -1 0 1 2 3 5 12'.split(' ');
const JSON_TEXTS = quoted(
  String.raw`{"a": {"b": [10, 20, {"c": "d"}]}, "x": "é\n", "n": 1.50, "t": true, "z": null, "k.k": 3, "": 1}¦[1, "two", null, [3, 4], {"a": 5}]¦not json at all¦{"a": 1¦"just text"¦12.50¦null¦¦ {"a" : {"b" : 1e3 } } ¦{"a":1,"a":2}¦NaN¦[-inf]¦{"a": NaN}¦{"a": 1,}`.split(
    '¦',
  ),
);
const JSON_PATHS = quoted('$ $.a $.a.b $.a.b[1] $.a.b[2].c $[0] $[3][1] $.x $."k.k" $.none $.t $.z $.n'.split(' '));
const EXTRACT_PATHS = quoted("$ $.a $['a'] $['k.k'] $[0] $.a.b[1] $.x $.none $.n".split(' '));
const SCALARS = quoted('$.x $.n $.t $.z $.a $[1] $ $.a.b[0]'.split(' '));
const PATTERNS = quoted(
  String.raw`a¦¦^[A-Z][a-z]+¦(\w+), (\w+)¦(b)|(c)¦\d+¦[^,]*¦(?i)HELLO¦.¦é|日¦\bW\w*¦(?P<n>o)¦$¦(¦\s+¦[[:alpha:]]{2,3}?¦\p{Han}+`.split(
    '¦',
  ),
);
/** Of BYTES alone. */
const BYTE_PATTERNS =
  String.raw`b'\xff' b'[^a]' b'(?i)\xe9+' b'[\x80-\xff]*' b'\\C' b'\\Q\\C\\E' b'\\pL+' b'\\PL' b'\\x{e9}|\\377' b'\\x{100}' b'[\\400]' b'\\w\\W' b'(a)|b' b'a*' b'\x00.'`.split(
    ' ',
  );
const SOME_BYTES = String.raw`b'\xff' b'\x00' b'\xe9\xc9' b'\n' b'\xa9\xcc'`.split(' ');
const LIKE_PATTERNS = [
  ...quoted('%¦_¦a%¦%b¦%a_%¦_b%¦%a%b%¦¦a\\%¦%\\'.split('¦')),
  ...[`b'\\xff%'`, `b'%\\x80'`, `b'_\\xc9%'`, `b'%\\x00_%'`],
];
const REPLACEMENTS = quoted(String.raw`¦X¦<\\0>¦\\1¦[\\2]¦\\3¦$1¦\\¦é`.split('¦')).map((text) =>
  text.replaceAll('\\\\\\\\', '\\\\'),
);
const ZONES = quoted(
  'UTC America/New_York Europe/Berlin Asia/Kolkata +05:30 -08 UTC+5:30 UTC-0330 Asia/Tokyo Australia/Lord_Howe Australia/Adelaide Asia/Kathmandu America/St_Johns America/Sao_Paulo Pacific/Apia Pacific/Chatham Africa/Casablanca Asia/Tehran Europe/Dublin Antarctica/Troll America/Havana Asia/Pyongyang +14:00 US/Pacific utc EST5EDT Nowhere/None'.split(
    ' ',
  ),
);
const FORMATS = quoted(
  '%Y-%m-%d %H:%M:%S¦%F %T¦%A %a %B %b %h %d %e %j¦%I:%M %p %P %k %l¦%E4Y %E*S %E3S %E1S %E0S¦%E4Y %E6S %E9S %E*f¦%y %C %G %g %V %U %W %u %w %Q¦%s %Z %z %Ez %:z¦%D %R %r %x %X %c¦%%literal%n%t é¦%H¦¦%Q of %Y'.split(
    '¦',
  ),
);
const DATE_TEXT: readonly string[] = quoted(
  '5 Sep 2026¦2026-9-5¦2026-53¦2026 00¦2026¦3/2026¦2026060¦ 9/ 3/26¦10000¦-5¦2026-09-30¦30/09/2026¦Sep 30 2026¦20260930¦2026-13-01¦¦Wednesday, 30 September 2026¦273 2026¦366 2025¦2026-02-30'.split(
    '¦',
  ),
);
const DATE_READING = quoted(
  '%e %b %Y¦%Y%j¦%a, %d %B %Y¦%x¦%Y-%m-%d¦%d/%m/%Y¦%b %d %Y¦%Y%m%d¦%F¦%A, %d %B %Y¦%j %Y'.split('¦'),
);
const TIME_TEXT = quoted(
  '9/3/26 1:2:3 -07¦2026-09-30 11:22:60¦12:59:59 am¦1:2:3.1234567¦2026-09-30 11:22:33 America/New_York¦30/Sep/2026:1:22:33 +1430¦2026-09-30 11:22:33 +05¦-1¦MonTue 5¦2026-09-30 11:22:33¦2026-09-30T11:22:33.123456¦11:22:33¦30/Sep/2026:11:22:33 +0200¦1790769600¦2026-09-30 11:22 PM¦2026-09-30 24:00:00¦junk¦9/3/26 1:02:03'.split(
    '¦',
  ),
);
const TIME_READING = quoted(
  '%F %T %Ez¦%I:%M:%S %p¦%r¦%H:%M:%E6S¦%H:%M:%E*S¦%D %T %z¦%A %k¦%Y-%m-%d %H:%M:%S¦%FT%H:%M:%E*S¦%H:%M:%S¦%d/%b/%Y:%H:%M:%S %z¦%s¦%Y-%m-%d %I:%M %p¦%T¦%m/%d/%y %H:%M:%S¦%F %T'.split(
    '¦',
  ),
);
const URLS = quoted(
  'http://www.example.co.uk:8080/path?q=1¦https://user:pw@Example.COM¦ftp://127.0.0.1/x¦www.google.com¦//a.b.c/d¦mailto:a@b.de¦¦http://[::1]:80/¦not a url at all¦http://xn--4gbrim.xn--e1a4c/'.split(
    '¦',
  ),
);
const ADDRESSES = quoted('1.2.3.4¦::1¦2001:db8::ff00:42:8329¦::ffff:1.2.3.4¦x¦256.1.1.1¦'.split('¦'));
const RAW_ADDRESSES = [
  `b'\\x01\\x02\\x03\\x04'`,
  `b'\\x20\\x01\\x0d\\xb8\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1'`,
  `b'abc'`,
];
const NUMBERS = quoted('12¦ -1.5 ¦1e3¦+7¦1,000¦abc¦¦0.1234567891¦1e40'.split('¦'));
const HEX = quoted('¦00ff¦FFfF¦abc¦xyz'.split('¦'));
const BASE64 = quoted('¦YWJj¦YQ==¦/+8=¦_-8=¦YQ¦***'.split('¦'));
const TEMPLATES = quoted(
  '%+e¦%.0e¦%-12.1e|¦% G¦%+d¦%5%¦%¦%ld¦%t|%T¦%-20t|¦%.5T¦%20f¦%.f¦%5s|%-5T|¦%E %G¦%s and %s¦%s¦[%d]¦%5.2f¦%T¦%t¦%x¦%010d¦%-8s|¦%e¦%g¦%%¦%i¦%o¦%X¦%+d¦%.3s¦%q'.split(
    '¦',
  ),
);
const CLOCKED = 'HOUR MINUTE SECOND MILLISECOND MICROSECOND'.split(' ');
const DAYS = 'DAY WEEK ISOWEEK WEEK(MONDAY) WEEK(THURSDAY) MONTH QUARTER YEAR ISOYEAR'.split(' ');
const MODES = ['NFC', 'NFD', 'NFKC', 'NFKD'];

/** Date parts by the type that is taken apart. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  DATE: DAYS,
  TIME: CLOCKED,
  DATETIME: [...DAYS, ...CLOCKED],
  TIMESTAMP: [...DAYS, ...CLOCKED],
};

export interface Special {
  readonly texts: readonly string[];
  /** Has to be a literal. */
  readonly constant?: true;
}

const SHIFTS = '0 1 7 8 9 24 63 64 200 -1'.split(' ');
const one = (...lists: readonly (readonly string[] | null)[]): readonly (Special | null)[] =>
  lists.map((texts) => (texts === null ? null : { texts }));
const fixed = (texts: readonly string[]): Special => ({ texts, constant: true });

/** What an argument is instead of any value of its type; by function, then position. */
export const SPECIAL: Readonly<Record<string, readonly (Special | null)[]>> = {
  $like: one(null, LIKE_PATTERNS),
  $shift_left: one(null, SHIFTS),
  $shift_right: one(null, SHIFTS),
  ARRAY_SLICE: one(null, SMALL, SMALL),
  CHR: one('0 65 233 26085 128512 55296 -1 1114112'.split(' ')),
  CURRENT_DATE: one(ZONES),
  DATE: one(null, '1 2 12 13 0'.split(' '), ['1', '29', '30', '31']),
  DATETIME: one(
    null,
    ['1', '2', '12', '13'],
    ['1', '29', '31'],
    ['0', '23', '24'],
    ['0', '59'],
    ['0', '59', '60', '61'],
  ),
  TIME: one(['0', '23', '24', '-1'], ['0', '59', '60'], ['0', '59', '60']),
  FORMAT: [fixed(TEMPLATES)],
  FORMAT_DATE: [fixed(FORMATS)],
  FORMAT_DATETIME: [fixed(FORMATS), null, { texts: ZONES }],
  FORMAT_TIME: [fixed(quoted('%H %M %Y %Q¦%H:%M:%S¦%I %p¦%E*S¦%E3S¦%T %R¦%k %l¦%%¦%X'.split('¦')))],
  FORMAT_TIMESTAMP: [fixed(FORMATS), null, { texts: ZONES }],
  FROM_BASE64: one(BASE64),
  FROM_HEX: one(HEX),
  GENERATE_ARRAY: one(SMALL, SMALL, SMALL),
  GENERATE_DATE_ARRAY: one(
    of('DATE', ['2026-01-30', '2026-03-01']),
    of('DATE', ['2026-03-05', '2026-01-01']),
    SMALL,
    'DAY WEEK MONTH QUARTER YEAR'.split(' '),
  ),
  GENERATE_TIMESTAMP_ARRAY: one(
    of('TIMESTAMP', ['2026-01-01 00:00:00+00']),
    of('TIMESTAMP', ['2026-01-01 05:00:00+00', '2025-12-31 20:00:00+00']),
    SMALL,
    ['HOUR', 'MINUTE', 'DAY'],
  ),
  INITCAP: one(null, quoted('¦ ¦,¦l¦ ,'.split('¦'))),
  INSTR: one(null, [...quoted('¦a¦l¦o¦é¦語'.split('¦')), ...SOME_BYTES], SMALL, SMALL),
  JSON_EXTRACT: [{ texts: JSON_TEXTS }, fixed(EXTRACT_PATHS)],
  JSON_EXTRACT_ARRAY: [{ texts: JSON_TEXTS }, fixed(EXTRACT_PATHS)],
  JSON_EXTRACT_SCALAR: [{ texts: JSON_TEXTS }, fixed(EXTRACT_PATHS)],
  JSON_EXTRACT_STRING_ARRAY: [{ texts: JSON_TEXTS }, fixed(EXTRACT_PATHS)],
  JSON_QUERY: [{ texts: JSON_TEXTS }, fixed(JSON_PATHS)],
  JSON_QUERY_ARRAY: [{ texts: JSON_TEXTS }, fixed(JSON_PATHS)],
  JSON_VALUE: [{ texts: JSON_TEXTS }, fixed([...JSON_PATHS, ...SCALARS])],
  JSON_VALUE_ARRAY: [{ texts: JSON_TEXTS }, fixed(JSON_PATHS)],
  JSON_KEYS: [null, fixed(['1', '2', '100'])],
  LEFT: one(null, SMALL),
  LPAD: one(null, SMALL, [...quoted(['', 'x', 'ab', 'é']), ...SOME_BYTES]),
  LTRIM: one(null, [...quoted('¦ ¦a¦Hab¦é日'.split('¦')), ...SOME_BYTES]),
  'NET.HOST': one(URLS),
  'NET.PUBLIC_SUFFIX': one(URLS),
  'NET.REG_DOMAIN': one(URLS),
  'NET.IPV4_FROM_INT64': one('0 16909060 4294967295 -1 4294967296 -2147483648'.split(' ')),
  'NET.IPV4_TO_INT64': one(RAW_ADDRESSES),
  'NET.IP_FROM_STRING': one(ADDRESSES),
  'NET.SAFE_IP_FROM_STRING': one(ADDRESSES),
  'NET.IP_NET_MASK': one(['4', '16', '5'], '0 20 32 33 128'.split(' ')),
  'NET.IP_TO_STRING': one(RAW_ADDRESSES),
  'NET.IP_TRUNC': one(RAW_ADDRESSES, ['0', '12', '32', '33']),
  NORMALIZE: [null, fixed(MODES)],
  NORMALIZE_AND_CASEFOLD: [null, fixed(MODES)],
  PARSE_NUMERIC: one(NUMBERS),
  PARSE_DATE: [fixed(DATE_READING), { texts: DATE_TEXT }],
  PARSE_DATETIME: [fixed(TIME_READING), { texts: TIME_TEXT }],
  PARSE_TIME: [fixed(TIME_READING), { texts: TIME_TEXT }],
  PARSE_TIMESTAMP: [fixed(TIME_READING), { texts: TIME_TEXT }, { texts: ZONES }],
  PARSE_JSON: one(JSON_TEXTS),
  REGEXP_CONTAINS: one(null, [...PATTERNS, ...BYTE_PATTERNS]),
  REGEXP_EXTRACT: one(null, [...PATTERNS, ...BYTE_PATTERNS], ['1', '2', '0', '5'], ['1', '2', '0']),
  REGEXP_EXTRACT_ALL: one(null, [...PATTERNS, ...BYTE_PATTERNS]),
  REGEXP_INSTR: one(null, [...PATTERNS, ...BYTE_PATTERNS], ['1', '2', '0', '5'], ['1', '2'], ['0', '1', '2']),
  REGEXP_REPLACE: one(null, [...PATTERNS, ...BYTE_PATTERNS], REPLACEMENTS),
  REPEAT: one(null, SMALL),
  REPLACE: one(null, [...quoted('¦a¦l¦é¦,'.split('¦')), ...SOME_BYTES], quoted(['', 'X', 'aa'])),
  RIGHT: one(null, SMALL),
  ROUND: one(null, '0 1 2 -1 -2 20'.split(' ')),
  RPAD: one(null, SMALL, [...quoted(['', 'x', 'ab', 'é']), ...SOME_BYTES]),
  RTRIM: one(null, [...quoted('¦ ¦d¦c,d¦é日'.split('¦')), ...SOME_BYTES]),
  SPLIT: one(null, [...quoted('¦,¦l¦, ¦é'.split('¦')), ...SOME_BYTES]),
  STRING: one(null, ZONES),
  STRPOS: one(null, [...quoted('¦a¦World¦é¦語¦zz'.split('¦')), ...SOME_BYTES]),
  STARTS_WITH: one(null, [...quoted('¦a¦H¦é¦GET'.split('¦')), ...SOME_BYTES]),
  ENDS_WITH: one(null, [...quoted('¦c¦ld¦é¦ト'.split('¦')), ...SOME_BYTES]),
  SUBSTR: one(null, SMALL, SMALL),
  TIMESTAMP: one(null, ZONES),
  TIMESTAMP_MICROS: one('0 -1 1790769600123456 -62135596800000000 253402300799999999 9223372036854775807'.split(' ')),
  TIMESTAMP_MILLIS: one('0 -1 1790769600123 253402300799999 253402300800000'.split(' ')),
  TIMESTAMP_SECONDS: one('0 -1 1790769600 -62135596800 -62135596801'.split(' ')),
  TRANSLATE: one(null, [...quoted(['', 'abc', 'él', 'aa']), ...SOME_BYTES], quoted(['', 'xyz', 'xé', 'x'])),
  TRIM: one(null, [...quoted('¦ ¦a¦Hd¦é日'.split('¦')), ...SOME_BYTES]),
  TRUNC: one(null, '0 1 2 -1 -2 20'.split(' ')),
};
/** Texts that casts read. */
export const CAST_TEXTS = [
  ...STRINGS,
  ...quoted(
    '12¦ -7 ¦0x1F¦1e3¦1.5¦.5¦inf¦NaN¦true¦False¦T¦2026-09-30¦2026-9-3¦2026-09-30 11:22:33.5¦2026-09-30T11:22:33Z¦2026-09-30 11:22:33+02:00¦2026-09-30 11:22:33 Europe/Berlin¦11:22:33¦2026-02-30¦1-2 3 4:5:6¦[2026-09-30, 2026-10-01)¦[2026-9-3 11:22:33.5, UNBOUNDED)¦[null, Unbounded)¦[2026-09-30 , 2026-10-01)¦[2026-09-30,2026-10-01)¦[2026-10-01, 2026-09-30)¦[2026-09-30, )¦[2026-09-30, 2026-10-01]¦9223372036854775808¦00ff'.split(
      '¦',
    ),
  ),
];
