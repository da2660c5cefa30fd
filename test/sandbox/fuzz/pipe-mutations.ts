/** Changes that put a query into pipe syntax, each with its standard form, which an analyser without pipes can judge. */
import { filled } from './mutations';
import type { Random } from './random';

interface Piped {
  readonly sql: string;
  readonly standard: string;
}

/** As pipes and in standard form: templates of `filled`. */
const around =
  ([pipes, standard]: readonly [string, string]) =>
  (sql: string, random: Random): Piped => {
    const [piped = '', plain = ''] = filled(`${pipes}\0${standard}`, sql, random).split('\0');
    return { sql: piped, standard: plain };
  };

/** What a query reads and calls is the same. */
export const NEUTRAL_PIPES = (
  [
    ['(«q») |> where true', 'select * from («q») where true'],
    ['from («q») |> as q |> select q.*', 'select q.* from («q») as q'],
    ['from («q») as q |> aggregate count(*) as n', 'select count(*) as n from («q») as q'],
    ['(«q») |> limit 3 |> extend 1 as extended_1', 'select *, 1 as extended_1 from («q») limit 3'],
    ['(«q») |> union all («q»)', '(«q») union all («q»)'],
    [
      '(«q») as q |> left join auth_logs as a on true |> select q.*',
      'select q.* from («q») as q left join auth_logs as a on true',
    ],
    [
      'select 1 as one |> with w as («q»), |> cross join w |> select w.*',
      'with w as («q») select w.* from (select 1 as one) cross join w',
    ],
    ['from edge_logs as e |> where exists(«q») |> select e.id', 'select e.id from edge_logs as e where exists(«q»)'],
    [
      'from edge_logs as e |> cross join e.metadata as m |> where exists(from m.request |> limit 1) |> extend («q») is null as x |> drop metadata |> select id',
      'select id from (select e.id, m, («q») is null as x from edge_logs as e cross join e.metadata as m where exists(select 1 from m.request limit 1))',
    ],
    [
      'from edge_logs |> rename id as other |> set other = upper(other) |> aggregate max(other) as n group by other as k |> distinct |> cross join («q») as q |> select q.*',
      'select q.* from (select distinct upper(id) as k, max(upper(id)) as n from edge_logs group by 1) cross join («q») as q',
    ],
  ] as const
).map(around);

/** After which the query reads or calls something outside. */
export const SMUGGLING_PIPES = (
  [
    ['(«q») as q |> cross join «out» |> select q.*', 'select q.* from («q») as q cross join «out»'],
    ['from «out» |> cross join («q»)', 'select * from «out» cross join («q»)'],
    [
      '(«q») |> aggregate count(*) as n |> union all (from «out» |> aggregate count(*))',
      'select count(*) as n from («q») union all select count(*) from «out»',
    ],
    ['(«q») |> extend (select max(id) from «out») as x', 'select *, (select max(id) from «out») as x from («q»)'],
    ['(«q») |> where exists(from «out»)', 'select * from («q») where exists(select * from «out»)'],
    [
      '(«q») |> with w as (from «out») |> cross join w',
      'with w as (select * from «out») select * from («q») cross join w',
    ],
    [
      '(«q») |> aggregate count(*) as n group by (select max(id) from «out») as k',
      'select (select max(id) from «out») as k, count(*) as n from («q») group by 1',
    ],
    ['(«q») |> order by (select max(id) from «out»)', 'select * from («q») order by (select max(id) from «out»)'],
    ['(«q») |> extend «call» as x', 'select *, «call» as x from («q»)'],
    [
      'from edge_logs |> set id = «call» |> cross join («q»)',
      'select * from (select * replace («call» as id) from edge_logs) cross join («q»)',
    ],
    // An alias that an operator has taken away is a data set once more.
    [
      'from edge_logs as logs |> as e |> cross join logs.raw_edge_logs |> cross join («q»)',
      'select * from (select * from edge_logs as logs) as e cross join logs.raw_edge_logs cross join («q»)',
    ],
    [
      'from edge_logs as logs |> select id |> cross join logs.raw_edge_logs |> cross join («q»)',
      'select * from (select id from edge_logs as logs) cross join logs.raw_edge_logs cross join («q»)',
    ],
    [
      'from (from edge_logs as logs) as e |> cross join logs.raw_edge_logs |> cross join («q»)',
      'select * from (select * from edge_logs as logs) as e cross join logs.raw_edge_logs cross join («q»)',
    ],
    [
      'from edge_logs as logs |> aggregate count(*) as n |> where exists(from logs.raw_edge_logs) |> cross join («q»)',
      'select * from (select count(*) as n from edge_logs as logs) as e cross join («q») where exists(select * from logs.raw_edge_logs)',
    ],
    // Nor does a WITH reach what is before it.
    [
      'from billing_events |> with billing_events as («q») |> cross join billing_events as b',
      'select * from billing_events cross join («q») as b',
    ],
  ] as const
).map(around);
