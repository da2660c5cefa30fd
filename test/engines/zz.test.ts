import { TranslationBench } from './duckdb-translation';
test('x', async () => {
  const bench = await TranslationBench.open();
  const sqls = [`WITH l AS (SELECT * FROM raw_function_logs WHERE project = 'a') select max(to_json_string(regexp_extract_all('abc', event_message))) from l`,
  `WITH l AS (SELECT * FROM raw_function_logs WHERE project = 'a') select d.k0 as a, t3.id as b from (select t1.id as k0, div(1,length(t1.event_message)) as c0 from l as t1) as d right join l as t3 on cast(d.k0 as string) = cast(t3.id as string) and t3.event_message is null and (1 / 0 <> 123456.5)`];
  for (const sql of sqls) process.stdout.write(bench.translate(sql, {}, 1000, { consumer: { start: 60, end: sql.length }, instants: [] } as any).sql + '\n\n');
  await bench.close();
}, 60000);
