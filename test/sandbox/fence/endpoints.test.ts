/** The fence over stored queries of many forms, on a local BigQuery that evaluates what it can before it filters. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../../src/errors';
import { Gate } from '../../../src/sandbox/gate';
import { openEngineOn, overOwnLocalBigQuery } from '../../engines/over-local-bigquery';
import { borrowLocalBigQuery, type LocalBigQuery } from '../../local-bigquery';
import { Consumer } from '../consumer';

const RAW = 'SELECT t.timestamp, t.id, t.event_message FROM raw_edge_logs AS t WHERE t.project = @project';

/** Stored WITH lists; each has a CTE `logs` with a column `event_message`. */
const STORED: Readonly<Record<string, string>> = {
  plain: `logs AS (${RAW})`,
  'a CTE over another': `base AS (${RAW}), logs AS (SELECT * FROM base WHERE id IS NOT NULL)`,
  'a derived table': `logs AS (SELECT * FROM (${RAW}) AS d)`,
  union: `logs AS (${RAW} UNION ALL SELECT timestamp, id, event_message FROM raw_postgres_logs WHERE project = @project)`,
  'inner join': `logs AS (SELECT a.id, a.event_message FROM raw_edge_logs AS a
    JOIN (SELECT DISTINCT project FROM raw_auth_logs) AS p ON p.project = a.project WHERE p.project = @project)`,
  'outer join': `base AS (${RAW}), logs AS (SELECT a.id, b.event_message FROM base AS a LEFT JOIN base AS b ON a.id = b.id)`,
  groups: `logs AS (SELECT event_message, COUNT(*) AS n FROM raw_edge_logs WHERE project = @project GROUP BY event_message HAVING COUNT(*) < 99)`,
  distinct: `logs AS (SELECT DISTINCT event_message FROM raw_edge_logs WHERE project = @project)`,
  windows: `logs AS (SELECT event_message, COUNT(*) OVER () AS n FROM raw_edge_logs WHERE project = @project QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY timestamp) = 1)`,
  'what may fail': `logs AS (SELECT event_message, DIV(1, IF(project = 'default', 1, 0)) AS own, TIMESTAMP_TRUNC(timestamp, DAY) AS day FROM raw_edge_logs WHERE project = @project)`,
  limit: `logs AS (${RAW} LIMIT 5)`,
};

const ATTACK =
  "select count(*) as n from logs where div(1, if(strpos(event_message, 'abcdefghijklmnopqrst') > 0, 0, 1)) = 1";

const folder = mkdtempSync(join(tmpdir(), 'logquay-fence-'));
afterAll(() => rmSync(folder, { recursive: true }));
for (const [i, [name, ctes]] of Object.entries(STORED).entries()) {
  const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
  const head = `id: ${id}\nname: ${nameOf(name)}\nmax_rows: 1000\nsandbox: true\nparams:\n  project:\n    type: string\n    required: true\n`;
  writeFileSync(join(folder, `${nameOf(name)}.sql`), `/*\n${head}*/\nWITH ${ctes}\nSELECT event_message FROM logs\n`);
}

function nameOf(name: string): string {
  return name.replace(/ /g, '-');
}

overOwnLocalBigQuery(
  'stored queries behind the fence',
  (eager) => {
    let plain: LocalBigQuery;
    let ordered: Consumer;
    let open: Consumer;
    let fenced: Consumer;
    beforeAll(async () => {
      plain = await borrowLocalBigQuery();
      const options = { queries: folder };
      ordered = await Consumer.over(await openEngineOn(plain.host), options);
      open = await Consumer.over(await openEngineOn(eager().host), options);
      fenced = await Consumer.over(await openEngineOn(eager().host), { ...options, fenced: true });
    }, 60_000);
    afterAll(async () => {
      await Promise.all([ordered.close(), open.close(), fenced.close()]);
      await plain.stop();
    });

    const values = { project: 'default' };
    const fenceable = Object.keys(STORED).filter((name) => name !== 'limit');

    it.each(fenceable)('%s', async (name) => {
      await expect(open.sql(ATTACK, values, nameOf(name))).rejects.toMatchObject({ reason: 'invalidQuery' });
      const [got, want] = await Promise.all([
        fenced.sql(ATTACK, values, nameOf(name)),
        ordered.sql(ATTACK, values, nameOf(name)),
      ]);
      expect(got.rows).toEqual(want.rows);
    });

    it('a column that may fail itself', async () => {
      const sql = 'select count(*) as n from logs where own = 1';
      await expect(open.sql(sql, values, 'what-may-fail')).rejects.toMatchObject({ reason: 'invalidQuery' });
      const [got, want] = await Promise.all([
        fenced.sql(sql, values, 'what-may-fail'),
        ordered.sql(sql, values, 'what-may-fail'),
      ]);
      expect(got.rows).toEqual(want.rows);
    });

    it('refuses over a stored query that cannot be fenced, with the place of what may fail', async () => {
      const error = await fenced.sql(ATTACK, values, 'limit').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({ reason: 'invalidQuery', details: { line: 1, column: 38 } });
      expect(String(error)).toContain('The stored query defines logs with a LIMIT.');
      await expect(fenced.sql('select id from logs', values, 'limit')).resolves.toHaveProperty('truncated');
    });

    describe('the text that runs', () => {
      const sqlOf = async (consumer: Consumer, text: string, wanted: boolean, endpoint = 'plain'): Promise<string> => {
        const { id, revision, sql, query, cteTables } = consumer.endpoint(endpoint);
        const parameters = [{ name: 'project', type: 'STRING' }] as const;
        const stored = { id, revision, sql, query, cteTables, parameters };
        return (await consumer.gate.admit(stored, text, { fenced: wanted })).sql;
      };

      it.each([
        'select id from logs where event_message = @project order by timestamp desc limit 3 -- newest',
        "select count(*) as n, max(id) as m from logs where starts_with(id, 'a') or id is null",
        'select * from logs',
        'select 1 / 0 as x',
      ])('is that which was sent where nothing of the rows can make it fail: %s', async (text) => {
        expect(await sqlOf(fenced, text, true)).toBe(await sqlOf(fenced, text, false));
      });

      it('is fenced where something can, for keys with pins alone', async () => {
        const text = 'select cast(id as int64) as n from logs';
        const sent = await sqlOf(fenced, text, false);
        const safe = await sqlOf(fenced, text, true);
        expect(sent).toContain(text);
        expect(safe).toContain('(t.project = @project) IS TRUE AS logquay_guard_1');
        expect(safe).toContain('IF(lq_t1.`logquay_guard_1` IS NOT FALSE, CAST(lq_t1.`id` AS INT64), NULL) AS `n`');
      });

      it('has names of its own that no name of the query takes', async () => {
        const text =
          'select lq_t1, cast(x.lq_c2 as int64) as lq_g from (select struct(id as lq_c2) as x, id as lq_t1 from logs)';
        expect(await sqlOf(fenced, text, true)).not.toMatch(/\blq_[a-z0-9]+\./);
        const got = await fenced.sql(text.replace('cast', 'safe_cast'), values, 'plain');
        expect(got.columns.map(({ name }) => name)).toEqual(['lq_t1', 'lq_g']);
      });

      it('binds the parameters that it names', async () => {
        const { rows } = await fenced.sql(
          'select count(*) as n from logs where div(1, length(@project)) = 0',
          values,
          'plain',
        );
        expect(rows).toEqual(['{"n":78}']);
      });
    });

    it('leaves the embedded engine to see to it itself', async () => {
      const gate = new Gate({
        ...fenced.engine,
        kind: 'duckdb',
        target: 'x',
        describe: fenced.engine.describe.bind(fenced.engine),
        inspect: async () => {},
      });
      const { id, revision, sql, query, cteTables } = fenced.endpoint('plain');
      const stored = {
        id,
        revision,
        sql,
        query,
        cteTables,
        parameters: [{ name: 'project', type: 'STRING' }] as const,
      };
      const text = 'select cast(id as int64) as n from logs';
      expect((await gate.admit(stored, text, { fenced: true })).sql).toContain(text);
      await gate.close();
    });
  },
  ['--eager'],
);
