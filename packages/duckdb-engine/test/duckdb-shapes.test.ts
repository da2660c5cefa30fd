/** Queries over nested records have the same rows whatever shape the records are stored in. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHAPES, type Shape } from './duckdb-shapes';
import { restFieldsOf } from './fields';
import { TranslationBench } from './duckdb-translation';
import { oneOf } from '../../../test/scale';

const FIELDS = restFieldsOf(
  `id STRING, timestamp TIMESTAMP, other RECORD*(z INT64), metadata RECORD*(n INT64, f FLOAT64, at TIMESTAMP, b BYTES, tags STRING*,
   request RECORD*(path STRING, big INT64, cf RECORD*(country STRING), headers RECORD*(k STRING, v STRING)),
   plain RECORD(deep RECORD*(x INT64), y STRING))`,
);

const ROWS = 240;

function row(i: number): object {
  const request = (k: number): object => ({
    path: k % 7 === 0 ? null : `/p${k % 5}`,
    big: k % 3 === 0 ? '9007199254740993' : k,
    cf: k % 11 === 0 ? [] : [{ country: k % 2 === 0 ? 'DE' : null }],
    headers: Array.from({ length: k % 4 }, (_, h) => ({ k: `h${h}`, v: `"${k}"\n` })),
  });
  const metadata = {
    n: i % 5 === 0 ? null : i,
    f: i % 6 === 0 ? 'NaN' : i / 3,
    at: `2026-09-30T10:00:00.${String(i).padStart(6, '0')}Z`,
    b: Buffer.from(`b${i}`).toString('base64'),
    tags: i % 2 === 0 ? [] : [`t${i}`],
    request: i % 40 === 1 ? [request(i), request(i + 1)] : i % 40 === 2 ? [] : [request(i)],
    plain: i % 50 === 3 ? null : { deep: i % 60 === 4 ? [] : [{ x: i }], y: i % 9 === 0 ? null : `y${i}` },
  };
  return {
    id: `r${String(i).padStart(3, '0')}`,
    timestamp: `2026-09-30T10:${String(i % 60).padStart(2, '0')}:00Z`,
    metadata: i % 70 === 5 ? [] : i % 70 === 6 ? [metadata, metadata] : [metadata],
    other: i % 2 === 0 ? [{ z: i }] : [],
  };
}

const QUERIES: readonly string[] = [
  'SELECT * FROM logs ORDER BY id',
  'SELECT id, metadata FROM logs ORDER BY timestamp DESC, id LIMIT 7',
  'SELECT id, metadata FROM logs ORDER BY timestamp, id LIMIT 7 OFFSET 5',
  'SELECT id, m FROM logs, UNNEST(metadata) AS m ORDER BY id, m.n',
  'SELECT id, m.n, m.f, m.at, m.b, m.tags FROM logs, UNNEST(metadata) AS m ORDER BY id',
  'SELECT id, m.request FROM logs, UNNEST(metadata) AS m ORDER BY id',
  'SELECT id, r FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r ORDER BY id, TO_JSON_STRING(r)',
  'SELECT id, r.path, r.big, c.country FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r, UNNEST(r.cf) AS c ORDER BY 1, 2, 3',
  'SELECT id, m.n, o, p FROM logs, UNNEST(metadata) AS m WITH OFFSET AS o, UNNEST(m.request) AS r WITH OFFSET AS p ORDER BY id, o, p',
  'SELECT id, m.n, o FROM logs LEFT JOIN UNNEST(metadata) AS m WITH OFFSET AS o ORDER BY id, o',
  'SELECT id, m.n FROM logs LEFT JOIN UNNEST(metadata) AS m ON m.n > 100 ORDER BY id, m.n',
  'SELECT id, m.n, o FROM logs LEFT JOIN UNNEST(metadata) AS m WITH OFFSET AS o ON m.n > 100 ORDER BY id, m.n, o',
  'SELECT id, m.n FROM logs JOIN UNNEST(metadata) AS m ON m.n > 100 ORDER BY id, m.n',
  'SELECT id, r.path FROM logs LEFT JOIN UNNEST(metadata) AS m LEFT JOIN UNNEST(m.request) AS r ORDER BY id, r.path',
  'SELECT id, d.x, m.plain.y FROM logs, UNNEST(metadata) AS m, UNNEST(m.plain.deep) AS d ORDER BY id',
  'SELECT id, m.plain FROM logs, UNNEST(metadata) AS m ORDER BY id',
  'SELECT id, m.plain IS NULL AS missing, m.plain.deep FROM logs, UNNEST(metadata) AS m ORDER BY id',
  'SELECT id, ARRAY_LENGTH(metadata) AS n, ARRAY_LENGTH(other) AS o FROM logs ORDER BY id',
  'SELECT id, metadata[SAFE_OFFSET(0)].n, metadata[SAFE_OFFSET(1)].n AS second, metadata[SAFE_ORDINAL(1)].f FROM logs ORDER BY id',
  'SELECT id, metadata[SAFE_OFFSET(0)].request[SAFE_OFFSET(0)].path FROM logs ORDER BY id',
  'SELECT id, metadata[OFFSET(0)].n FROM logs WHERE ARRAY_LENGTH(metadata) > 0 ORDER BY id',
  'SELECT id, metadata[SAFE_OFFSET(0)] AS first FROM logs ORDER BY id',
  'SELECT id, TO_JSON_STRING(metadata) AS j FROM logs ORDER BY id',
  'SELECT TO_JSON_STRING(l) AS j FROM logs AS l ORDER BY 1',
  'SELECT id, EXISTS (SELECT 1 FROM UNNEST(metadata)) AS e FROM logs ORDER BY id',
  'SELECT id FROM logs WHERE EXISTS (SELECT 1 FROM UNNEST(metadata) AS m WHERE m.n > 100 AND m.f > 50) ORDER BY id',
  "SELECT id FROM logs WHERE NOT EXISTS (SELECT 1 FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r WHERE r.path = '/p1') ORDER BY id",
  "SELECT id FROM logs WHERE EXISTS (SELECT 1 FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r, UNNEST(r.headers) AS h WHERE r.path = '/p1' AND h.k = 'h1') ORDER BY id",
  "SELECT id FROM logs, UNNEST(metadata) AS m WHERE EXISTS (SELECT 1 FROM UNNEST(m.request) AS r WHERE EXISTS (SELECT 1 FROM UNNEST(r.cf) AS c WHERE c.country = 'DE')) ORDER BY id",
  'SELECT id, (SELECT m.n FROM UNNEST(metadata) AS m LIMIT 1) AS n FROM logs ORDER BY id',
  'SELECT id, (SELECT r.path FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r ORDER BY r.path DESC LIMIT 1) AS p FROM logs ORDER BY id',
  'SELECT id, (SELECT r.path FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r ORDER BY r.path LIMIT 1 OFFSET 1) AS p FROM logs ORDER BY id',
  'SELECT id, (SELECT SUM(r.big) FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r WHERE r.big < 1000) AS s FROM logs ORDER BY id',
  'SELECT id, (SELECT COUNT(*) FROM UNNEST(metadata) AS m WHERE m.n > 100) AS c FROM logs ORDER BY id',
  "SELECT id, (SELECT STRING_AGG(r.path, ',' ORDER BY r.path) FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r) AS s FROM logs ORDER BY id",
  "SELECT id FROM logs WHERE '/p2' IN (SELECT r.path FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r) ORDER BY id",
  "SELECT id FROM logs WHERE '/p2' NOT IN (SELECT r.path FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r WHERE r.path IS NOT NULL) ORDER BY id",
  'SELECT id, ARRAY(SELECT r.path FROM UNNEST(metadata) AS m, UNNEST(m.request) AS r WHERE r.path IS NOT NULL) AS a FROM logs ORDER BY id',
  'SELECT id, ARRAY(SELECT AS STRUCT m.n, o FROM UNNEST(metadata) AS m WITH OFFSET AS o ORDER BY o) AS a FROM logs ORDER BY id',
  'SELECT id, ARRAY(SELECT AS STRUCT r.path, (SELECT COUNT(*) FROM UNNEST(r.headers) AS h) AS c FROM UNNEST(m.request) AS r) AS a FROM logs, UNNEST(metadata) AS m ORDER BY id',
  'SELECT r.path, COUNT(*) AS c, MAX(m.n) AS n, ANY_VALUE(m.plain.y HAVING MAX m.n) AS y FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r GROUP BY r.path ORDER BY 1',
  'SELECT c.country, COUNT(DISTINCT id) AS c FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r, UNNEST(r.cf) AS c GROUP BY ALL ORDER BY 1',
  'SELECT id, m.n, ROW_NUMBER() OVER (PARTITION BY r.path ORDER BY id, m.n) AS k FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r ORDER BY id, m.n, k',
  'SELECT ARRAY_AGG(m ORDER BY id LIMIT 3) AS a FROM logs, UNNEST(metadata) AS m',
  'SELECT a.id, b.metadata FROM logs AS a LEFT JOIN logs AS b ON b.id = a.id AND ARRAY_LENGTH(b.metadata) = 1 AND b.timestamp > a.timestamp ORDER BY a.id',
  "SELECT a.id, m.n FROM logs AS a LEFT JOIN (SELECT * FROM logs WHERE id < 'r010') AS b ON b.id = a.id CROSS JOIN UNNEST(b.metadata) AS m ORDER BY 1, 2",
  "SELECT a.id, ARRAY_LENGTH(b.metadata) AS n, b.metadata IS NULL AS missing FROM logs AS a FULL JOIN (SELECT * FROM logs WHERE id < 'r010') AS b ON b.id = a.id ORDER BY 1",
  'SELECT a.id, m.n, k.n AS kn FROM logs AS a, UNNEST(a.metadata) AS m JOIN (SELECT l.id, q.n FROM logs AS l, UNNEST(l.metadata) AS q) AS k ON k.id = a.id ORDER BY 1, 2, 3',
  "WITH x AS (SELECT id, metadata FROM logs WHERE id < 'r050') SELECT a.id, m.n, k.n AS kn FROM x AS a, x AS b, UNNEST(a.metadata) AS m, UNNEST(b.metadata) AS k WHERE a.id = b.id ORDER BY 1, 2, 3",
  'WITH x AS (SELECT m, r FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r) SELECT x.r.path, x.m.request FROM x WHERE x.m.n < 30 ORDER BY 1, TO_JSON_STRING(m)',
  'WITH x AS (SELECT id, COUNT(*) AS c, ANY_VALUE(m) AS m FROM logs, UNNEST(metadata) AS m GROUP BY id) SELECT a.id, a.c, r.path FROM x AS a JOIN x AS b USING (id), UNNEST(a.m.request) AS r ORDER BY 1, 3',
  "SELECT id, m.n FROM (SELECT id, metadata FROM logs UNION ALL SELECT CONCAT(id, 'x'), metadata FROM logs) AS u, UNNEST(u.metadata) AS m ORDER BY 1, 2",
  'SELECT id, (SELECT COUNT(*) FROM logs AS k, UNNEST(k.metadata) AS q WHERE q.n = m.n) AS c FROM logs, UNNEST(metadata) AS m ORDER BY id',
  'SELECT id, m.n FROM logs, UNNEST(metadata) AS m WHERE m.n IN (SELECT q.n + 1 FROM logs AS k, UNNEST(k.metadata) AS q) ORDER BY id, m.n',
  'SELECT AS STRUCT id, metadata FROM logs ORDER BY id LIMIT 20',
  'SELECT AS VALUE m FROM logs, UNNEST(metadata) AS m ORDER BY id, m.n LIMIT 20',
  'SELECT id, m.n, z.z FROM logs, UNNEST(metadata) AS m, UNNEST(other) AS z ORDER BY id, m.n',
  'SELECT id, COALESCE(metadata[SAFE_OFFSET(0)].request, []) AS r FROM logs ORDER BY id',
  'SELECT id, IF(ARRAY_LENGTH(metadata) = 1, metadata, []) AS m FROM logs ORDER BY id',
  'SELECT id, ARRAY_CONCAT(metadata, metadata) AS m FROM logs ORDER BY id',
  'SELECT id, ARRAY_REVERSE(metadata)[SAFE_OFFSET(0)].n FROM logs ORDER BY id',
];

let folder: string;
const benches = new Map<Shape, TranslationBench>();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'logquay-shapes-'));
  const rows = Array.from({ length: ROWS }, (_, i) => `${JSON.stringify(row(i))}\n`);
  writeFileSync(join(folder, 'logs.ndjson'), rows.join(''));
  writeFileSync(join(folder, 'schema.json'), JSON.stringify({ logs: { fields: FIELDS } }));
  for (const shape of Object.keys(SHAPES) as Shape[]) benches.set(shape, await TranslationBench.open(shape, folder));
}, 60_000);
afterAll(() => {
  benches.forEach((bench) => bench.close());
  rmSync(folder, { recursive: true });
});

const FENCES = [
  ['unfenced', null],
  ['fenced', { consumer: null }],
] as const;

describe.each(FENCES)('%s', (_name, fence) => {
  test.each(oneOf(2, QUERIES))('%s', async (sql) => {
    const { texts } = await benches.get('lists')!.run(sql, {}, 1000, fence);
    expect(texts.length).toBeGreaterThan(0);
    for (const shape of ['records', 'mixed'] as const) {
      const answer = await benches.get(shape)!.run(sql, {}, 1000, fence);
      expect({ shape, texts: answer.texts }).toEqual({ shape, texts });
    }
  });
});
