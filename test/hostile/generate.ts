/** Hostile requests at random: nesting, repetition, lengths, counts and extreme numbers at every place of a request. */
import { Random } from '../sandbox/fuzz/random';
import { NESTED, REPEATED, type Shape, shapes } from './generate-sql';
import { consumer, form, got, posted } from './requests';
import type { HostileRequest } from './target';

/** How many units: few, the many that a person may send, up to a bound and beyond. */
const COUNTS = [3, 18, 42, 90, 99, 101, 300, 1_000, 4_000, 9_900, 30_000];
const NUMBERS = [
  '-1',
  '0',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '1e308',
  '1e999',
  '0x7fffffffffffffff',
  '9'.repeat(40),
];
/** Longest text that the service reads. */
const LONGEST = 64 * 1024;

/** LQL by what repeats in it. */
const LQL = {
  ...shapes({
    clauses: 'f:edge_logs «id:a ¦»',
    terms: 'f:edge_logs «word ¦»',
    'a quoted term': 'f:edge_logs "«x¦»"',
    escapes: 'f:edge_logs "«\\"\\\\¦»"',
    pattern: 'f:edge_logs ~"«(a{1,9}){1,9}¦»"',
    patterns: 'f:edge_logs «≤97 ~"(((a*){1,31}){1,31})"¦ »',
    'a path': 'f:edge_logs metadata«.request¦»:1',
    paths: 'f:edge_logs «≤97 metadata.request.headers.x#:1¦ »',
    range: 'f:edge_logs metadata.response.status_code:«9¦»..«9¦»',
    dates: 'f:edge_logs t:«2024-¦»',
    'a date in braces': 'f:edge_logs t:2024-01-{01..«9¦»}',
    'a span': 'f:edge_logs t:last@«9¦»d',
    select: 'f:edge_logs «≤60 s:metadata.request.path@a#¦ »',
    chart: 'f:edge_logs c:count(«*¦») c:group_by(t::minute)',
    minuses: 'f:edge_logs «-¦»x',
    blanks: 'f:edge_logs« \t¦»',
  }),
  'terms with escapes': (n: number) => `f:edge_logs ${`"${'\\"é'.repeat(Math.ceil(n / 90))}" `.repeat(90)}`,
};

/** Values of a header by what repeats in it. */
const HEADERS = shapes({
  Accept: '«a/b#;q=0.#»',
  'Accept-Encoding': '«c#;q=0.#»',
  'If-None-Match': '«W/"#"»',
  Authorization: 'Bearer «x¦»',
  traceparent: '00-«a¦»',
  tracestate: '«k#=v»',
  'X-Request-Id': '«x¦»',
  'LF-ENDPOINT-REDACT-PII': '«true»',
  'Content-Type': 'application/json«;a=b¦»',
  'Content-Encoding': '«identity»',
  Origin: 'https://«a.¦»',
  Cookie: '«a#=b¦; »',
});

const JSON_BODIES = shapes({
  members: '{«"a#":1»}',
  'members of one name': '{«"project":"a"»}',
  depth: '{"a":«[¦»«]¦»}',
  'depth of objects': '{"a":«{"a":¦»1«}¦»}',
  elements: '{"a":[«1»]}',
  'a number': '{"project":"default","a":«9¦»}',
  'an exponent': '{"project":"default","a":1e«9¦»}',
  'escapes in a name': '{"«\\u0041¦»":1}',
  'escapes in a value': '{"project":"«\\u0041\\n¦»"}',
  backslashes: '{"project":"«\\¦»"}',
  blanks: '{« \n¦»"project":"default"}',
  'half a pair': '{"project":"«\\ud800¦»"}',
  'not closed': '{"project":"«x¦»',
  'a proto': '{"__proto__":«{"__proto__":¦»1«}¦»}',
});

const QUERIES = shapes({
  parameters: '«a#=#¦&»',
  'one parameter': 'project=default&«x=1¦&»',
  ampersands: '«&¦»',
  equals: 'project=«=¦»',
  escapes: 'project=«%41¦»',
  'bad escapes': 'project=«%4¦»',
  'escapes that are not UTF-8': 'project=«%ff¦»',
  pluses: 'project=«+¦»',
  'a timestamp': 'project=a&iso_timestamp_start=«2026-01-01T00:00:00¦»',
  'a fraction': 'project=a&iso_timestamp_start=2026-01-01T00:00:00.«9¦»Z',
  'a dry run': 'project=a&dry_run=«true¦»',
});

const PATTERNS = shapes({
  nested: '«(((a*){1,31}){1,31})¦»',
  deep: '«(¦»a«)*¦»',
  groups: '«(a)¦»',
  names: '«(?P<n#>a)¦»',
  alternatives: '«a#¦|»',
  tables: '«\\pL¦»',
  'tables in any case': '(?i)[«\\PL\\pN¦»]',
  'ranges in any case': '(?i)«[b-\\x{10ffff}]¦»',
  repetitions: '«a{1000}¦»',
  'lazy repetitions': '«(?:a{0,30}?){0,30}?¦»',
  empties: '«(|a)*¦»',
  bounds: '«\\b$^¦»',
  quotes: '«\\Qa¦»',
  flags: '«(?i:(?s:(?m:a)))¦»',
  brackets: '«[¦»',
  'classes of classes': '[«[:alpha:]\\d\\W¦»]',
});

/** One generated request after the other: the same for the same seed. */
export function* generate(seed: number): Generator<HostileRequest> {
  const random = new Random(seed);
  const count = (): number => random.pick(COUNTS);
  /** What is generated of such shapes, by its name and length. */
  const of =
    (all: Readonly<Record<string, Shape>>, longest: number, make: (name: string, text: string) => HostileRequest) =>
    () => {
      const [what, shape] = random.pick(Object.entries(all));
      const n = count();
      return make(`${what} x${n}`, cut(shape, n, longest));
    };
  const makers: (() => HostileRequest)[] = [
    of({ ...REPEATED, ...NESTED }, LONGEST, (name, text) =>
      consumer(
        `SQL: ${name}`,
        'sql',
        text,
        random.pick([[], [], ['LF-ENDPOINT-REDACT-PII', 'true'], ['Accept', 'text/csv']]),
      ),
    ),
    of(LQL, LONGEST, (name, text) => consumer(`LQL: ${name}`, 'lql', text)),
    of(HEADERS, 30_000, (name, text) =>
      got(`header ${name}`, 'logs.all', 'project=default', [name.split(' ')[0] ?? '', text]),
    ),
    of(JSON_BODIES, 250_000, (name, text) => posted(`JSON: ${name}`, 'logs.all', text)),
    of(QUERIES, 90_000, (name, text) =>
      random.pick([got(`URL: ${name}`, 'logs.all', text), form(`form: ${name}`, 'logs.all', text)]),
    ),
    of(PATTERNS, 4_096, (name, text) =>
      posted(`pattern: ${name}`, 'usage.api-counts', JSON.stringify({ interval: 'daily', project: text })),
    ),
    of(PATTERNS, 20_000, (name, text) =>
      consumer(`pattern in SQL: ${name}`, 'sql', `select regexp_extract(id, r'''${text}''') x from edge_logs`),
    ),
    () => {
      const place = random
        .pick(['limit N', 'where 1 = N', 'order by N', 'group by N', 'limit 1 offset N'])
        .replace('N', random.pick(NUMBERS));
      return consumer(`SQL: ${place.slice(0, 40)}`, 'sql', `select id from edge_logs ${place}`);
    },
    () => {
      const part = random.pick(['%41', '/', '%2e%2e/', 'a.', '%00', ';']);
      const n = count();
      return got(`path: ${part} x${n}`, part.repeat(Math.min(n, 20_000)), 'project=default');
    },
  ];
  // SQL has the most places.
  const weighted = [...Array.from({ length: 8 }, () => makers[0]), ...makers].filter((make) => make !== undefined);
  for (;;) yield random.pick(weighted)();
}

/** As much of a shape as the length allows. */
function cut(make: Shape, n: number, longest: number): string {
  let text = make(n);
  for (let units = n; text.length > longest && units > 1;)
    text = make((units = Math.floor((units * longest) / text.length)));
  return text;
}
