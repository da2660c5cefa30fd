/**
 * Queries that fail just where a row of another project is looked at, on a local BigQuery that evaluates what consumers
 * compute before it filters: without the fence each fails, with it each has the rows of the order that it was written in.
 */
import { openEngineOn, overOwnLocalBigQuery } from '../../engines/over-local-bigquery';
import { borrowLocalBigQuery, type LocalBigQuery } from '../../local-bigquery';
import { Consumer } from '../consumer';

/** TRUE on rows of another project alone. */
const FOREIGN = "strpos(e.event_message, 'abcdefghijklmnopqrst') > 0";

/** Expressions that fail where a condition holds, and only there. */
const FAILING: Readonly<Record<string, (condition: string) => string>> = {
  division: (c) => `div(1, if(${c}, 0, 1)) = 1`,
  cast: (c) => `cast(if(${c}, 'x', '1') as int64) = 1`,
  PARSE_TIMESTAMP: (c) => `parse_timestamp('%F', if(${c}, 'x', '2026-01-01')) is not null`,
  PARSE_JSON: (c) => `parse_json(if(${c}, '{', '{}')) is not null`,
  offset: (c) => `[1][offset(if(${c}, 1, 0))] = 1`,
  'regular expression': (c) => `regexp_contains('a', if(${c}, '(', 'a'))`,
  'time zone': (c) => `datetime(e.timestamp, if(${c}, 'No/Where', 'UTC')) is not null`,
  overflow: (c) => `9223372036854775807 + if(${c}, 1, 0) > 0`,
  'negative length': (c) => `repeat('a', if(${c}, -1, 1)) = 'a'`,
  'scalar subquery': (c) => `(select x from unnest(if(${c}, [1, 1], [1])) as x) = 1`,
  GENERATE_ARRAY: (c) => `array_length(generate_array(1, 2, if(${c}, 0, 1))) = 2`,
  'constant under a condition': (c) => `if(${c}, 1 / 0, 1) = 1`,
};

/** Places of a condition, over rows `e` of edge_logs. */
const PLACES: Readonly<Record<string, (f: string) => string>> = {
  WHERE: (f) => `select count(*) as n from edge_logs as e where ${f}`,
  'WHERE beside others': (f) => `select count(*) as n from edge_logs as e where starts_with(id, 'a') or ${f}`,
  'select list': (f) => `select id, ${f} as x from edge_logs as e`,
  'JOIN ON': (f) => `select count(*) as n from edge_logs as e join auth_logs as a on a.id = e.id and ${f}`,
  'key of a JOIN': (f) => `select count(*) as n from auth_logs as a join edge_logs as e on a.id = if(${f}, e.id, '')`,
  'key of a LEFT JOIN': (f) =>
    `select count(*) as n from auth_logs as a left join edge_logs as e on a.id = if(${f}, e.id, '')`,
  'null-extended side': (f) =>
    `select count(*) as n from auth_logs as a left join edge_logs as e on a.id = e.id where ${f} or e.id is null`,
  HAVING: (f) => `select event_message, count(*) as n from edge_logs as e group by event_message having ${f}`,
  'key of GROUP BY': (f) => `select ${f} as k, count(*) as n from edge_logs as e group by k`,
  QUALIFY: (f) => `select id from edge_logs as e qualify row_number() over (order by id) > 0 and ${f}`,
  'window order': (f) => `select id, count(*) over (partition by ${f}) as n from edge_logs as e`,
  'window argument': (f) => `select id, countif(${f}) over () as n from edge_logs as e`,
  'aggregate argument': (f) => `select countif(${f}) as n from edge_logs as e`,
  'ORDER BY': (f) => `select id from edge_logs as e order by ${f}, id`,
  'subquery in IN': (f) => `select count(*) as n from edge_logs where id in (select id from edge_logs as e where ${f})`,
  'correlated subquery': (f) =>
    `select count(*) as n from edge_logs as e where exists (select 1 from unnest(e.metadata) as m where ${f})`,
  'ARRAY subquery': (f) => `select id, array(select ${f} from unnest([1]) as one) as x from edge_logs as e`,
  'derived table': (f) => `select count(*) as n from (select id, ${f} as x from edge_logs as e) where x`,
  CTE: (f) => `with c as (select id, ${f} as x from edge_logs as e) select count(*) as n from c where x`,
  'CTE that is read twice': (f) =>
    `with c as (select * from edge_logs) select count(*) as n from c as e join c as o using (id) where ${f}`,
  UNION: (f) =>
    `select count(*) as n from (select * except (metadata) from edge_logs union all select * except (metadata) from postgres_logs) as e where ${f}`,
  DISTINCT: (f) =>
    `select count(*) as n from (select distinct event_message, timestamp from edge_logs) as e where ${f}`,
  'unnested elements': (f) => `select count(*) as n from edge_logs as e, unnest(e.metadata) as m where ${f}`,
  UNNEST: (f) => `select count(*) as n from edge_logs as e, unnest(if(${f}, [1], [1])) as x`,
  'pipe WHERE': (f) => `from edge_logs as e |> where ${f} |> aggregate count(*) as n`,
  'pipe EXTEND and WHERE': (f) => `from edge_logs as e |> extend ${f} as x |> where x |> aggregate count(*) as n`,
  'pipe SET': (f) => `from edge_logs as e |> set id = if(${f}, 'a', 'b') |> aggregate count(*) as n group by id`,
  'pipe SELECT DISTINCT': (f) => `from edge_logs as e |> select distinct ${f} as x`,
  'pipe AGGREGATE': (f) => `from edge_logs as e |> aggregate countif(${f}) as n`,
  'key of a pipe AGGREGATE': (f) => `from edge_logs as e |> aggregate count(*) as n group by ${f} as k`,
  'pipe JOIN': (f) =>
    `from auth_logs as a |> left join edge_logs as e on a.id = if(${f}, e.id, '') |> aggregate count(*) as n`,
  'window of a pipe WHERE': (f) =>
    `from edge_logs as e |> where count(*) over (partition by ${f}) > 0 |> select id |> order by id`,
  'pipe ORDER BY': (f) => `from edge_logs as e |> order by ${f}, id |> limit 1000 |> select id`,
  'after a pipe WHERE': (f) => `from edge_logs as e |> where id is not null |> where ${f} |> select id |> order by id`,
  'pipe PIVOT': (f) => `from edge_logs as e |> select id, ${f} as x |> pivot(count(id) as n for x in (true, false))`,
  'pipe UNION': (f) =>
    `from edge_logs |> drop metadata |> union all by name (from postgres_logs |> drop metadata) |> as e |> where ${f} |> aggregate count(*) as n`,
  'pipe WITH': (f) =>
    `select 1 as one |> with c as (from edge_logs as e |> where ${f}) |> cross join c |> aggregate count(*) as n`,
  CASE: (f) => `select countif(case when length(id) > 0 then ${f} else false end) as n from edge_logs as e`,
};

overOwnLocalBigQuery(
  'the fence',
  (eager) => {
    let plain: LocalBigQuery;
    let ordered: Consumer;
    let open: Consumer;
    let fenced: Consumer;
    beforeAll(async () => {
      plain = await borrowLocalBigQuery();
      ordered = await Consumer.over(await openEngineOn(plain.host));
      open = await Consumer.over(await openEngineOn(eager().host));
      fenced = await Consumer.over(await openEngineOn(eager().host), { fenced: true });
    }, 60_000);
    afterAll(async () => {
      await Promise.all([ordered.close(), open.close(), fenced.close()]);
      await plain.stop();
    });

    const division = FAILING['division'] ?? String;
    const where = PLACES['WHERE'] ?? String;
    const attacks = [
      ...Object.entries(FAILING).map(([name, fails]) => [`${name} in WHERE`, where(fails(FOREIGN))] as const),
      ...Object.entries(PLACES).map(([name, place]) => [`division in ${name}`, place(division(FOREIGN))] as const),
    ];

    it.each(attacks)('%s', async (_name, sql) => {
      await expect(open.sql(sql)).rejects.toMatchObject({ reason: 'invalidQuery' });
      const [got, want] = await Promise.all([fenced.sql(sql), ordered.sql(sql)]);
      expect([...got.rows].sort()).toEqual([...want.rows].sort());
    });
  },
  ['--eager'],
);
