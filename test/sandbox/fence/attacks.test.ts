/**
 * Queries that fail just where a row of another project is looked at, on a local BigQuery that evaluates what consumers
 * compute before it filters: without the fence each fails, with it each has the rows of the order that it was written in.
 */
import { openEngineOn, overOwnLocalBigQuery } from '../../engines/over-local-bigquery';
import { borrowLocalBigQuery, type LocalBigQuery } from '../../local-bigquery';
import { Consumer } from '../consumer';
import { oneOf } from '../../scale';

/** TRUE on rows of another project alone. */
const FOREIGN = "strpos(e.event_message, 'abcdefghijklmnopqrst') > 0";

/** Expressions that fail where a condition, `#`, holds, and only there. */
const FAILING: Readonly<Record<string, string>> = {
  division: 'div(1, if(#, 0, 1)) = 1',
  cast: "cast(if(#, 'x', '1') as int64) = 1",
  PARSE_TIMESTAMP: "parse_timestamp('%F', if(#, 'x', '2026-01-01')) is not null",
  PARSE_JSON: "parse_json(if(#, '{', '{}')) is not null",
  offset: '[1][offset(if(#, 1, 0))] = 1',
  'regular expression': "regexp_contains('a', if(#, '(', 'a'))",
  'time zone': "datetime(e.timestamp, if(#, 'No/Where', 'UTC')) is not null",
  overflow: '9223372036854775807 + if(#, 1, 0) > 0',
  'negative length': "repeat('a', if(#, -1, 1)) = 'a'",
  'scalar subquery': '(select x from unnest(if(#, [1, 1], [1])) as x) = 1',
  GENERATE_ARRAY: 'array_length(generate_array(1, 2, if(#, 0, 1))) = 2',
  'constant under a condition': 'if(#, 1 / 0, 1) = 1',
};

/** Places of a condition, `#`, over rows `e` of edge_logs. */
const PLACES: Readonly<Record<string, string>> = {
  WHERE: 'select count(*) as n from edge_logs as e where #',
  'WHERE beside others': "select count(*) as n from edge_logs as e where starts_with(id, 'a') or #",
  'select list': 'select id, # as x from edge_logs as e',
  'JOIN ON': 'select count(*) as n from edge_logs as e join auth_logs as a on a.id = e.id and #',
  'key of a JOIN': "select count(*) as n from auth_logs as a join edge_logs as e on a.id = if(#, e.id, '')",
  'key of a LEFT JOIN': "select count(*) as n from auth_logs as a left join edge_logs as e on a.id = if(#, e.id, '')",
  'null-extended side':
    'select count(*) as n from auth_logs as a left join edge_logs as e on a.id = e.id where # or e.id is null',
  HAVING: 'select event_message, count(*) as n from edge_logs as e group by event_message having #',
  'key of GROUP BY': 'select # as k, count(*) as n from edge_logs as e group by k',
  QUALIFY: 'select id from edge_logs as e qualify row_number() over (order by id) > 0 and #',
  'window order': 'select id, count(*) over (partition by #) as n from edge_logs as e',
  'window argument': 'select id, countif(#) over () as n from edge_logs as e',
  'aggregate argument': 'select countif(#) as n from edge_logs as e',
  'ORDER BY': 'select id from edge_logs as e order by #, id',
  'subquery in IN': 'select count(*) as n from edge_logs where id in (select id from edge_logs as e where #)',
  'correlated subquery':
    'select count(*) as n from edge_logs as e where exists (select 1 from unnest(e.metadata) as m where #)',
  'ARRAY subquery': 'select id, array(select # from unnest([1]) as one) as x from edge_logs as e',
  'derived table': 'select count(*) as n from (select id, # as x from edge_logs as e) where x',
  CTE: 'with c as (select id, # as x from edge_logs as e) select count(*) as n from c where x',
  'CTE that is read twice':
    'with c as (select * from edge_logs) select count(*) as n from c as e join c as o using (id) where #',
  UNION:
    'select count(*) as n from (select * except (metadata) from edge_logs union all select * except (metadata) from postgres_logs) as e where #',
  DISTINCT: 'select count(*) as n from (select distinct event_message, timestamp from edge_logs) as e where #',
  'unnested elements': 'select count(*) as n from edge_logs as e, unnest(e.metadata) as m where #',
  UNNEST: 'select count(*) as n from edge_logs as e, unnest(if(#, [1], [1])) as x',
  'pipe WHERE': 'from edge_logs as e |> where # |> aggregate count(*) as n',
  'pipe EXTEND and WHERE': 'from edge_logs as e |> extend # as x |> where x |> aggregate count(*) as n',
  'pipe SET': "from edge_logs as e |> set id = if(#, 'a', 'b') |> aggregate count(*) as n group by id",
  'pipe SELECT DISTINCT': 'from edge_logs as e |> select distinct # as x',
  'pipe AGGREGATE': 'from edge_logs as e |> aggregate countif(#) as n',
  'key of a pipe AGGREGATE': 'from edge_logs as e |> aggregate count(*) as n group by # as k',
  'pipe JOIN': "from auth_logs as a |> left join edge_logs as e on a.id = if(#, e.id, '') |> aggregate count(*) as n",
  'window of a pipe WHERE':
    'from edge_logs as e |> where count(*) over (partition by #) > 0 |> select id |> order by id',
  'pipe ORDER BY': 'from edge_logs as e |> order by #, id |> limit 1000 |> select id',
  'after a pipe WHERE': 'from edge_logs as e |> where id is not null |> where # |> select id |> order by id',
  'pipe PIVOT': 'from edge_logs as e |> select id, # as x |> pivot(count(id) as n for x in (true, false))',
  'pipe UNION':
    'from edge_logs |> drop metadata |> union all by name (from postgres_logs |> drop metadata) |> as e |> where # |> aggregate count(*) as n',
  'pipe WITH':
    'select 1 as one |> with c as (from edge_logs as e |> where #) |> cross join c |> aggregate count(*) as n',
  CASE: 'select countif(case when length(id) > 0 then # else false end) as n from edge_logs as e',
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

    const failing = (name: string): string => FAILING[name]!.replace('#', FOREIGN);
    const placed = (name: string, condition: string): string => PLACES[name]!.replace('#', () => condition);
    const attacks = [
      ...Object.keys(FAILING).map((name) => [`${name} in WHERE`, placed('WHERE', failing(name))] as const),
      ...Object.keys(PLACES).map((name) => [`division in ${name}`, placed(name, failing('division'))] as const),
    ];

    it.each(oneOf(2, attacks))('%s', async (_name, sql) => {
      await expect(open.sql(sql)).rejects.toMatchObject({ reason: 'invalidQuery' });
      const [got, want] = await Promise.all([fenced.sql(sql), ordered.sql(sql)]);
      expect([...got.rows].sort()).toEqual([...want.rows].sort());
    });
  },
  ['--eager'],
);
