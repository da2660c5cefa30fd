/** Requests that once stopped the service for everybody. */
import { shapes } from './generate-sql';
import { consumer, form, got, posted, times } from './requests';
import type { HostileRequest } from './target';

const BIG =
  "select repeat('mail ana@example.com from 10.20.30.40 or 2001:db8::5, ', 288) as x, i from unnest(generate_array(1, 1000)) i";

const PATTERN = '(((a*){1,31}){1,31})';

/** Of the parameter that is a pattern. */
const PATTERNS: Readonly<Record<string, string>> = {
  'regex parameter': PATTERN.repeat(180),
  'regex parameter, thrice': '((((a{1,10}){1,10}){1,10}))'.repeat(130),
  'regex classes': '\\pL'.repeat(1300),
  'regex folded classes': '(?i)' + '[^\\pL]'.repeat(600),
  'regex class of classes': '(?i)[' + '\\pL\\PN\\pS'.repeat(400) + ']',
  'regex repeated class': '(?i)(?:\\pL{100}){10}'.repeat(100),
};

/** Of each shape, and how often it repeats. */
const SQL = shapes({
  'constant pattern in SQL': `select regexp_contains(id, r'«${PATTERN}¦»') from edge_logs`,
  'constant pattern in short SQL': `select regexp_extract(id, r'«${PATTERN}¦»') from edge_logs`,
  // Each CTE reads the one before it twice.
  'chained exists':
    'with a0 as (select 1 x)«, a## as (select 1 x from a# where exists(select 1 from a#))¦» select * from a¤',
  'format doubled, CTEs':
    'with c0 as (select event_message e from edge_logs)«, c## as (select format("%T", e) e from c#)¦» select e from c¤',
  'format nested': 'select «format("%T", ¦»event_message«)¦» e from edge_logs',
  'window frames': 'select «sum(1) over (order by id rows between # preceding and current row) w#» from edge_logs',
  'pivot columns': "select * from (select id, 1 n from edge_logs) pivot (sum(n) for id in («'#' p#»))",
  ORs: "select id from edge_logs where «id='#'¦ or »",
  'lenient quotes': "select «'it''s', ¦» 1",
  'lenient casts': 'select «1::text, ¦» 1',
  'lenient chain': 'select 1«::text¦»',
  'lenient brackets': 'select «(¦»1«)::text¦»',
  'unknown long name': 'select «x¦» from edge_logs',
  'unknown names': 'with a as (select «1 as column_with_a_long_name_#») select column_with_a_lung_name_0 from a',
  'unknown function': 'select «x¦»(1)',
  unions: '«select 1¦ union all »',
  'columns with 60 joins': `with a as (select «1 c#») select * from ${times(60, (i) => `a a${i}`)}`,
});
const REPEATED: readonly (readonly [shape: string, n: number])[] = [
  ['constant pattern in SQL', 40],
  ['constant pattern in short SQL', 30],
  ['chained exists', 17],
  ['chained exists', 59],
  ['format doubled, CTEs', 41],
  ['format nested', 42],
  ['window frames', 300],
  ['pivot columns', 3000],
  ['ORs', 4000],
  ['lenient quotes', 6000],
  ['lenient casts', 6000],
  ['lenient chain', 6000],
  ['lenient brackets', 90],
  ['unknown long name', 60_000],
  ['unknown names', 900],
  ['unknown function', 1000],
  ['unions', 4000],
  ['columns with 60 joins', 150],
];

/** By name: a header and its value. */
const HEADERS: Readonly<Record<string, readonly [name: string, value: string]>> = {
  'Accept of 16,000 ranges': ['Accept', 'a/b,'.repeat(8000)],
  'Accept-Encoding of 16,000': ['Accept-Encoding', 'a,'.repeat(16000)],
  'Accept with parameters': ['Accept', 'a/b' + ';a=b'.repeat(8000)],
  'Accept with quotes': ['Accept', 'a/b;a="' + ';a="'.repeat(8000)],
  'Accept of semicolons': ['Accept', 'a/b' + ';'.repeat(31000)],
  'If-None-Match of 8,000': ['If-None-Match', '"a",'.repeat(8000)],
  'If-None-Match of blanks': ['If-None-Match', '"a"' + ' '.repeat(31000) + 'x'],
};

const numbered = (count: number, value: string): string => times(count, (i) => `a${i}=${value}`, '&');

export const KNOWN: readonly HostileRequest[] = [
  ...Object.entries(PATTERNS).map(([name, pattern]) =>
    got(name, 'usage.api-counts', `interval=daily&project=${encodeURIComponent(pattern)}`),
  ),
  ...REPEATED.map(([name, n]) => consumer(`${name}, ${n}`, 'sql', SQL[name]!(n))),
  ...Object.entries(HEADERS).map(([name, header]) => got(name, 'logs.all', 'project=default', header)),
  posted('20,000 parameters, JSON', 'logs.all', `{${times(20_000, (i) => `"a${i}":1`, ',')}}`),
  form('20,000 parameters, form', 'logs.all', numbered(20_000, '1')),
  form('60,000 parameters, form', 'logs.all', 'a=1&'.repeat(60_000)),
  got('12,000 parameters, URL', 'logs.all', numbered(12_000, '')),
  got('path of percents', '%41'.repeat(30000), 'project=default'),
  posted('a long number', 'logs.all', `{"project":"default","limit":${'9'.repeat(250_000)}}`),
  posted('deep JSON', 'logs.all', `{"a":${'['.repeat(120_000)}${']'.repeat(120_000)}}`),
  posted('JSON of blanks', 'logs.all', `{${' '.repeat(250_000)}"a":1}`),
  consumer('pattern in LQL', 'lql', `f:edge_logs event_message:~"${PATTERN.repeat(40)}"`),
  consumer('LQL, 64 KiB of clauses', 'lql', `f:edge_logs ${'m.a:1 '.repeat(10_000)}`),
  consumer('LQL, 99 long clauses', 'lql', `f:edge_logs ${times(97, () => `m.a:"${'\\\\"'.repeat(150)}"`, ' ')}`),
];

/** Results of many megabytes. */
export const LARGE: readonly HostileRequest[] = [
  ['16 MB redacted', BIG, 'LF-ENDPOINT-REDACT-PII: true'],
  ['16 MB redacted, CSV, br', BIG, 'LF-ENDPOINT-REDACT-PII: true; Accept: text/csv; Accept-Encoding: br'],
  ['16 MB, JSON', BIG, ''],
  ['16 MB, CSV, gzip', BIG, 'Accept: text/csv; Accept-Encoding: gzip'],
  ['50 MB, CSV', BIG.replace('288', '880'), 'Accept: text/csv'],
  ['50 MB, redacted', BIG.replace('288', '880'), 'LF-ENDPOINT-REDACT-PII: true'],
].map(([name = '', sql = '', headers = '']) => consumer(name, 'sql', sql, headers.split(/[:;] /).filter(Boolean)));
