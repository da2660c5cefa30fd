/** What is offered at every position of a query resolves there. */
import { analyseConsumer } from '../../src/consumer/analysis';
import { complete } from '../../src/consumer/completion/complete';
import type { Completion } from '../../src/consumer/completion/completion';
import { columnsOf } from '../../src/rest-schema';
import type { TableSchema } from '../../src/types';
import { fieldsOf } from '../../../duckdb-engine/test/fields';
import { LONG } from '../../../../test/scale';

const TABLES: readonly TableSchema[] = [
  {
    name: 'edge_logs',
    columns: columnsOf(
      fieldsOf(
        'id STRING, timestamp TIMESTAMP, event_message STRING, metadata RECORD*(level STRING, response RECORD*(status_code INT64))',
      ),
    ),
  },
  {
    name: 'auth_logs',
    columns: [...columnsOf(fieldsOf('id STRING, n INT64')), { name: 'user id', type: { kind: 'STRING' } }],
  },
];
const PARAMETERS = [
  { name: 'project', type: 'STRING' },
  { name: 'ids', type: 'ARRAY<STRING>' },
] as const;

const QUERIES = [
  'SELECT id, event_message FROM edge_logs WHERE id IS NOT NULL',
  'SELECT * FROM edge_logs ORDER BY timestamp DESC LIMIT 5',
  'SELECT e.id FROM edge_logs AS e WHERE e.event_message LIKE @project',
  'SELECT COUNT(*) AS n FROM edge_logs',
  'SELECT event_message, COUNT(*) AS n FROM edge_logs GROUP BY event_message HAVING COUNT(*) > 1',
  'SELECT m.level FROM edge_logs, UNNEST(metadata) AS m',
  'SELECT r.status_code FROM edge_logs AS t, UNNEST(t.metadata) AS m, UNNEST(m.response) AS r',
  'SELECT a.id, b.`user id` FROM edge_logs AS a JOIN auth_logs AS b ON a.id = b.id',
  'SELECT a.n FROM auth_logs AS a LEFT JOIN edge_logs USING (id)',
  'WITH x AS (SELECT id AS y, n FROM auth_logs) SELECT y FROM x WHERE n > 1',
  'WITH x AS (SELECT 1 AS one), z AS (SELECT one FROM x) SELECT one FROM z',
  'SELECT (SELECT MAX(n) FROM auth_logs) AS most, id FROM edge_logs',
  'SELECT id FROM edge_logs WHERE id IN (SELECT id FROM auth_logs)',
  'SELECT id FROM edge_logs WHERE EXISTS (SELECT 1 FROM UNNEST(metadata) AS m WHERE m.level IS NULL)',
  'SELECT id FROM edge_logs WHERE id IN UNNEST(@ids)',
  'SELECT CASE WHEN n > 1 THEN id ELSE `user id` END AS c FROM auth_logs',
  'SELECT n, ROW_NUMBER() OVER (PARTITION BY id ORDER BY n) AS r FROM auth_logs',
  'SELECT id FROM auth_logs UNION ALL SELECT event_message FROM edge_logs',
  'FROM auth_logs |> WHERE n > 1 |> SELECT id, n',
  'SELECT CAST(n AS STRING), DATE(timestamp) FROM auth_logs JOIN edge_logs ON auth_logs.id = edge_logs.id',
];

const NAMES: readonly Completion['kind'][] = ['alias', 'column', 'field', 'table', 'parameter'];

/** Positions between two that are tried. */
const STEP = LONG ? 1 : 7;

/** Functions of one position that are tried, others at each: there are hundreds. */
const FUNCTIONS = 4;

const LINES = [
  'f:edge_logs timeout',
  'f:edge_logs m.response.status_code:500',
  'f:edge_logs m.response.status_code:>=500 "gateway timeout"',
  'f:edge_logs -m.level:error s:id',
  'f:edge_logs s:m.level s:timestamp',
  'f:edge_logs c:count(*) c:group_by(t::hour)',
  'f:edge_logs c:avg(m.response.status_code) c:group_by(t::minute)',
  'f:edge_logs t:last@1h',
  'f:edge_logs timestamp:>2026-09-30',
  'f:auth_logs id:~"^a" n:>3',
  'f:edge_logs m.level:NULL id:abc',
  'f:edge_logs t:today metadata.response.status_code:<300 s:event_message',
];

it.each(QUERIES)('%s', (text) => {
  expect(tryAll('sql', text)).toBeGreaterThan(40 / STEP);
});

it.each(LINES)('%s', (text) => {
  expect(tryAll('lql', text)).toBeGreaterThan(10 / STEP);
});

type Faults = ReturnType<typeof analyseConsumer>['errors'];

const NOT_RESOLVED = /Unrecognized name|not found|does not exist|ambiguous|not allowed|may not be read|no table/i;

/** Tries what is offered at every position: names, and some functions. Gives how many that were. */
function tryAll(language: 'sql' | 'lql', text: string): number {
  let tried = 0;
  // What is offered anywhere within a word makes the same text of it.
  const known = new Map<string, Faults>();
  const faultsOf = (changed: string): Faults => {
    const faults =
      known.get(changed) ??
      analyseConsumer({ language, text: changed, tables: TABLES, parameters: PARAMETERS, now: 0n }).errors;
    known.set(changed, faults);
    return faults;
  };
  for (let position = 0; position <= text.length; position += STEP) {
    const { span, items } = complete({ language, text, position, tables: TABLES, parameters: PARAMETERS });
    const functions = items.filter(({ kind }) => kind === 'function');
    const some = Array.from({ length: Math.min(FUNCTIONS, functions.length) }, (_, i) =>
      functions.at((position * FUNCTIONS + i) % functions.length),
    );
    for (const item of [...items.filter(({ kind }) => NAMES.includes(kind)), ...some]) {
      if (item === undefined) continue;
      tried++;
      const { changed, start } = applied(text, span, item);
      const unresolved = faultsOf(changed)
        .filter(({ span: at }) => at !== null && at.start < start + item.insert.length && at.end > start)
        .filter(({ message }) => NOT_RESOLVED.test(message));
      expect([changed, unresolved]).toEqual([changed, []]);
    }
  }
  return tried;
}

/** The text with what is offered, and where that begins in it. */
function applied(
  text: string,
  span: { readonly start: number; readonly end: number },
  { insert, also }: Completion,
): { readonly changed: string; readonly start: number } {
  const changed = text.slice(0, span.start) + insert + text.slice(span.end);
  if (also === undefined) return { changed, start: span.start };
  const at = also.at > span.start ? also.at + insert.length - (span.end - span.start) : also.at;
  const start = at <= span.start ? span.start + also.insert.length : span.start;
  return { changed: changed.slice(0, at) + also.insert + changed.slice(at), start };
}
