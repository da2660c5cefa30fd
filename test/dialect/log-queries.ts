/** Random queries of the kind that log users write, over `test/fixture`, by the seed of `random`. */
import type { Random } from './random';
import type { Order } from './two-engines';

export interface LogQuery {
  readonly sql: string;
  readonly order: Order;
}

/** A FROM clause, and expressions over it. */
interface Source {
  readonly from: string;
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  readonly time: string;
  /** Distinct for every row. */
  readonly key: string;
  readonly records: readonly string[];
}

const EDGE = {
  texts: ['method', 'request.path', 'path', 'id', 't.event_message', 'request.search', 'host'],
  numbers: ['status_code', 'response.status_code', 'response.origin_time', 'LENGTH(path)'],
  time: 't.timestamp',
  key: 't.id',
  records: ['request', 'response', 'm', 'response.headers', 'm.request'],
};

const SOURCES: readonly Source[] = [
  ...[
    `raw_edge_logs AS t CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS request CROSS JOIN UNNEST(m.response) AS response`,
    `raw_edge_logs t, UNNEST(t.metadata) m, UNNEST(m.request) request, UNNEST(m.response) response`,
    `raw_edge_logs AS t, t.metadata AS m, m.request, m.response`,
    `raw_edge_logs AS t LEFT JOIN UNNEST(metadata) AS m LEFT JOIN UNNEST(m.request) AS request ON TRUE LEFT JOIN UNNEST(m.response) AS response`,
    `raw_edge_logs t INNER JOIN UNNEST(t.metadata) AS m LEFT JOIN UNNEST(m.request) AS request ON request.method != 'GET' INNER JOIN UNNEST(m.response) AS response ON status_code < 500`,
    `raw_edge_logs t LEFT JOIN UNNEST(t.metadata) m ON true LEFT JOIN UNNEST(COALESCE(m.request, [])) request CROSS JOIN UNNEST(m.response) response`,
    `(SELECT * FROM raw_edge_logs WHERE project = 'default') AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS request WITH OFFSET AS o CROSS JOIN UNNEST(m.response) AS response`,
  ].map((from) => ({ from, ...EDGE })),
  {
    from: `raw_edge_logs AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r LEFT JOIN UNNEST(r.cf) AS cf LEFT JOIN UNNEST(cf.botManagement) AS bot LEFT JOIN UNNEST(bot.detectionIds) AS detection WITH OFFSET AS place`,
    texts: ['cf.country', 'city', 'r.method', 'CAST(detection AS STRING)', 'cf.isEUCountry'],
    numbers: ['asn', 'bot.score', 'detection', 'place'],
    time: 't.timestamp',
    key: `CONCAT(t.id, '-', IFNULL(place, -1))`,
    records: ['cf', 'bot', 'r', 'bot.detectionIds'],
  },
  {
    from: `raw_postgres_logs AS t CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.parsed) AS p`,
    texts: ['error_severity', 'p.user_name', 'sql_state_code', 'm.host', 't.event_message', 'p.query'],
    numbers: ['process_id', 'p.session_line_num', 'CAST(SAFE_CAST(sql_state_code AS INT64) AS FLOAT64)'],
    time: 't.timestamp',
    key: 't.id',
    records: ['p', 'm.parsed', 'm'],
  },
  {
    from: `raw_auth_logs t LEFT JOIN UNNEST(t.metadata) AS m`,
    texts: [
      'm.msg',
      'level',
      `JSON_VALUE(event_message, '$.auth_event.action')`,
      `JSON_VALUE(t.event_message, "$.traits.provider")`,
      `JSON_QUERY(event_message, '$.auth_event')`,
      `IFNULL(m.error, 'none')`,
      'm.path',
    ],
    numbers: ['status', `CAST(JSON_VALUE(event_message, '$.status') AS INT64)`, 'm.duration', 'ARRAY_LENGTH(m.args)'],
    time: 't.timestamp',
    key: 't.id',
    records: ['m', 'm.auth_event', 'm.args', 't.metadata'],
  },
  {
    from: `raw_postgres_logs AS q LEFT JOIN (raw_edge_logs AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS request) ON TIMESTAMP_TRUNC(q.timestamp, MINUTE) = TIMESTAMP_TRUNC(t.timestamp, MINUTE)`,
    texts: ['method', 'request.path', 't.id', 'q.event_message'],
    numbers: ['LENGTH(path)', 'EXTRACT(SECOND FROM q.timestamp)', `STRPOS(q.event_message, 'e')`],
    time: 'q.timestamp',
    key: `CONCAT(q.id, IFNULL(t.id, ''))`,
    records: ['request', 'q.metadata'],
  },
];

const UNITS = ['MINUTE', 'HOUR', 'DAY', 'SECOND', 'WEEK', 'MONTH'];
const ZONES = [`'Europe/Berlin'`, `'America/New_York'`, `'+05:30'`, `'UTC'`];
const WORDS = ['rest', 'error', 'GET', 'a', 'connection', 'default', 'é', '200', 'login'];

/** Writes one query from random parts. */
class Writer {
  private readonly source: Source;

  constructor(private readonly random: Random) {
    this.source = random.pick(SOURCES);
  }

  private one(...list: readonly (() => string)[]): string {
    return this.random.pick(list)();
  }

  private readonly column = (): string => this.random.pick(this.source.texts);
  private readonly numeric = (): string => this.random.pick(this.source.numbers);

  private readonly text = (): string => {
    const { random, column } = this;
    const word = random.pick(WORDS);
    return this.one(
      column,
      column,
      () => `UPPER(${column()})`,
      () => `SUBSTR(${column()}, ${random.pick(['1', '-3', '2', '0'])}, ${random.pick(['1', '5'])})`,
      () => `REGEXP_EXTRACT(${column()}, r'([a-z]+)\\d*')`,
      () => `REGEXP_REPLACE(${column()}, '[0-9]+', "#")`,
      () => `SPLIT(${column()}, '/')[SAFE_OFFSET(${random.int(4)})]`,
      () => `IF(${this.condition()}, ${column()}, '${word}')`,
      () => `COALESCE(${column()}, '${word}')`,
      () => `CASE WHEN ${this.condition()} THEN 'x' WHEN ${this.condition()} THEN ${column()} END`,
      () => `CAST(${this.numeric()} AS STRING)`,
      () => `FORMAT('%s:%d', ${column()}, ${this.numeric()})`,
      () =>
        `FORMAT_TIMESTAMP('${random.pick(['%F %T', '%H:%M', '%Y-W%V', '%b %e', '%E3S'])}', ${this.source.time}, ${random.pick(ZONES)})`,
      () => `CAST(DATE(${this.source.time}) AS STRING)`,
      () => `NULLIF(${column()}, '${word}')`,
      () => `${column()} || '-' || ${column()}`,
      () => `LPAD(${column()}, 5, '*')`,
      () => `TRIM(REPLACE(${column()}, '${word}', ' '))`,
      () => `TO_JSON_STRING(STRUCT(${column()} AS a, ${this.numeric()} AS b))`,
      () => `ARRAY_TO_STRING([${column()}, NULL, 'z'], ',', '-')`,
    );
  };

  private readonly number = (): string => {
    const { random, numeric } = this;
    return this.one(
      numeric,
      numeric,
      () => `DIV(${numeric()}, 100)`,
      () => `${numeric()} / ${random.pick(['2', '3', '7.5'])}`,
      () => `MOD(${numeric()}, 7) * -1`,
      () => `SAFE_DIVIDE(${numeric()}, ${numeric()})`,
      () => `SAFE_CAST(${this.column()} AS ${random.pick(['INT64', 'FLOAT64'])})`,
      () => `IFNULL(${numeric()}, 0) + ${random.int(100)}`,
      () => `ROUND(${numeric()} / 7, 2)`,
      () => `LENGTH(${this.column()})`,
      () =>
        `TIMESTAMP_DIFF(${this.source.time}, TIMESTAMP '2026-09-30 11:00:00+00', ${random.pick(['SECOND', 'MINUTE', 'MILLISECOND'])})`,
      () =>
        `EXTRACT(${random.pick(['HOUR', 'DAYOFWEEK', 'MINUTE', 'ISOWEEK'])} FROM ${this.source.time} AT TIME ZONE ${random.pick(ZONES)})`,
      () => `UNIX_SECONDS(${this.source.time})`,
      () => `CAST(${this.condition()} AS INT64)`,
      () => `100 / ${numeric()}`,
      () => `9223372036854775000 + ${numeric()}`,
    );
  };

  private readonly when = (): string => {
    const { random } = this;
    const { time } = this.source;
    return this.one(
      () => time,
      () => `TIMESTAMP_TRUNC(${time}, ${random.pick(UNITS)})`,
      () => `TIMESTAMP_TRUNC(${time}, ${random.pick(UNITS)}, ${random.pick(ZONES)})`,
      () => `CAST(${time} AS DATETIME)`,
      () => `DATETIME(${time}, ${random.pick(ZONES)})`,
      () => `DATETIME_TRUNC(DATETIME(${time}), ${random.pick(UNITS)})`,
      () => `DATE(${time}, ${random.pick(ZONES)})`,
      () => `DATE_TRUNC(DATE(${time}), WEEK(MONDAY))`,
      () => `TIMESTAMP_SUB(${time}, INTERVAL ${random.int(90)} ${random.pick(['MINUTE', 'HOUR', 'DAY'])})`,
      () => `${time} + INTERVAL ${random.int(50)} SECOND`,
      () => `EXTRACT(TIME FROM ${time})`,
    );
  };

  private readonly condition = (): string => {
    const { random, column, numeric } = this;
    const { time } = this.source;
    const word = random.pick(WORDS);
    return this.one(
      () => `REGEXP_CONTAINS(${column()}, '${word}')`,
      () => `REGEXP_CONTAINS(${column()}, r'(?i)^${word}|\\d{3}$')`,
      () => `${column()} LIKE '%${word}%'`,
      () => `STARTS_WITH(${column()}, "${word}")`,
      () => `STRPOS(LOWER(${column()}), '${word.toLowerCase()}') > 0`,
      () => `${numeric()} ${random.pick(['<', '>=', '!=', '='])} ${random.pick(['0', '200', '404', '3'])}`,
      () => `${numeric()} BETWEEN 200 AND 299`,
      () => `${numeric()} NOT IN (200, 404, NULL)`,
      () => `${numeric()} IN (200, 404, 500, 1)`,
      () => `${column()} IS NOT NULL`,
      () => `(${column()} = '${word}') IS NOT TRUE`,
      () => `${time} > '2026-09-30T11:10:00Z'`,
      () => `${time} BETWEEN '2026-09-30 11:00:00' AND TIMESTAMP('2026-09-30 11:40:00')`,
      () => `${time} >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL ${random.int(60)} MINUTE)`,
      () => `NOT (${column()} = ${column()} OR ${numeric()} > 3)`,
      () => `${column()} IS DISTINCT FROM ${column()}`,
      () => `EXISTS (SELECT 1 FROM UNNEST([1, 200, 404]) AS x WHERE x = ${numeric()})`,
      () => `${column()} IN (SELECT method FROM raw_edge_logs, UNNEST(metadata) AS m2, UNNEST(m2.request))`,
    );
  };

  private readonly record = (): string => {
    const { random } = this;
    const record = random.pick(this.source.records);
    return this.one(
      () => record,
      () => `${record} IS NULL`,
      () => `TO_JSON_STRING(${record})`,
      () => `STRUCT(${this.text()} AS a, ${this.when()} AS b, [${this.number()}] AS c)`,
      () => `ARRAY(SELECT AS STRUCT x, ${this.column()} AS y FROM UNNEST([1, 2]) AS x ORDER BY x)`,
      () => `(SELECT COUNT(*) FROM UNNEST(SPLIT(${this.column()}, 'e')) AS part WHERE part != '')`,
    );
  };

  private readonly value = (): string =>
    this.one(this.text, this.number, this.when, this.text, this.number, this.condition, this.record);

  private readonly aggregate = (): string => {
    const { random } = this;
    return this.one(
      () => 'COUNT(*)',
      () => `COUNT(${this.text()})`,
      () => `COUNT(DISTINCT ${this.column()})`,
      () => `COUNTIF(${this.condition()})`,
      () => `SUM(${this.numeric()})`,
      () => `AVG(${this.number()})`,
      () => `${random.pick(['MIN', 'MAX'])}(${this.ordinary()})`,
      () => {
        const column = this.column();
        return `STRING_AGG(DISTINCT ${column}, '|' ORDER BY ${column})`;
      },
      () => `ARRAY_AGG(${this.numeric()} IGNORE NULLS ORDER BY ${this.source.key} LIMIT 3)`,
      () => `APPROX_QUANTILES(${this.numeric()}, 4)[OFFSET(${random.int(5)})]`,
      () => `APPROX_COUNT_DISTINCT(${this.column()})`,
      () => `SAFE_DIVIDE(COUNTIF(${this.condition()}), COUNT(*))`,
      () => `LOGICAL_OR(${this.condition()})`,
      () => `COUNT(DISTINCT IF(${this.condition()}, ${this.source.key}, NULL))`,
      () => `ARRAY_AGG(STRUCT(${this.column()} AS x, ${this.numeric()} AS n) ORDER BY ${this.source.key} DESC LIMIT 2)`,
      () => `SUM(IF(${this.condition()}, 1, 0)) / COUNT(*)`,
      () => `ROUND(STDDEV(${this.numeric()}), 3)`,
      () => `MAX(${this.source.time}) - MIN(${this.source.time}) > INTERVAL 1 MINUTE`,
    );
  };

  private readonly ordinary = (): string => this.one(this.text, this.number, this.when);

  private where(): string {
    const { random } = this;
    if (random.chance(0.35)) return '';
    const more = random.chance(0.4) ? ` ${random.pick(['AND', 'OR'])} ${this.condition()}` : '';
    return `\nWHERE ${this.condition()}${more}`;
  }

  /** Rows: values, some unnamed, some under the name of a column. */
  list(): LogQuery {
    const { random, source } = this;
    const values = Array.from({ length: 1 + random.int(4) }, (_, i) => {
      const alias = random.chance(0.7) ? ` AS v${i}` : '';
      return `${this.value()}${alias}`;
    });
    const ordered = random.chance(0.5);
    const direction = random.pick([' DESC', '', ' ASC NULLS LAST', ' DESC NULLS FIRST']);
    const order = ordered ? `\nORDER BY ${this.one(this.text, this.number, this.when)}${direction}, k` : '';
    const limit = ordered && random.chance(0.6) ? ` LIMIT ${random.int(30)}` : '';
    const trailing = random.chance(0.2) ? ',' : '';
    const sql = `SELECT ${source.key} AS k, ${values.join(', ')}${trailing}\nFROM ${source.from}${this.where()}${order}${limit}`;
    return { sql, order: ordered ? 'ordered' : 'any order' };
  }

  /** Groups, by an alias that hides a column, an expression or an ordinal. */
  groups(): LogQuery {
    const { random } = this;
    const hiding = random.pick(['timestamp', 'id', 'method', 'bucket', 'event_message']);
    const bucket = this.ordinary();
    const second = random.chance(0.4) ? this.text() : null;
    const values = Array.from({ length: 1 + random.int(3) }, (_, i) => `${this.aggregate()} AS a${i}`);
    const sorted = random.chance(0.6);
    // Where it sorts or filters by an alias, the reference engine does not know the expression of GROUP BY again.
    const by = random.pick(sorted ? [hiding, '1'] : [hiding, '1', bucket]);
    const groups = second === null ? by : `${by}, ${random.pick(['2', 'second'])}`;
    const having =
      by !== bucket && random.chance(0.2) ? `\nHAVING ${random.pick(['COUNT(*) > 1', 'a0 IS NOT NULL'])}` : '';
    const list = [`${bucket} AS ${hiding}`, ...(second === null ? [] : [`${second} AS second`]), ...values];
    const order = sorted
      ? `\nORDER BY ${random.pick(['1', hiding])}${random.pick(['', ' DESC'])}${second === null ? '' : ', 2'}`
      : '';
    const sql = `SELECT ${list.join(', ')}\nFROM ${this.source.from}${this.where()}\nGROUP BY ${groups}${having}${order}`;
    return { sql, order: order === '' ? 'any order' : 'ordered' };
  }

  /** Windows, and rows picked by them. */
  windows(): LogQuery {
    const { random, source } = this;
    const over = `OVER (PARTITION BY ${this.text()} ORDER BY ${source.time}, ${source.key})`;
    const windowed = this.one(
      () => `ROW_NUMBER() ${over}`,
      () => `LAG(${this.numeric()}${random.pick(['', ', 2', ', 1, 0'])}) ${over}`,
      () => `SUM(${this.numeric()}) ${over}`,
      () => `FIRST_VALUE(${this.column()} IGNORE NULLS) ${over}`,
      () => `LAST_VALUE(${this.column()}) ${over}`,
      () => `RANK() OVER (ORDER BY ${this.ordinary()})`,
      () => `COUNT(*) OVER (PARTITION BY ${this.text()})`,
      () => `NTILE(4) OVER (ORDER BY ${source.time}, ${source.key})`,
      () =>
        `AVG(${this.numeric()}) OVER (ORDER BY ${source.time}, ${source.key} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)`,
      () => `PERCENTILE_CONT(${this.numeric()}, 0.5) OVER (PARTITION BY ${this.text()})`,
      () =>
        `MAX(${this.text()}) OVER (ORDER BY UNIX_SECONDS(${source.time}) RANGE BETWEEN 60 PRECEDING AND CURRENT ROW)`,
    );
    const qualify = random.chance(0.5)
      ? `\nQUALIFY ${random.pick([`w IS NOT NULL`, `ROW_NUMBER() ${over} <= 2`])}`
      : '';
    const where = this.where() || (qualify === '' ? '' : '\nWHERE TRUE');
    return {
      sql: `SELECT ${source.key} AS k, ${windowed} AS w\nFROM ${source.from}${where}${qualify}`,
      order: 'any order',
    };
  }

  /** Two queries put together. */
  sets(): LogQuery {
    const { random } = this;
    const operation = random.pick(['UNION ALL', 'UNION DISTINCT', 'EXCEPT DISTINCT', 'INTERSECT DISTINCT']);
    const other = new Writer(random);
    const [a, b] = [this.text(), other.text()];
    const [n, m] = [this.number(), other.number()];
    const first = `SELECT ${a} AS t, ${n} AS n FROM ${this.source.from}${this.where()}`;
    const second = `SELECT ${b}, ${m} FROM ${other.source.from}${other.where()}`;
    return { sql: `${first}\n${operation}\n${second}`, order: 'any order' };
  }

  /** CTEs, a join of them, a count for each value in a column of its own. */
  nested(): LogQuery {
    const { random, source } = this;
    const inner = `SELECT ${source.key} AS k, ${this.text()} AS a, ${this.numeric()} AS n, ${this.when()} AS w FROM ${source.from}${this.where()}`;
    return {
      order: 'any order',
      sql: this.one(
        () => `WITH rows_ AS (${inner}) SELECT a, COUNT(*) c, MIN(w) w FROM rows_ GROUP BY a`,
        () =>
          `WITH x AS (${inner}), y AS (SELECT a, COUNT(*) AS c FROM x GROUP BY a) SELECT x.k, y.c, a FROM x JOIN y USING (a)`,
        () => `SELECT * FROM (${inner}) WHERE n > (SELECT AVG(n) FROM (${inner}))`,
        () => `SELECT * EXCEPT (k, w), w IS NULL AS no_w FROM (${inner})`,
        () => `SELECT * REPLACE (UPPER(a) AS a) FROM (${inner}) AS z`,
        () => `SELECT AS STRUCT k, a FROM (${inner})`,
        () => `SELECT z.k, z FROM (${inner}) AS z`,
        () => `SELECT DISTINCT a, n IS NULL FROM (${inner})`,
        () => `SELECT * FROM (SELECT method, status_code, id FROM raw_edge_logs, UNNEST(metadata) m, UNNEST(m.request), UNNEST(m.response))
          PIVOT(${random.pick(['COUNT(id)', 'COUNT(DISTINCT id) AS ids', 'MAX(id)'])} FOR method IN ('GET', 'POST' AS post, 'PUT'))`,
        () =>
          `SELECT a.k, b.k AS other FROM (${inner}) AS a ${random.pick(['LEFT', 'FULL', 'INNER', 'RIGHT'])} JOIN (SELECT * FROM (${inner}) WHERE n IS NOT NULL) AS b ON a.k = b.k AND a.a = b.a`,
        () => `SELECT a, GROUPING(a) AS g, COUNT(*) AS c FROM (${inner}) GROUP BY ROLLUP(a)`,
      ),
    };
  }
}

/** One random query. */
export function randomLogQuery(random: Random): LogQuery {
  const writer = new Writer(random);
  return random.pick([
    () => writer.list(),
    () => writer.groups(),
    () => writer.windows(),
    () => writer.sets(),
    () => writer.nested(),
  ])();
}
