/**
 * Queries as logs user interfaces, dashboards and scripts put them together: one construct seldom comes alone. Every one
 * is in an order that its rows leave no choice in, or says with `any order` that it has none.
 */
export interface ClientQuery {
  readonly about: string;
  readonly sql: string;
  readonly order?: 'any order';
}

const EDGE = `edge_logs as l
  cross join unnest(metadata) as meta
  cross join unnest(meta.request) as req
  cross join unnest(meta.response) as res`;

const LEVELS = `case
      when res.status_code between 200 and 299 then 'fine'
      when res.status_code between 400 and 499 then 'caller'
      when res.status_code >= 500 then 'service'
      else 'other'
    end`;

/** Branches of one stream over several tables, as unified views make it; NULLs replace what a table has not. */
const STREAM = `with stream as (
  select l.id, l.timestamp as seen, 'gateway' as source, cast(res.status_code as string) as status, ${LEVELS} as level,
    req.path as place, null as text, null as extra
  from ${EDGE}
  -- the rest has its own branch
  where req.path not like '%/rest/%'
  union all
  select l.id, l.timestamp, 'rest', cast(res.status_code as string), ${LEVELS}, req.path, null, null
  from ${EDGE} where req.path like '%/rest/%'
  union all
  select p.id, p.timestamp, 'database', line.sql_state_code,
    if(line.error_severity in ('ERROR', 'FATAL', 'PANIC'), 'service', 'fine'), null, event_message, null
  from postgres_logs as p cross join unnest(p.metadata) as pm cross join unnest(pm.parsed) as line
)`;

export const CLIENT_QUERIES: readonly ClientQuery[] = [
  {
    about: 'a list: leaves by their own name, a column of the table by the table, a trailing semicolon',
    sql: `-- newest requests
select id, edge_logs.timestamp, method, path, status_code
from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as s
where status_code is not null
order by timestamp desc, id limit 25;
`,
  },
  {
    about: 'a filter chip with OR inside AND, a search in a pattern with an escape',
    sql: `select l.id, res.status_code from ${EDGE}
where (regexp_contains(event_message, '(?i)get|\\\\s[45]\\\\d\\\\d\\\\s')) and (req.path like '/rest/%' or req.path like '/auth/%')
  and (res.status_code between 400 and 499 or res.status_code >= 500) order by l.timestamp desc, l.id`,
  },
  {
    about: 'an alias that hides the column in GROUP BY and ORDER BY, a trailing comma',
    sql: `select
  timestamp_trunc(l.timestamp, minute) as timestamp,
  count(case when not (res.status_code >= 500 or res.status_code >= 400 and res.status_code < 500) then 1 end) as fine,
  count(case when res.status_code >= 500 then 1 end) as failed,
from ${EDGE} where l.timestamp > '2026-09-30T10:00:00.000Z' group by timestamp order by timestamp asc`,
  },
  {
    about: 'the same alias with the column under a function in ORDER BY and in HAVING',
    sql: `select timestamp_trunc(timestamp, hour) as timestamp, count(*) as count from postgres_logs
group by timestamp having count > 1 order by unix_seconds(timestamp) desc`,
  },
  {
    about: 'a bucket as DATETIME, an average and a rounded share',
    sql: `select cast(timestamp_trunc(l.timestamp, hour) as datetime) as bucket, avg(res.origin_time) as mean,
  round(safe_divide(countif(res.status_code >= 400), count(*)) * 100, 2) as share
from ${EDGE} group by bucket order by bucket`,
  },
  {
    about: 'sums of texts that may be no numbers',
    sql: `select req.method, sum(safe_cast(coalesce(h.content_length, "0") as int64)) as bytes,
  coalesce(safe_divide(sum(safe_cast(h.content_length as int64)), 1000), 0) as kb
from ${EDGE} cross join unnest(res.headers) as h group by req.method order by req.method`,
  },
  {
    about: 'doubles rounded to digits that they hold a little less than',
    sql: `select id, round(m.duration / 1000000, 2) as ms, round(m.duration / 1e7, 3) as cs, trunc(m.duration / 1000000, 1) as t
from auth_logs cross join unnest(metadata) as m where m.duration is not null order by id`,
  },
  {
    about: 'percentiles by an offset into an aggregate, rounded',
    sql: `select json_value(event_message, "$.path") as path, count(*) as n,
  round(avg(cast(json_value(event_message, "$.duration") as int64)) / 1000000, 2) as mean,
  round(approx_quantiles(cast(json_value(event_message, "$.duration") as int64), 100)[offset(95)] / 1000000, 2) as p95,
  round(max(cast(json_value(event_message, "$.duration") as int64)) / 1000000, 1) as longest
from auth_logs where json_value(event_message, "$.status") = '200' group by path order by n desc, path`,
  },
  {
    about: 'JSON in a message that is not always JSON',
    sql: `select id, coalesce(json_value(event_message, '$.auth_event.action'), json_value(event_message, '$.action'), 'none') as action,
  json_query(event_message, '$.auth_event.traits') as traits, json_value(event_message, '$.tags[1]') as tag,
  safe_cast(json_value(event_message, '$.duration') as float64) / 1000.0 as us
from auth_logs order by id`,
  },
  {
    about: 'a CASE over JSON, its branches of NULLs and texts',
    sql: `select case coalesce(json_value(event_message, '$.auth_event.action'), '') when 'login' then 'in'
    when 'user_signedup' then 'up' when '' then null else 'other' end as kind, count(distinct if(
    json_value(event_message, '$.level') = 'info', json_value(event_message, '$.auth_event.actor_id'), null)) as people
from auth_logs group by kind order by kind`,
  },
  {
    about: 'bounds in a CTE, parsed from two forms of text, joined by a comma',
    sql: `with bounds as (
  select coalesce(safe.parse_timestamp('%Y-%m-%dT%H:%M:%E*S%Ez', '2026-09-30T09:00:00.000Z'), timestamp('2026-09-30T09:00:00.000Z')) as low,
    timestamp('2026-09-30 11:45:00+00') as high
), base as (select timestamp_trunc(timestamp, hour) as ts, id from auth_logs, bounds where timestamp >= low and timestamp < high)
select ts as timestamp, 'all' as metric, count(id) as count, cast(null as string) as provider from base group by ts
union all
select max(ts), 'last', 1, 'x' from base
order by timestamp desc, metric`,
  },
  {
    about: 'aggregates joined by USING over two keys',
    sql: `with base as (select timestamp_trunc(l.timestamp, day) as ts, req.method as metric, res.origin_time as ms from ${EDGE}),
low as (select ts, metric, min(ms) as min, max(ms) as max from base group by ts, metric),
mid as (select ts, metric, approx_quantiles(ms, 4) as q from base where ms is not null group by ts, metric)
select l.ts as timestamp, metric, l.min as low, l.max as high, array_length(q) as quantiles
from low l join mid using (ts, metric) order by timestamp desc, metric`,
  },
  {
    about: 'one stream of three tables: a list with NULL columns',
    sql: `${STREAM} select id, seen, source, status, level, place, text, extra from stream
where level in ('service', 'caller') order by seen desc, id, source limit 60`,
  },
  {
    about: 'one stream of three tables: bucket counts',
    sql: `${STREAM} select timestamp_trunc(seen, HOUR) as bucket, countif(level = 'fine') as fine, countif(level = 'service') as bad,
  count(*) as total from stream where (lower(place) like lower('%V1%') or text is not null) group by bucket order by bucket`,
  },
  {
    about: 'one stream of three tables: facets as rows',
    sql: `${STREAM},
counts as (select count(*) as total, countif(source = 'rest') as rest, countif(source = 'database') as db from stream),
by_status as (select 'status' as facet, status as value, count(*) as count from stream where status is not null group by status limit 200)
select 'total' as facet, 'all' as value, total as count from counts
union all select 'source', 'rest', rest from counts
union all select 'source', 'database', db from counts
union all select facet, value, count from by_status
order by facet, value`,
  },
  {
    about: 'a join tree in parentheses, UNNEST with a blank before its parenthesis',
    sql: `select a.id as source_id, l.id, req.path, res.status_code
from auth_logs as a cross join unnest(metadata) as am
left join (
  edge_logs as l cross join unnest (metadata) as meta cross join unnest (meta.response) as res
  cross join unnest (res.headers) as rh cross join unnest (meta.request) as req
) on am.request_id = rh.cf_ray
where am.request_id is not null order by source_id, l.id`,
  },
  {
    about: 'a join to grouped rows, the first of a group',
    sql: `select f.id, f.timestamp, fr.status_code, coalesce(lines.last_line, '') as last_line, lines.n
from function_edge_logs as f cross join unnest(metadata) as fm cross join unnest(fm.response) as fr
left join (
  select lm.execution_id, count(g.id) as n, min(g.event_message) as last_line
  from function_logs as g cross join unnest(g.metadata) as lm where lm.execution_id is not null group by lm.execution_id
) as lines on fm.execution_id = lines.execution_id
order by f.timestamp desc, f.id`,
  },
  {
    about: 'whole lines of another table in an array of structs',
    sql: `select fm.execution_id, array_agg(struct(g.id, g.timestamp, g.event_message, lm.level) order by g.id) as lines, any_value(fm.project_ref) as ref
from function_edge_logs as f, unnest(f.metadata) as fm
join function_logs as g on true cross join unnest(g.metadata) as lm
where lm.execution_id = fm.execution_id group by fm.execution_id order by fm.execution_id`,
  },
  {
    about: 'LEFT JOIN UNNEST without ON, COALESCE with an empty array, a whole struct IS NOT NULL',
    sql: `select l.id, sb.auth_user, p.role, k.prefix,
  case when p.algorithm = 'HS256' and p.role in ('anon', 'service_role') then p.role when p is not null then '<other>' else null end as key_role,
  case when k.prefix like '%publishable%' then 'anon' when k.prefix like '%secret%' then 'service_role' when k is not null then 'unknown' end as kind
from edge_logs as l cross join unnest(metadata) as m cross join unnest(m.request) as r
left join unnest(r.sb) as sb
left join unnest(sb.jwt) as jwt
left join unnest(coalesce(jwt.apikey, [])) as api
left join unnest(coalesce(api.payload, [])) as p
left join unnest(coalesce(sb.apikey, [])) as outer_key
left join unnest(coalesce(outer_key.apikey, [])) as k
order by l.id`,
  },
  {
    about: 'a row and an unnested record as values, under names of their own',
    sql: `select l.id as id, l as raw, m as metadata from edge_logs as l cross join unnest(l.metadata) as m
where l.timestamp between '2026-09-30 11:00:00' and '2026-09-30 11:30:00' order by id`,
  },
  {
    about: 'a row as a value beside what is taken out of it',
    sql: `select p as raw, line.query_id, line.session_start_time, m.host from postgres_logs as p
cross join unnest(p.metadata) as m cross join unnest(m.parsed) as line order by p.id`,
  },
  {
    about: 'subscripts through arrays of records, safe ones',
    sql: `select id, metadata[safe_offset(0)].parsed[safe_offset(0)].command_tag as tag,
  metadata[safe_offset(0)].parsed[safe_ordinal(1)].user_name as who, metadata[safe_offset(7)].host as none
from postgres_logs where metadata[safe_offset(0)].parsed[safe_offset(0)].command_tag in ('SELECT', 'CREATE TABLE', 'authentication') order by id`,
  },
  {
    about: 'a plain subscript behind a guard, a struct field after it',
    sql: `select id, if(array_length(metadata) > 0, metadata[0].host, '-') as host from pgbouncer_logs order by id`,
  },
  {
    about: 'the last use of keys: a field that is quoted, milliseconds of the newest row',
    sql: `select unix_millis(max(l.timestamp)) as last, k.\`hash\`, count(*) as uses from edge_logs l cross join unnest(metadata) as m
cross join unnest(m.request) as r cross join unnest(r.sb) as sb cross join unnest(sb.apikey) as o cross join unnest(o.apikey) as k
where k.error is null and k.\`hash\` is not null group by k.\`hash\` order by k.\`hash\``,
  },
  {
    about: 'rows by country with LEFT JOIN ... ON TRUE',
    sql: `select cf.country, cf.asOrganization as who, count(*) as count from edge_logs left join unnest(metadata) as m on true
left join unnest(m.request) as r on true left join unnest(r.cf) as cf on true group by cf.country, who order by count desc, country, who`,
  },
  {
    about: 'bots: five levels of records, a list of integers and a boolean',
    sql: `select b.score, b.verifiedBot as verified, array_length(b.detectionIds) as hits, count(l.id) as n from edge_logs as l
cross join unnest(l.metadata) as m cross join unnest(m.request) as r cross join unnest(r.cf) as cf
cross join unnest(cf.botManagement) as b group by 1, 2, 3 order by 1, 2, 3`,
  },
  {
    about: 'a list of integers taken apart',
    sql: `select l.id, hit from edge_logs l, l.metadata m, m.request r, r.cf c, c.botManagement b, unnest(b.detectionIds) as hit order by l.id, hit`,
  },
  {
    about: 'cache hits and misses, a function in WHERE',
    sql: `select timestamp_trunc(timestamp, day) as timestamp, countif(h.cf_cache_status in ('HIT', 'STALE')) as hits,
  countif(h.cf_cache_status not in ('HIT', 'STALE') or h.cf_cache_status is null) as misses
from edge_logs f cross join unnest(f.metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as res
cross join unnest(res.headers) as h where starts_with(r.path, '/storage/v1/') and r.method = "GET" group by timestamp order by timestamp desc`,
  },
  {
    about: 'a comparison as a column, GROUP BY by numbers',
    sql: `select req.method as verb, (h.cf_cache_status = 'HIT') as cached, count(*) as n from ${EDGE}
cross join unnest(res.headers) as h where (path like '%storage/v1/object/%' or path like '%storage/v1/render/%') group by 1, 2 order by n desc, verb, cached limit 100;`,
  },
  {
    about: 'a user agent by patterns, cut and grouped',
    sql: `select case when h.user_agent like 'Mozilla%' then 'browser' when regexp_contains(h.user_agent, r'^(curl|okhttp)/\\d+\\.') then 'tool'
  when h.user_agent is null then '—' else substr(h.user_agent, 1, 8) end as agent, count(distinct req.path) as paths, count(*) as n
from ${EDGE} cross join unnest(req.headers) h group by agent order by n desc, agent`,
  },
  {
    about: 'search in values of any type, each made a text',
    sql: `select l.id from ${EDGE} where (strpos(lower(cast(event_message as string)), 'object') > 0
  or strpos(lower(cast(res.status_code as string)), '40') > 0 or strpos(lower(cast(l.timestamp as string)), '11:1') > 0) order by l.id`,
  },
  {
    about: 'quotes of both kinds, an apostrophe, a backslash and a word beyond ASCII',
    sql: `select l.id, req.search, "it's" as a, 'say "ja"' as b, r'\\d' as c, '\\\\' as d from ${EDGE}
where req.search like "%O'Brien%" or regexp_contains(req.path, 'gr[öo]ßen') or instr(req.search, '\\\\') > 0 order by l.id`,
  },
  {
    about: 'two kinds of comments, one in the middle of a list',
    sql: `# the first line
/* and
   more */ select /* a */ id, -- the id
  event_message # the text
from storage_logs -- one table
order by id -- newest last`,
  },
  {
    about: 'a word of the language as a name',
    sql: `select h.date as date, count(*) as count, max(res.status_code) as max, min(l.timestamp) as timestamp, max(req.method) as role
from ${EDGE} cross join unnest(res.headers) as h where h.date is not null group by date having count >= 1 order by date, max`,
  },
  {
    about: 'columns without a name, one that has one',
    sql: `select count(*), max(timestamp), datetime(min(timestamp)), string_agg(id, ',' order by id limit 2) as ids from realtime_logs`,
  },
  {
    about: 'a day and an hour of a time, times of a zone',
    sql: `select date(timestamp) as day, extract(hour from timestamp) as hour, extract(dayofweek from timestamp at time zone 'America/New_York') as weekday,
  format_timestamp('%d.%m. %H:%M', timestamp, 'Europe/Berlin') as local, count(*) as n from edge_logs group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  },
  {
    about: 'a window from now, differences in several units',
    sql: `select id, timestamp_diff(current_timestamp(), timestamp, minute) as minutes, datetime_diff(datetime(current_timestamp()), datetime(timestamp), day) as days
from postgres_logs where timestamp > timestamp_sub(current_timestamp(), interval 2 hour) and timestamp >= current_timestamp() - interval 90 minute order by id`,
  },
  {
    about: 'a line of numbers as buckets that the rows are joined to',
    sql: `with buckets as (select b from unnest(generate_timestamp_array('2026-09-30 11:00:00', '2026-09-30 12:00:00', interval 10 minute)) as b)
select b as timestamp, count(e.id) as count from buckets left join edge_logs e
  on e.timestamp >= b and e.timestamp < timestamp_add(b, interval 10 minute) group by timestamp order by timestamp`,
  },
  {
    about: 'the newest row of each group by a window, filtered by QUALIFY',
    sql: `select req.path, l.timestamp, l.id from ${EDGE} where true
qualify row_number() over (partition by req.path order by l.timestamp desc, l.id) = 1 order by req.path`,
  },
  {
    about: 'a rate against the bucket before',
    sql: `with h as (select timestamp_trunc(timestamp, hour) as hour, count(*) as n from edge_logs group by hour)
select hour, n, n - lag(n) over (order by hour) as more, round(100 * n / sum(n) over (), 1) as share, sum(n) over (order by hour) as so_far from h order by hour`,
  },
  {
    about: 'IN over a subquery of another table, NOT EXISTS over an array',
    sql: `select t.id, m.function_id, m.level from function_logs as t cross join unnest(t.metadata) as m
where m.function_id in (select distinct em.function_id from function_edge_logs as el cross join unnest(el.metadata) as em cross join unnest(em.request) as er where er.method = 'POST')
  and not exists (select 1 from unnest(t.metadata) as x where x.level = 'error') order by t.id`,
  },
  {
    about: 'a subquery in the list, one that depends on the row',
    sql: `select id, (select count(*) from unnest(metadata) as m cross join unnest(m.request) as r where r.method = 'GET') as gets,
  array(select distinct r.path from unnest(metadata) as m, unnest(m.request) as r order by r.path) as paths, exists(select 1 from unnest(metadata)) as has
from edge_logs order by id`,
  },
  {
    about: 'metadata as JSON text, searched in',
    sql: `select id, to_json_string(metadata) as text from storage_logs where to_json_string(metadata) like '%"statusCode":4%' order by id`,
  },
  {
    about: 'two tables in one list, sorted outside of both',
    sql: `(select timestamp, id, 'a' as source from function_logs order by timestamp desc limit 5)
union all (select timestamp, id, 'b' from function_edge_logs order by timestamp desc, id limit 5) order by timestamp desc, id`,
  },
  {
    about: 'what is in one table and not in the other',
    sql: `select m.execution_id from function_edge_logs, unnest(metadata) m except distinct select m.execution_id from function_logs, unnest(metadata) m order by execution_id`,
  },
  {
    about: 'a whole table: columns but some, with one in other words',
    sql: `select t.* except (metadata) replace (upper(substr(event_message, 1, 12)) as event_message) from postgrest_logs as t order by id`,
  },
  {
    about: 'durations of storage requests: doubles, integers and texts in one record',
    sql: `select m.level, q.method, round(avg(m.responseTime), 3) as mean, max(s.statusCode) as worst, sum(h.content_length) as bytes, min(m.tenantId) as tenant
from storage_logs cross join unnest(metadata) as m cross join unnest(m.req) as q left join unnest(m.res) as s left join unnest(s.headers) as h
group by m.level, q.method order by m.level, q.method`,
  },
  {
    about: 'lists of texts in records, joined and sorted',
    sql: `select id, array_to_string(c.mfa, '.') as call, c.domain[safe_offset(0)] as domain, v.node from realtime_logs
cross join unnest(metadata) as m cross join unnest(m.context) as c left join unnest(c.vm) as v order by id`,
  },
  {
    about: 'arguments of a start: a list beside a number and a flag',
    sql: `select id, m.args, m.status, m.metering, array_length(m.args) as n from auth_logs cross join unnest(metadata) as m order by id`,
  },
  {
    about: 'severity by status and level, never NULL',
    sql: `select id, not (ifnull(m.level, '') in ('error', 'fatal') or ifnull(safe_cast(m.status as int64), 0) >= 500)
  and not (ifnull(m.level, '') = 'warning' or ifnull(safe_cast(m.status as int64), 0) between 400 and 499) as calm
from auth_logs cross join unnest(metadata) as m order by id`,
  },
  {
    about: 'an empty answer that has its columns',
    sql: `select id, m.host, timestamp_trunc(timestamp, day) as day, [1.5] as list, struct(1 as a) as one from pgbouncer_logs, unnest(metadata) m where false`,
  },
  {
    about: 'no table at all',
    sql: `select 1 as one, 'a' || 'b' as two, date '2026-09-30' + 1 as three, [1, null] is null as four`,
  },
  {
    about: 'the number of rows, of one value, and of what is missing',
    sql: `select count(*) as count, count(distinct event_message) as texts, countif(metadata is null) as bare, logical_or(event_message = '') as blank from edge_logs`,
  },
  {
    about: 'no order, no limit',
    sql: `select cast(timestamp as datetime) as timestamp, event_message, metadata from realtime_logs`,
    order: 'any order',
  },
  {
    about: 'DISTINCT without an order',
    sql: `select distinct res.status_code, req.method from ${EDGE}`,
    order: 'any order',
  },
  // What is not GoogleSQL, and yet is sent.
  {
    about: 'casts with two colons of a path, a call and parentheses',
    sql: `select l.id, res.status_code::text as status, (res.origin_time::float8 / 2)::int as half, upper(req.method)::varchar as verb
from ${EDGE} where event_message::text like '%rest%' and l.timestamp > '2026-09-30 11:00:00'::timestamptz order by l.id`,
  },
  {
    about: 'doubled quotes and unknown escapes',
    sql: `select id, event_message from edge_logs where regexp_contains(event_message, 'O''Brien|\\.png|\\d{3} \\| 2001:') order by id`,
  },
  {
    about: 'all of that in one condition of a chart',
    sql: `select timestamp_trunc(t.timestamp, day) as timestamp, count(*) as count, from postgres_logs t cross join unnest(metadata) as m
cross join unnest(m.parsed) as parsed where ( parsed.application_name = 'cron' or event_message::text like '%it''s%' or regexp_contains(event_message, '\\w+\\s\\w+') )
and t.timestamp > '2026-09-20T12:00:00.000Z' group by timestamp order by timestamp`,
  },
  {
    about: 'a name with dots that the query gives itself',
    sql: 'with `proj.data.errors` as (select id, metadata from edge_logs) select count(*) as n from `proj.data.errors` as e, e.metadata as m',
  },
  {
    about: 'the paths that take longest together',
    sql: 'select approx_top_sum(r.path, s.origin_time, 3) as top from edge_logs t, unnest(metadata) m, unnest(m.request) r, unnest(m.response) s',
  },
];

/** Queries that both engines have to refuse. */
export const REFUSED: readonly ClientQuery[] = [
  { about: 'a column that a log has elsewhere', sql: 'select identifier from edge_logs' },
  { about: 'ILIKE', sql: `select id from edge_logs where event_message ilike '%x%'` },
  {
    about: 'a column of the row and of the record in it',
    sql: 'select timestamp from auth_logs cross join unnest(metadata) as metadata',
  },
  { about: 'a field through an array', sql: 'select metadata.host from postgres_logs' },
  {
    about: 'a text where a number is',
    sql: `select id from edge_logs, unnest(metadata) m, unnest(m.response) r where r.status_code = '2xx'`,
  },
  { about: 'a cast that fails on a row', sql: `select cast(event_message as int64) from edge_logs` },
  { about: 'a subscript out of bounds', sql: 'select metadata[99] from edge_logs' },
  {
    about: 'a column of NULLs taken for text',
    sql: 'with a as (select null as t from edge_logs) select lower(t) from a',
  },
];
