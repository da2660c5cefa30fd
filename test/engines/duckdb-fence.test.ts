/** The fence of the embedded engine: what can fail meets no row that a stored filter leaves out. */
import type { Engine, Fence } from '../../src/engines/contract';
import { DataFolder, FORMS, ndjson } from './data-folder';

/** Thousands of rows, so that rows of both projects are worked on together. */
const ROWS = 4000;
const OTHERS = 'A secret of somebody else';

const FIELDS = [
  { name: 'id', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'event_message', type: 'STRING' },
  { name: 'n', type: 'INTEGER' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'project', type: 'STRING' }] },
];

function row(i: number): object {
  const mine = i % 3 === 0;
  const project = mine ? 'mine' : 'other';
  const event_message = mine ? `${i}` : OTHERS;
  return { id: `r${i}`, project, event_message, n: mine ? 1 : 0, metadata: [{ project }] };
}

/** Stored filters as people write them: one that DuckDB puts into its scan, and ones that it evaluates beside the consumer's. */
const FILTERS = {
  column: `project = @project`,
  elements: `EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)`,
  failing: `CAST(n AS STRING) = '1' AND IF(@since = '', TRUE, CAST(@since AS INT64) <= n) AND project = @project`,
};

/** Each fails on rows of others alone. */
const BOOM = `DIV(1, IF(STARTS_WITH(event_message, 'A'), 0, 1))`;
const PLACES: Readonly<Record<string, string>> = {
  where: `SELECT COUNT(*) AS c FROM logs WHERE ${BOOM} = 1`,
  cast: `SELECT COUNT(*) AS c FROM logs WHERE CAST(event_message AS INT64) >= 0`,
  'a constant beside a condition': `SELECT COUNT(*) AS c FROM logs WHERE STARTS_WITH(event_message, 'A') AND 1 / 0 = 1`,
  'a column that a filter reads': `SELECT COUNT(*) AS c FROM (SELECT ${BOOM} AS x FROM logs) WHERE x = 1`,
  'a group that a filter reads': `SELECT ${BOOM} AS x, COUNT(*) AS c FROM logs GROUP BY x HAVING x = 1`,
  having: `SELECT event_message FROM logs GROUP BY event_message HAVING CAST(event_message AS INT64) < 0`,
  join: `SELECT COUNT(*) AS c FROM logs AS a JOIN logs AS b ON CAST(a.event_message AS INT64) = CAST(b.event_message AS INT64)`,
  'left join': `SELECT COUNT(*) AS c FROM logs AS a LEFT JOIN logs AS b ON CAST(a.event_message AS INT64) = CAST(b.event_message AS INT64)`,
  comma: `SELECT COUNT(*) AS c FROM logs AS a, logs AS b WHERE a.id = b.id AND CAST(a.event_message AS INT64) = CAST(b.event_message AS INT64)`,
  qualify: `SELECT id FROM logs QUALIFY ROW_NUMBER() OVER (PARTITION BY project ORDER BY ${BOOM}, id) = 1`,
  'in a subquery': `SELECT COUNT(*) AS c FROM logs WHERE id IN (SELECT id FROM logs WHERE ${BOOM} = 1)`,
  'in a correlated subquery': `SELECT COUNT(*) AS c FROM logs AS a WHERE EXISTS (SELECT 1 FROM logs AS b WHERE b.id = a.id AND CAST(a.event_message AS INT64) = CAST(b.event_message AS INT64))`,
  'in a list': `SELECT COUNT(*) AS c FROM logs AS a WHERE EXISTS (SELECT 1 FROM UNNEST(a.metadata) AS m WHERE DIV(1, IF(m.project = 'other', 0, 1)) = 1)`,
  'over an unnested record': `SELECT COUNT(*) AS c FROM logs AS a CROSS JOIN UNNEST(a.metadata) AS m WHERE DIV(1, IF(m.project = 'other', 0, 1)) = 1`,
  'in a branch': `SELECT COUNT(*) AS c FROM logs WHERE IF(STARTS_WITH(event_message, 'A'), CAST(event_message AS INT64) > 0, TRUE)`,
  union: `SELECT id FROM logs WHERE ${BOOM} = 1 UNION ALL SELECT id FROM logs WHERE CAST(event_message AS INT64) < 0`,
  argument: `SELECT SUM(CAST(event_message AS INT64)) AS c FROM logs WHERE ${BOOM} = 1`,
  'a CTE of its own, read twice': `WITH x AS (SELECT id, CAST(event_message AS INT64) AS k FROM logs) SELECT COUNT(*) AS c FROM x AS a JOIN x AS b ON a.k = b.k WHERE a.k >= 0`,
};

const CASES = Object.entries(FILTERS).flatMap(([filter, condition]) =>
  Object.entries(PLACES).map(([place, consumer]) => [filter, place, condition, consumer] as const),
);

describe.each(FORMS)('%s', (_form, options) => {
  let folder: DataFolder;
  let engine: Engine;
  beforeAll(async () => {
    const rows = ndjson(...Array.from({ length: ROWS }, (_, i) => row(i)));
    folder = await DataFolder.make({
      'raw.ndjson': rows,
      'schema.json': JSON.stringify({ raw: { fields: FIELDS } }),
    });
    engine = await folder.open(options);
  }, 300_000);
  afterAll(() => folder.remove());

  async function answer(filter: string, consumer: string, fenced: boolean): Promise<string> {
    const select = `SELECT t.id, t.project, t.event_message, t.n, t.metadata FROM raw AS t WHERE ${filter}`;
    const head = `WITH logs AS (${select})\n(\n`;
    const sql = `${head}${consumer}\n)`;
    const fence: Fence = { consumer: { start: head.length, end: head.length + consumer.length } };
    const parameters = [
      { name: 'project', type: 'STRING', value: 'mine' },
      { name: 'since', type: 'STRING', value: '' },
    ] as const;
    const query = { maxRows: 10_000, hideBytes: false, maxBytesBilled: null, labels: {}, fence: fenced ? fence : null };
    const named = parameters.filter(({ name }) => sql.includes(`@${name}`));
    const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };
    return engine.run({ sql, parameters: named, ...query }, limits).then(
      ({ rows }) => rows.join('\n'),
      (error: unknown) => `failed: ${(error as Error).message}`,
    );
  }

  test.each(CASES)('behind a stored filter on %s: %s', async (_filter, _place, condition, consumer) => {
    expect(await answer(condition, consumer, true)).not.toMatch(/^failed/);
  });

  test('what fails on the own rows fails', async () => {
    const consumer = `SELECT COUNT(*) AS c FROM logs WHERE DIV(1, IF(id = 'r3', 0, 1)) = 1`;
    expect(await answer(FILTERS.elements, consumer, true)).toBe('failed: Division by zero');
  });

  describe('an error of the own rows does not depend on what range the values of others have', () => {
    const mixed = ndjson(
      ...Array.from({ length: ROWS }, (_, i) => ({
        project: i % 2 === 0 ? 'mine' : 'other',
        text: 'x',
        n: i % 2 === 0 ? 1 : 100,
        ts: i % 2 === 0 ? '2026-01-01T00:00:00Z' : '0001-01-01T00:00:00Z',
      })),
    );
    const alone = ndjson(
      ...Array.from({ length: ROWS / 2 }, () => ({ project: 'mine', text: 'x', n: 1, ts: '2026-01-01T00:00:00Z' })),
    );
    const fields = [
      { name: 'project', type: 'STRING' },
      { name: 'text', type: 'STRING' },
      { name: 'n', type: 'INTEGER' },
      { name: 'ts', type: 'TIMESTAMP' },
    ];
    let data: DataFolder;
    let both: Engine;
    beforeAll(async () => {
      const schema = JSON.stringify({ mixed: { fields }, alone: { fields } });
      data = await DataFolder.make({ 'mixed.ndjson': mixed, 'alone.ndjson': alone, 'schema.json': schema });
      both = await data.open(options);
    });
    afterAll(() => data.remove());

    test.each([
      `SELECT COUNT(*) AS c FROM (SELECT ts FROM logs WHERE CAST(text AS INT64) > 0) AS d WHERE EXTRACT(YEAR FROM ts) = 1`,
      `SELECT COUNT(*) AS c FROM (SELECT ts FROM logs WHERE CAST(text AS INT64) > 0) AS d WHERE EXTRACT(YEAR FROM ts) = 1 AND FORMAT_TIMESTAMP('%F', ts, '+14:00') <> ''`,
      `SELECT COUNT(*) AS c FROM (SELECT ts, SPLIT(text, 'y')[OFFSET(1)] AS x FROM logs) AS d WHERE EXTRACT(YEAR FROM ts) = 1 AND x <> ''`,
      `SELECT COUNT(*) AS c FROM (SELECT ts, text FROM logs WHERE CAST(text AS INT64) > 0) AS d JOIN logs AS e ON e.ts = d.ts AND EXTRACT(YEAR FROM e.ts) = 1`,
      `SELECT COUNT(*) AS c FROM (SELECT n FROM logs WHERE CAST(text AS INT64) > 0) AS d WHERE n = 77`,
      `SELECT COUNT(*) AS c FROM (SELECT n FROM logs WHERE CAST(text AS INT64) > 0) AS d WHERE n + 0 = 77`,
      `SELECT COUNT(*) AS c FROM (SELECT DISTINCT n FROM logs WHERE CAST(text AS INT64) > 0) AS d WHERE n > 50`,
      `SELECT COUNT(*) AS c FROM logs WHERE CAST(text AS INT64) > 0 AND n = 77`,
      `SELECT COUNT(*) AS c FROM (SELECT n, CAST(text AS INT64) AS x FROM logs) AS d WHERE x > 0 AND n = 77`,
      `SELECT COUNT(x) AS c FROM (SELECT n, CAST(text AS INT64) AS x FROM logs) AS d WHERE n = 77`,
      `WITH d AS (SELECT n, COUNT(*) AS c FROM logs WHERE CAST(text AS INT64) > 0 GROUP BY n) SELECT COUNT(*) AS c FROM d AS a, d AS b WHERE a.n = 77 AND b.n = 78`,
    ])('%s', async (consumer) => {
      const answers = ['mixed', 'alone'].map((table) => {
        const stored = `WITH logs AS (SELECT * FROM ${table} WHERE project = 'mine')\n`;
        const sql = consumer.startsWith('WITH')
          ? stored.trimEnd() + consumer.replace('WITH', ',\n')
          : stored + consumer;
        const fence = { consumer: { start: stored.length, end: sql.length } };
        const query = { sql, parameters: [], fence, maxRows: 10, hideBytes: false, maxBytesBilled: null, labels: {} };
        return both.run(query, { deadline: performance.now() + 60_000, signal: new AbortController().signal }).then(
          ({ rows }) => rows.join(),
          (error: unknown) => (error as Error).message,
        );
      });
      const [withOthers, withoutOthers] = await Promise.all(answers);
      expect(withOthers).toBe(withoutOthers);
    });
  });
});
