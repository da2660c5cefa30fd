/** Requests that once stopped the service for everybody. */
import { consumer, form, got, posted, times } from './requests';
import type { HostileRequest } from './target';

/** Each CTE reads the one before it twice. */
function chainedExists(levels: number): string {
  const entry = (i: number): string =>
    i === 0 ? 'a0 as (select 1 x)' : `a${i} as (select 1 x from a${i - 1} where exists(select 1 from a${i - 1}))`;
  return `with ${times(levels, entry)} select * from a${levels - 1}`;
}

function doubledFormat(levels: number): string {
  return `with ${times(levels, (i) =>
    i === 0 ? `c0 as (select event_message e from edge_logs)` : `c${i} as (select format("%T", e) e from c${i - 1})`,
  )} select e from c${levels - 1}`;
}

function nestedFormat(levels: number): string {
  return `select ${'format("%T", '.repeat(levels)}event_message${')'.repeat(levels)} e from edge_logs`;
}

const BIG =
  "select repeat('mail ana@example.com from 10.20.30.40 or 2001:db8::5, ', 288) as x, i from unnest(generate_array(1, 1000)) i";

export const KNOWN: readonly HostileRequest[] = [
  got(
    'regex parameter',
    'usage.api-counts',
    `interval=daily&project=${encodeURIComponent('(((a*){1,31}){1,31})'.repeat(180))}`,
  ),
  got(
    'regex parameter, thrice',
    'usage.api-counts',
    `interval=daily&project=${encodeURIComponent('((((a{1,10}){1,10}){1,10}))'.repeat(130))}`,
  ),
  got('regex classes', 'usage.api-counts', `interval=daily&project=${encodeURIComponent('\\pL'.repeat(1300))}`),
  got(
    'regex folded classes',
    'usage.api-counts',
    `interval=daily&project=${encodeURIComponent('(?i)' + '[^\\pL]'.repeat(600))}`,
  ),
  got(
    'regex class of classes',
    'usage.api-counts',
    `interval=daily&project=${encodeURIComponent('(?i)[' + '\\pL\\PN\\pS'.repeat(400) + ']')}`,
  ),
  got(
    'regex repeated class',
    'usage.api-counts',
    `interval=daily&project=${encodeURIComponent('(?i)(?:\\pL{100}){10}'.repeat(100))}`,
  ),
  consumer(
    'constant pattern in SQL',
    'sql',
    `select regexp_contains(id, r'${'(((a*){1,31}){1,31})'.repeat(40)}') from edge_logs`,
  ),
  consumer(
    'constant pattern in short SQL',
    'sql',
    `select regexp_extract(id, r'${'(((a*){1,31}){1,31})'.repeat(30)}') from edge_logs`,
  ),
  consumer('pattern in LQL', 'lql', `f:edge_logs event_message:~"${'(((a*){1,31}){1,31})'.repeat(40)}"`),
  consumer('chained exists, 18', 'sql', chainedExists(18)),
  consumer('chained exists, 60', 'sql', chainedExists(60)),
  consumer('format doubled, CTEs', 'sql', doubledFormat(42)),
  consumer('format nested', 'sql', nestedFormat(42)),
  posted('20,000 parameters, JSON', 'logs.all', `{${times(20_000, (i) => `"a${i}":1`, ',')}}`),
  form(
    '20,000 parameters, form',
    'logs.all',
    times(20_000, (i) => `a${i}=1`, '&'),
  ),
  form(
    '60,000 parameters, form',
    'logs.all',
    times(60_000, () => `a=1`, '&'),
  ),
  got(
    '20,000 parameters, URL',
    'logs.all',
    times(12_000, (i) => `a${i}=`, '&'),
  ),
  consumer(
    '300 window frames',
    'sql',
    `select ${times(300, (i) => `sum(1) over (order by id rows between ${i} preceding and current row) w${i}`)} from edge_logs`,
  ),
  consumer(
    '3,000 pivot columns',
    'sql',
    `select * from (select id, 1 n from edge_logs) pivot (sum(n) for id in (${times(3000, (i) => `'${i}' p${i}`)}))`,
  ),
  consumer('4,000 ORs', 'sql', `select id from edge_logs where ${times(4000, (i) => `id='${i}'`, ' or ')}`),
  got('Accept of 16,000 ranges', 'logs.all', 'project=default', ['Accept', 'a/b,'.repeat(8000)]),
  got('Accept-Encoding of 16,000', 'logs.all', 'project=default', ['Accept-Encoding', 'a,'.repeat(16000)]),
  got('Accept with parameters', 'logs.all', 'project=default', ['Accept', 'a/b' + ';a=b'.repeat(8000)]),
  got('Accept with quotes', 'logs.all', 'project=default', ['Accept', 'a/b;a="' + ';a="'.repeat(8000)]),
  got('Accept of semicolons', 'logs.all', 'project=default', ['Accept', 'a/b' + ';'.repeat(31000)]),
  got('If-None-Match of 8,000', 'logs.all', 'project=default', ['If-None-Match', '"a",'.repeat(8000)]),
  got('If-None-Match of blanks', 'logs.all', 'project=default', ['If-None-Match', '"a"' + ' '.repeat(31000) + 'x']),
  got('path of percents', '%41'.repeat(30000), 'project=default'),
  posted('a long number', 'logs.all', `{"project":"default","limit":${'9'.repeat(250_000)}}`),
  posted('deep JSON', 'logs.all', `{"a":${'['.repeat(120_000)}${']'.repeat(120_000)}}`),
  posted('JSON of blanks', 'logs.all', `{${' '.repeat(250_000)}"a":1}`),
  consumer('LQL, 64 KiB of clauses', 'lql', `f:edge_logs ${'m.a:1 '.repeat(10_000)}`),
  consumer('LQL, 99 long clauses', 'lql', `f:edge_logs ${times(97, () => `m.a:"${'\\\\"'.repeat(150)}"`, ' ')}`),
  consumer('lenient quotes', 'sql', `select ${"'it''s', ".repeat(6000)} 1`),
  consumer('lenient casts', 'sql', `select ${'1::text, '.repeat(6000)} 1`),
  consumer('lenient chain', 'sql', `select 1${'::text'.repeat(6000)}`),
  consumer('lenient brackets', 'sql', `select ${'('.repeat(90)}1${')::text'.repeat(90)}`),
  consumer('unknown long name', 'sql', `select ${'x'.repeat(60_000)} from edge_logs`),
  consumer(
    'unknown names',
    'sql',
    `with a as (select ${times(900, (i) => `1 as column_with_a_long_name_${i}`)}) select ${times(1, (i) => `column_with_a_lung_name_${i}`)} from a`,
  ),
  consumer('unknown function', 'sql', `select ${'x'.repeat(1000)}(1)`),
  consumer(
    'union of 4,000',
    'sql',
    times(4000, () => 'select 1', ' union all '),
  ),
  consumer(
    '1,000 columns with 60 joins',
    'sql',
    `with a as (select ${times(150, (i) => `1 c${i}`)}) select * from ${times(60, (i) => `a a${i}`)}`,
  ),
];

/** Results of many megabytes. */
export const LARGE: readonly HostileRequest[] = [
  consumer('16 MB redacted', 'sql', BIG, ['LF-ENDPOINT-REDACT-PII', 'true']),
  consumer('16 MB redacted, CSV, br', 'sql', BIG, [
    'LF-ENDPOINT-REDACT-PII',
    'true',
    'Accept',
    'text/csv',
    'Accept-Encoding',
    'br',
  ]),
  consumer('16 MB, JSON', 'sql', BIG),
  consumer('16 MB, CSV, gzip', 'sql', BIG, ['Accept', 'text/csv', 'Accept-Encoding', 'gzip']),
  consumer('50 MB, CSV', 'sql', BIG.replace('288', '880'), ['Accept', 'text/csv']),
  consumer('50 MB, redacted', 'sql', BIG.replace('288', '880'), ['LF-ENDPOINT-REDACT-PII', 'true']),
];
