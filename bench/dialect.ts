/** What a logs UI sends to `logs.all`, on three million edge rows, against DuckDB SQL written by hand for the same rows. */
import { compare, median, ms, report, time } from './measure';
import { openBothSides } from './edge-rows';
import { Stored } from './stored';

/** Queries that read little but fields of records, and all others. */
const GOALS = { records: 0.35, others: 1.2 };
const OF_RECORDS = /^(?:facet by status|top paths|error report|latency percentiles)/;
const ROUNDS = 7;

const HOUR = { iso_timestamp_start: '2026-09-30T11:00:00Z', iso_timestamp_end: '2026-09-30T12:00:00Z' };
const DAY = { iso_timestamp_start: '2026-09-29T12:00:00Z', iso_timestamp_end: '2026-09-30T12:00:00Z' };
const ALL = { iso_timestamp_start: '', iso_timestamp_end: '' };

const within = (start: string): string =>
  `project = 'default' AND timestamp > TIMESTAMP '${start}' AND timestamp <= TIMESTAMP '2026-09-30 12:00:00'`;
const BY_HAND = new Map([
  [HOUR, within('2026-09-30 11:00:00')],
  [DAY, within('2026-09-29 12:00:00')],
  [ALL, `project = 'default'`],
]);

interface Query {
  readonly name: string;
  readonly window: typeof HOUR;
  readonly sql: string;
  /** Over `edge`, with `$where` for the window. */
  readonly byHand: string;
}

const BOTH = `FROM (SELECT timestamp, id, event_message, unnest(m.request) AS r, unnest(m.response) AS s
  FROM (SELECT timestamp, id, event_message, unnest(metadata) AS m FROM edge WHERE $where))`;
const REQUESTS = `FROM (SELECT timestamp, unnest(m.request) AS r FROM (SELECT timestamp, unnest(metadata) AS m FROM edge WHERE $where))`;
const RESPONSES = `FROM (SELECT timestamp, unnest(m.response) AS s FROM (SELECT timestamp, unnest(metadata) AS m FROM edge WHERE $where))`;
const UNNESTED = `from edge_logs as t cross join unnest(metadata) as m cross join unnest(m.request) as request
  cross join unnest(m.response) as response`;

const QUERIES: readonly Query[] = [
  {
    name: 'list with search, a day',
    window: DAY,
    sql: `select id, t.timestamp, event_message, request.method, request.path, response.status_code ${UNNESTED}
      where regexp_contains(event_message, 'signup') order by timestamp desc limit 100`,
    byHand: `SELECT to_json({id: id, timestamp: epoch_us(timestamp), event_message: event_message, method: r.method, path: r.path,
      status_code: s.status_code}) ${BOTH.replace('$where', `$where AND regexp_matches(event_message, 'signup')`)}
      ORDER BY timestamp DESC LIMIT 100`,
  },
  {
    name: 'total count, everything',
    window: ALL,
    sql: 'select count(*) as count from edge_logs',
    byHand: 'SELECT to_json({count: count(*)}) FROM edge WHERE $where',
  },
  {
    name: 'histogram by minute, an hour',
    window: HOUR,
    sql: `select timestamp_trunc(t.timestamp, minute) as timestamp, count(t.timestamp) as count from edge_logs as t
      group by timestamp order by timestamp asc`,
    byHand: `SELECT to_json({timestamp: epoch_us(b), count: n}) FROM (
      SELECT date_trunc('minute', timestamp) AS b, count(timestamp) AS n FROM edge WHERE $where GROUP BY 1 ORDER BY 1)`,
  },
  {
    name: 'facet by method, a day',
    window: DAY,
    sql: `select request.method as value, count(*) as count from edge_logs as t cross join unnest(metadata) as m
      cross join unnest(m.request) as request group by value order by count desc limit 20`,
    byHand: `SELECT to_json({value: v, count: n}) FROM (SELECT r.method AS v, count(*) AS n ${REQUESTS} GROUP BY 1 ORDER BY 2 DESC LIMIT 20)`,
  },
  {
    name: 'facet by status, a day',
    window: DAY,
    sql: `select response.status_code as value, count(*) as count from edge_logs as t cross join unnest(metadata) as m
      cross join unnest(m.response) as response group by 1 order by 2 desc limit 20`,
    byHand: `SELECT to_json({value: v, count: n}) FROM (SELECT s.status_code AS v, count(*) AS n ${RESPONSES} GROUP BY 1 ORDER BY 2 DESC LIMIT 20)`,
  },
  {
    name: 'top paths, a day',
    window: DAY,
    sql: `select request.path, request.method, response.status_code, count(t.id) as count, avg(response.origin_time) as avg ${UNNESTED}
      group by request.path, request.method, response.status_code order by count desc limit 10`,
    byHand: `SELECT to_json({path: p, method: m, status_code: c, count: n, avg: a}) FROM (
      SELECT r.path AS p, r.method AS m, s.status_code AS c, count(id) AS n, avg(s.origin_time) AS a ${BOTH}
      GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 10)`,
  },
  {
    name: 'error report, a day',
    window: DAY,
    sql: `select timestamp_trunc(t.timestamp, hour) as timestamp, countif(status_code >= 500) as server_errors,
      countif(status_code between 400 and 499) as client_errors, count(*) as total,
      safe_divide(countif(status_code >= 500), count(*)) as rate ${UNNESTED} group by timestamp order by timestamp`,
    byHand: `SELECT to_json({timestamp: epoch_us(b), server_errors: e, client_errors: c, total: n, rate: e / n}) FROM (
      SELECT date_trunc('hour', timestamp) AS b, count(*) FILTER (s.status_code >= 500) AS e,
        count(*) FILTER (s.status_code BETWEEN 400 AND 499) AS c, count(*) AS n ${BOTH} GROUP BY 1 ORDER BY 1)`,
  },
  {
    name: 'latency percentiles, a day',
    window: DAY,
    sql: `select timestamp_trunc(t.timestamp, hour) as timestamp, approx_quantiles(response.origin_time, 100)[offset(50)] as p50,
      approx_quantiles(response.origin_time, 100)[offset(95)] as p95 from edge_logs as t cross join unnest(metadata) as m
      cross join unnest(m.response) as response group by timestamp order by timestamp`,
    byHand: `SELECT to_json({timestamp: epoch_us(b), p50: q[1], p95: q[2]}) FROM (
      SELECT date_trunc('hour', timestamp) AS b, quantile_disc(s.origin_time, [0.5, 0.95]) AS q ${RESPONSES} GROUP BY 1 ORDER BY 1)`,
  },
  {
    name: 'countries, a day',
    window: DAY,
    sql: `select cf.country, count(*) as count from edge_logs as t cross join unnest(metadata) as m
      cross join unnest(m.request) as request cross join unnest(request.cf) as cf
      where cf.country is not null group by cf.country order by count desc`,
    byHand: `SELECT to_json({country: v, count: n}) FROM (SELECT cf.country AS v, count(*) AS n
      FROM (SELECT unnest(r.cf) AS cf ${REQUESTS}) WHERE cf.country IS NOT NULL GROUP BY 1 ORDER BY 2 DESC)`,
  },
  {
    name: "an hour by the query's own filter",
    window: ALL,
    sql: `select timestamp_trunc(t.timestamp, minute) as timestamp, countif(status_code < 400) as ok_count,
      countif(status_code >= 500) as error_count ${UNNESTED}
      where t.timestamp > '2026-09-30T11:00:00Z' and t.timestamp <= '2026-09-30T12:00:00Z' group by timestamp order by timestamp`,
    byHand: `SELECT to_json({timestamp: epoch_us(b), ok_count: o, error_count: e}) FROM (
      SELECT date_trunc('minute', timestamp) AS b, count(*) FILTER (s.status_code < 400) AS o,
        count(*) FILTER (s.status_code >= 500) AS e
      ${BOTH.replace('$where', within('2026-09-30 11:00:00'))} GROUP BY 1 ORDER BY 1)`,
  },
];

export async function dialect(print: (line: string) => void): Promise<void> {
  const sides = await openBothSides(print);
  const stored = await Stored.open(sides.engine);
  const fenced = await Stored.open(sides.engine, true);
  try {
    for (const { name, window, sql, byHand } of QUERIES) {
      const values = { project: 'default', ...window };
      const ask = (): ReturnType<Stored['run']> => stored.run('logs.all', values, sql);
      const askFenced = (): ReturnType<Stored['run']> => fenced.run('logs.all', values, sql);
      const handWritten = byHand.replaceAll('$where', BY_HAND.get(window) ?? '');
      const [ours, theirs] = [(await ask()).rows.length, (await sides.byHand(handWritten)).length];
      if (ours !== theirs || ours === 0) throw new Error(`${name}: ${ours} rows, by hand ${theirs}.`);
      const handWrittenSide = (): Promise<unknown> => sides.byHand(handWritten);
      const goal = OF_RECORDS.test(name) ? GOALS.records : GOALS.others;
      print(report(await compare(name, ask, handWrittenSide, ROUNDS), goal));
      print(report(await compare(`${name}, fenced`, askFenced, handWrittenSide, ROUNDS), goal));
    }
    await windows(stored, print);
  } finally {
    await stored.close();
    await fenced.close();
    await sides.close();
  }
}

/** One histogram over wider and wider windows: its cost is that of the rows in the window. */
async function windows(stored: Stored, print: (line: string) => void): Promise<void> {
  const sql = QUERIES.at(-1)?.sql ?? '';
  for (const [name, start] of [
    ['one hour', '2026-09-30T11:00:00Z'],
    ['one day', '2026-09-29T12:00:00Z'],
    ['the week', '2026-09-23T12:00:00Z'],
  ] as const) {
    const times: number[] = [];
    const query = sql.replace('2026-09-30T11:00:00Z', start);
    for (let i = 0; i < ROUNDS; i++)
      times.push(await time(() => stored.run('logs.all', { project: 'default' }, query)));
    print(`${`histogram, ${name} of the week`.padEnd(44)} ${ms(median(times))}`);
  }
}
