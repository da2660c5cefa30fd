/** Queries made of accepted ones by changes on top of each other. */
import { lex } from '../../../packages/googlesql/src/lexer';
import { queriesOf, SANDBOX_CASES } from '../../case-files';
import { ARBITRARY, NEUTRAL, SMUGGLING } from './mutations';
import { NEUTRAL_PIPES, SMUGGLING_PIPES } from './pipe-mutations';
import type { Random } from './random';

export interface Generated {
  readonly sql: string;
  /** What the analyser reads in its place where that is older than the syntax: the same in standard form. */
  readonly standard?: string;
  readonly kind: 'neutral' | 'smuggled' | 'arbitrary';
}

/**
 * A third each: changes that keep the verdict, a forbidden name put in, any edit at all. Up to two neutral ones before. Some of the
 * first two kinds put the query into pipe syntax.
 */
export function generate(seeds: readonly string[], random: Random): Generated {
  let sql = random.pick(seeds);
  for (let n = random.below(3); n > 0; n--) sql = random.pick(NEUTRAL)(sql, random, seeds);
  const kind = random.pick(['neutral', 'smuggled', 'arbitrary'] as const);
  if (kind !== 'arbitrary' && random.chance(35)) {
    const mutate = random.pick(kind === 'neutral' ? NEUTRAL_PIPES : SMUGGLING_PIPES);
    return { ...mutate(sql, random), kind };
  }
  if (kind === 'smuggled') {
    const smuggled = random.pick(SMUGGLING)(sql, random, seeds);
    if (smuggled !== null) return { sql: smuggled, kind };
  }
  if (kind === 'arbitrary') {
    for (let n = random.below(3); n >= 0 && lexes(sql); n--) sql = random.pick(ARBITRARY)(sql, random, seeds);
    return { sql, kind };
  }
  return { sql: random.pick(NEUTRAL)(sql, random, seeds), kind: 'neutral' };
}

function lexes(sql: string): boolean {
  try {
    lex(sql);
    return true;
  } catch {
    return false;
  }
}

/** The accepted examples and the queries of log users. */
export function corpus(): string[] {
  return [
    ...SANDBOX_CASES.filter(({ kind }) => kind === 'accept').map(({ consumer }) => consumer),
    ...queriesOf('log-queries.jsonl'),
    ...FEATURES,
  ];
}

/** What GoogleSQL has and the case files use little of, so that edits reach it too. */
const FEATURES = [
  "select * from (select id, event_message as m from edge_logs) pivot(count(*) as n, max(id) for m in ('a' as a, 'b'))",
  'select * from (select 1 as a, 2 as b) unpivot include nulls (v for k in (a, b))',
  'select id, row_number() over w as n, sum(1) over (w rows between 1 preceding and current row) from auth_logs window w as (partition by id order by timestamp)',
  "select rank() over (order by id), lag(id, 1, 'x') over (order by id desc nulls last) from edge_logs qualify rank() over (order by id) < 3",
  'select id, count(*) as n from edge_logs group by rollup(id) having count(*) > 1 order by n desc, id nulls first limit 5 offset 2',
  'select grouping(id) as g, id, event_message, count(*) from edge_logs group by grouping sets ((id, event_message), id, ())',
  "select case id when 'a' then 1 else 2 end, case when id like 'a%' then if(true, 1, 2) end from edge_logs",
  "select array_agg(distinct id order by id desc limit 3), string_agg(id, ',' order by id), any_value(id having max timestamp) from edge_logs",
  "select struct(1 as a, 'b' as b).a, [1, 2][offset(0)], array<int64>[3][safe_ordinal(1)], struct<x int64, y string>(1, 'z').y",
  "select cast('1' as int64), safe_cast(id as float64), cast(timestamp as string format 'YYYY' at time zone 'UTC') from edge_logs",
  "select extract(week(monday) from timestamp), extract(hour from timestamp at time zone 'Europe/Berlin'), timestamp - interval 1 day from edge_logs",
  "select timestamp_trunc(timestamp, hour), date_diff(date '2024-01-02', date '2024-01-01', day), interval '1-2' year to month from edge_logs",
  'select e.id, m.status, o from edge_logs as e, unnest(e.metadata) as m with offset as o where o = 0',
  'select e.id, r.path from edge_logs e, e.metadata m, m.request r where r.method is not null',
  'select a.id from edge_logs a join auth_logs b using (id) left join (postgres_logs c cross join storage_logs d) on c.id = a.id',
  'select a.id, b.id as c from edge_logs a full outer join auth_logs b on a.id = b.id right join function_logs f on f.id = b.id',
  "select id in ('a', 'b'), id not in unnest(['a']), id in (select id from auth_logs), id between 'a' and 'z', id is distinct from 'x' from edge_logs",
  'select * except (metadata) replace (upper(id) as id) from edge_logs where not exists(select 1 from auth_logs a where a.id = edge_logs.id)',
  'select as struct id, timestamp from edge_logs',
  'select as value id from edge_logs union distinct select event_message from auth_logs',
  'with a as (select id from edge_logs), b as (select id from a) (select * from a intersect distinct select * from b) except distinct select id from auth_logs order by 1',
  'select array(select as struct id, timestamp from auth_logs where id = e.id limit 1) as x, (select max(id) from auth_logs) as y from edge_logs e',
  "select json_value(json '{\"a\": 1}', '$.a'), json '[1]'[0], to_json_string(metadata), parse_json('1') from edge_logs",
  "select b'a' || rb'\\x', r'\\d', '''a'b''', \"\"\"c\"\"\", .5, 1e3, 0x1F, ~1 & 2 | 3 ^ 4 << 1, -(-1), 1 <> 2, not true",
  "select format('%d %s', 1, 'a'), safe.substr(id, -1), net.host('http://a'), concat(id, @project) from edge_logs group by id",
  'select distinct t.id, t.metadata[safe_offset(0)].request[safe_offset(0)].path from edge_logs t where @iso_timestamp_start is null or true',
  "select numeric '1.5' + 2, bignumeric '2', datetime '2024-01-01 00:00:00', time '10:00:00', current_date, current_timestamp()",
  'select countif(true), logical_or(false), approx_quantiles(1, 4), percentile_cont(1, 0.5) over () from edge_logs limit @project',
];
