/** Changes that put a query into pipe syntax, each with its standard form, which an analyser without pipes can judge. */
import { body, OUTSIDE, SMUGGLED_CALLS } from './mutations';
import type { Random } from './random';

interface Piped {
  readonly sql: string;
  readonly standard: string;
}

type PipeMutation = (sql: string, random: Random) => Piped;

/** Around a query `q`, as pipes and in standard form. */
function around(change: (q: string, random: Random) => readonly [pipes: string, standard: string]): PipeMutation {
  return (sql, random) => {
    const [pipes, standard] = change(body(sql), random);
    return { sql: pipes, standard };
  };
}

/** What a query reads and calls is the same. */
export const NEUTRAL_PIPES: readonly PipeMutation[] = [
  around((q) => [`(${q}) |> where true`, `select * from (${q}) where true`]),
  around((q) => [`from (${q}) |> as q |> select q.*`, `select q.* from (${q}) as q`]),
  around((q) => [`from (${q}) as q |> aggregate count(*) as n`, `select count(*) as n from (${q}) as q`]),
  around((q) => [`(${q}) |> limit 3 |> extend 1 as extended_1`, `select *, 1 as extended_1 from (${q}) limit 3`]),
  around((q) => [`(${q}) |> union all (${q})`, `(${q}) union all (${q})`]),
  around((q) => [
    `(${q}) as q |> left join auth_logs as a on true |> select q.*`,
    `select q.* from (${q}) as q left join auth_logs as a on true`,
  ]),
  around((q) => [
    `select 1 as one |> with w as (${q}), |> cross join w |> select w.*`,
    `with w as (${q}) select w.* from (select 1 as one) cross join w`,
  ]),
  around((q) => [
    `from edge_logs as e |> where exists(${q}) |> select e.id`,
    `select e.id from edge_logs as e where exists(${q})`,
  ]),
  around((q) => [
    `from edge_logs as e |> cross join e.metadata as m |> where exists(from m.request |> limit 1) |> extend (${q}) is null as x |> drop metadata |> select id`,
    `select id from (select e.id, m, (${q}) is null as x from edge_logs as e cross join e.metadata as m where exists(select 1 from m.request limit 1))`,
  ]),
  around((q) => [
    `from edge_logs |> rename id as other |> set other = upper(other) |> aggregate max(other) as n group by other as k |> distinct |> cross join (${q}) as q |> select q.*`,
    `select q.* from (select distinct upper(id) as k, max(upper(id)) as n from edge_logs group by 1) cross join (${q}) as q`,
  ]),
];

/** After which the query reads or calls something outside. */
export const SMUGGLING_PIPES: readonly PipeMutation[] = [
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [`(${q}) as q |> cross join ${outside} |> select q.*`, `select q.* from (${q}) as q cross join ${outside}`];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [`from ${outside} |> cross join (${q})`, `select * from ${outside} cross join (${q})`];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [
      `(${q}) |> aggregate count(*) as n |> union all (from ${outside} |> aggregate count(*))`,
      `select count(*) as n from (${q}) union all select count(*) from ${outside}`,
    ];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [
      `(${q}) |> extend (select max(id) from ${outside}) as x`,
      `select *, (select max(id) from ${outside}) as x from (${q})`,
    ];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [`(${q}) |> where exists(from ${outside})`, `select * from (${q}) where exists(select * from ${outside})`];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [
      `(${q}) |> with w as (from ${outside}) |> cross join w`,
      `with w as (select * from ${outside}) select * from (${q}) cross join w`,
    ];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [
      `(${q}) |> aggregate count(*) as n group by (select max(id) from ${outside}) as k`,
      `select (select max(id) from ${outside}) as k, count(*) as n from (${q}) group by 1`,
    ];
  }),
  around((q, random) => {
    const outside = random.pick(OUTSIDE);
    return [
      `(${q}) |> order by (select max(id) from ${outside})`,
      `select * from (${q}) order by (select max(id) from ${outside})`,
    ];
  }),
  around((q, random) => {
    const call = random.pick(SMUGGLED_CALLS);
    return [`(${q}) |> extend ${call} as x`, `select *, ${call} as x from (${q})`];
  }),
  around((q, random) => {
    const call = random.pick(SMUGGLED_CALLS);
    return [
      `from edge_logs |> set id = ${call} |> cross join (${q})`,
      `select * from (select * replace (${call} as id) from edge_logs) cross join (${q})`,
    ];
  }),
  // An alias that an operator has taken away is a data set once more.
  around((q) => [
    `from edge_logs as logs |> as e |> cross join logs.raw_edge_logs |> cross join (${q})`,
    `select * from (select * from edge_logs as logs) as e cross join logs.raw_edge_logs cross join (${q})`,
  ]),
  around((q) => [
    `from edge_logs as logs |> select id |> cross join logs.raw_edge_logs |> cross join (${q})`,
    `select * from (select id from edge_logs as logs) cross join logs.raw_edge_logs cross join (${q})`,
  ]),
  around((q) => [
    `from (from edge_logs as logs) as e |> cross join logs.raw_edge_logs |> cross join (${q})`,
    `select * from (select * from edge_logs as logs) as e cross join logs.raw_edge_logs cross join (${q})`,
  ]),
  around((q) => [
    `from edge_logs as logs |> aggregate count(*) as n |> where exists(from logs.raw_edge_logs) |> cross join (${q})`,
    `select * from (select count(*) as n from edge_logs as logs) as e cross join (${q}) where exists(select * from logs.raw_edge_logs)`,
  ]),
  // Nor does a WITH reach what is before it.
  around((q) => [
    `from billing_events |> with billing_events as (${q}) |> cross join billing_events as b`,
    `select * from billing_events cross join (${q}) as b`,
  ]),
];
