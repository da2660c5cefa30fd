/** Hostile requests at random: nesting, repetition, lengths, counts and extreme numbers at every place of a request. */
import { Random } from '../sandbox/fuzz/random';
import { NESTED, REPEATED, type Shape } from './generate-sql';
import { consumer, form, got, posted, times } from './requests';
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
const LQL: Readonly<Record<string, Shape>> = {
  clauses: (n) => `f:edge_logs ${'id:a '.repeat(n)}`,
  terms: (n) => 'f:edge_logs ' + 'word '.repeat(n),
  'a quoted term': (n) => `f:edge_logs "${'x'.repeat(n)}"`,
  escapes: (n) => `f:edge_logs "${'\\"\\\\'.repeat(n)}"`,
  'terms with escapes': (n) => `f:edge_logs ${times(90, () => `"${'\\"é'.repeat(Math.ceil(n / 90))}"`, ' ')}`,
  pattern: (n) => `f:edge_logs ~"${'(a{1,9}){1,9}'.repeat(n)}"`,
  patterns: (n) => `f:edge_logs ${times(Math.min(n, 97), () => '~"(((a*){1,31}){1,31})"', ' ')}`,
  'a path': (n) => `f:edge_logs metadata${'.request'.repeat(n)}:1`,
  paths: (n) => `f:edge_logs ${times(Math.min(n, 97), (i) => `metadata.request.headers.x${i}:1`, ' ')}`,
  range: (n) => `f:edge_logs metadata.response.status_code:${'9'.repeat(n)}..${'9'.repeat(n)}`,
  dates: (n) => `f:edge_logs t:${'2024-'.repeat(n)}`,
  'a date in braces': (n) => `f:edge_logs t:2024-01-{01..${'9'.repeat(n)}}`,
  'a span': (n) => `f:edge_logs t:last@${'9'.repeat(n)}d`,
  select: (n) => `f:edge_logs ${times(Math.min(n, 60), (i) => `s:metadata.request.path@a${i}`, ' ')}`,
  chart: (n) => `f:edge_logs c:count(${'*'.repeat(n)}) c:group_by(t::minute)`,
  minuses: (n) => `f:edge_logs ${'-'.repeat(n)}x`,
  blanks: (n) => `f:edge_logs${' \t'.repeat(n)}`,
};

/** Values of a header by what repeats in it. */
const HEADERS: Readonly<Record<string, Shape>> = {
  Accept: (n) => times(n, (i) => `a/b${i};q=0.${i}`),
  'Accept-Encoding': (n) => times(n, (i) => `c${i};q=0.${i}`),
  'If-None-Match': (n) => times(n, (i) => `W/"${i}"`),
  Authorization: (n) => `Bearer ${'x'.repeat(n)}`,
  traceparent: (n) => `00-${'a'.repeat(n)}`,
  tracestate: (n) => times(n, (i) => `k${i}=v`),
  'X-Request-Id': (n) => 'x'.repeat(n),
  'LF-ENDPOINT-REDACT-PII': (n) => times(n, () => 'true'),
  'Content-Type': (n) => `application/json${';a=b'.repeat(n)}`,
  'Content-Encoding': (n) => times(n, () => 'identity'),
  Origin: (n) => 'https://' + 'a.'.repeat(n),
  Cookie: (n) => times(n, (i) => `a${i}=b`, '; '),
};

const JSON_BODIES: Readonly<Record<string, Shape>> = {
  members: (n) => `{${times(n, (i) => `"a${i}":1`)}}`,
  'members of one name': (n) => `{${times(n, () => '"project":"a"')}}`,
  depth: (n) => `{"a":${'['.repeat(n)}${']'.repeat(n)}}`,
  'depth of objects': (n) => `{"a":${'{"a":'.repeat(n)}1${'}'.repeat(n)}}`,
  elements: (n) => `{"a":[${times(n, () => '1')}]}`,
  'a number': (n) => `{"project":"default","a":${'9'.repeat(n)}}`,
  'an exponent': (n) => `{"project":"default","a":1e${'9'.repeat(n)}}`,
  'escapes in a name': (n) => `{"${'\\u0041'.repeat(n)}":1}`,
  'escapes in a value': (n) => `{"project":"${'\\u0041\\n'.repeat(n)}"}`,
  backslashes: (n) => `{"project":"${'\\'.repeat(n)}"}`,
  blanks: (n) => `{${' \n'.repeat(n)}"project":"default"}`,
  'half a pair': (n) => `{"project":"${'\\ud800'.repeat(n)}"}`,
  'not closed': (n) => `{"project":"${'x'.repeat(n)}`,
  'a proto': (n) => `{"__proto__":${'{"__proto__":'.repeat(n)}1${'}'.repeat(n)}}`,
};

const QUERIES: Readonly<Record<string, Shape>> = {
  parameters: (n) => times(n, (i) => `a${i}=${i}`, '&'),
  'one parameter': (n) => `project=default&${times(n, () => 'x=1', '&')}`,
  ampersands: (n) => '&'.repeat(n),
  equals: (n) => `project=${'='.repeat(n)}`,
  escapes: (n) => `project=${'%41'.repeat(n)}`,
  'bad escapes': (n) => `project=${'%4'.repeat(n)}`,
  'escapes that are not UTF-8': (n) => `project=${'%ff'.repeat(n)}`,
  pluses: (n) => `project=${'+'.repeat(n)}`,
  'a timestamp': (n) => `project=a&iso_timestamp_start=${'2026-01-01T00:00:00'.repeat(n)}`,
  'a fraction': (n) => `project=a&iso_timestamp_start=2026-01-01T00:00:00.${'9'.repeat(n)}Z`,
  'a dry run': (n) => `project=a&dry_run=${'true'.repeat(n)}`,
};

const PATTERNS: Readonly<Record<string, Shape>> = {
  nested: (n) => '(((a*){1,31}){1,31})'.repeat(n),
  deep: (n) => `${'('.repeat(n)}a${')*'.repeat(n)}`,
  groups: (n) => '(a)'.repeat(n),
  names: (n) => times(n, (i) => `(?P<n${i}>a)`, ''),
  alternatives: (n) => times(n, (i) => `a${i}`, '|'),
  tables: (n) => '\\pL'.repeat(n),
  'tables in any case': (n) => `(?i)[${'\\PL\\pN'.repeat(n)}]`,
  'ranges in any case': (n) => `(?i)${'[b-\\x{10ffff}]'.repeat(n)}`,
  repetitions: (n) => 'a{1000}'.repeat(n),
  'lazy repetitions': (n) => '(?:a{0,30}?){0,30}?'.repeat(n),
  empties: (n) => '(|a)*'.repeat(n),
  bounds: (n) => '\\b$^'.repeat(n),
  quotes: (n) => '\\Qa'.repeat(n),
  flags: (n) => '(?i:(?s:(?m:a)))'.repeat(n),
  brackets: (n) => '['.repeat(n),
  'classes of classes': (n) => `[${'[:alpha:]\\d\\W'.repeat(n)}]`,
};

/** One generated request after the other: the same for the same seed. */
export function* generate(seed: number): Generator<HostileRequest> {
  const random = new Random(seed);
  const count = (): number => random.pick(COUNTS);
  const shape = (shapes: Readonly<Record<string, Shape>>, longest: number): { name: string; text: string } => {
    const [what, make] = random.pick(Object.entries(shapes));
    const n = count();
    return { name: `${what} x${n}`, text: cut(make, n, longest) };
  };
  const makers: (() => HostileRequest)[] = [
    () => {
      const { name, text } = shape({ ...REPEATED, ...NESTED }, LONGEST);
      return consumer(
        `SQL: ${name}`,
        'sql',
        text,
        random.pick([[], [], ['LF-ENDPOINT-REDACT-PII', 'true'], ['Accept', 'text/csv']]),
      );
    },
    () => {
      const { name, text } = shape(LQL, LONGEST);
      return consumer(`LQL: ${name}`, 'lql', text);
    },
    () => {
      const { name, text } = shape(HEADERS, 30_000);
      return got(`header ${name}`, 'logs.all', 'project=default', [name.split(' ')[0] ?? '', text]);
    },
    () => {
      const { name, text } = shape(JSON_BODIES, 250_000);
      return posted(`JSON: ${name}`, 'logs.all', text);
    },
    () => {
      const { name, text } = shape(QUERIES, 90_000);
      return random.pick([got(`URL: ${name}`, 'logs.all', text), form(`form: ${name}`, 'logs.all', text)]);
    },
    () => {
      const { name, text } = shape(PATTERNS, 4_096);
      return posted(`pattern: ${name}`, 'usage.api-counts', JSON.stringify({ interval: 'daily', project: text }));
    },
    () => {
      const { name, text } = shape(PATTERNS, 20_000);
      return consumer(`pattern in SQL: ${name}`, 'sql', `select regexp_extract(id, r'''${text}''') x from edge_logs`);
    },
    () => {
      const number = random.pick(NUMBERS);
      const place = random.pick([
        `limit ${number}`,
        `where 1 = ${number}`,
        `order by ${number}`,
        `group by ${number}`,
        `limit 1 offset ${number}`,
      ]);
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
