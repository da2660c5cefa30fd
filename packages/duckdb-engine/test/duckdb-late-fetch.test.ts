/**
 * DuckDB fetches wide columns late where rows are sorted and cut off. A field that is filtered or sorted by, of a record that is shown,
 * is the one that was asked for, whatever place it has in its record.
 */
import type { Engine } from '../src/contract/contract';
import { DataFolder, FORMS, ndjson, rowsOf } from './data-folder';
import { restFieldsOf } from './fields';

const INNER = ['p0', 'p1', 'p2', 'p3', 'p4'];
const OUTER = ['host', 'other'];
const INNER_FIELDS = INNER.map((name) => `${name} STRING`).join(', ');
const FIELDS = restFieldsOf(
  `id STRING, timestamp TIMESTAMP, metadata RECORD*(host STRING, other STRING, parsed RECORD*(${INNER_FIELDS})),
   plain RECORD(host STRING, other STRING, parsed RECORD(${INNER_FIELDS}))`,
);

const COUNT = 4000;
/** The values of every field are of its own, and each of them comes in one row of seven. */
const valuesOf = (names: readonly string[], i: number): Record<string, string> =>
  Object.fromEntries(names.map((name, k) => [name, `${name} ${String((i * (k + 1)) % 7)}`]));
const ROWS = Array.from({ length: COUNT }, (_, i) => {
  const [outer, inner] = [valuesOf(OUTER, i), valuesOf(INNER, i)];
  const timestamp = new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString();
  return {
    id: `r${String(i).padStart(4, '0')}`,
    timestamp,
    metadata: [{ ...outer, parsed: [inner] }],
    plain: { ...outer, parsed: inner },
  };
});

const LIMIT = 20;

describe.each(FORMS)('%s', (_form, options) => {
  let folder: DataFolder;
  let engine: Engine;
  beforeAll(async () => {
    folder = await DataFolder.make({
      'raw.ndjson': ndjson(...ROWS),
      'schema.json': JSON.stringify({ raw: { fields: FIELDS } }),
    });
    engine = await folder.open(options);
  }, 300_000);
  afterAll(() => folder.remove());

  const idsOf = async (sql: string): Promise<string[]> =>
    ((await rowsOf(engine, sql)) as { id: string }[]).map(({ id }) => id);

  const FORMS_OF_RECORDS = [
    ['records in lists', 'raw AS t, UNNEST(t.metadata) AS m, UNNEST(m.parsed) AS p', 't.metadata', 'm', 'p'],
    ['records', 'raw AS t', 't.plain', 't.plain', 't.plain.parsed'],
  ] as const;

  describe.each(FORMS_OF_RECORDS)('%s', (_name, from, whole, outer, inner) => {
    const shown = [whole, inner, `${outer}.host, ${inner}`, `${outer}.host`];

    test.each(INNER.map((name, k) => [name, k] as const))('filtered by %s', async (name, k) => {
      const wanted = ROWS.filter((_, i) => (i * (k + 1)) % 7 === 3).map(({ id }) => id);
      for (const list of shown) {
        const sql = `SELECT t.id, ${list} FROM ${from} WHERE REGEXP_CONTAINS(${inner}.${name}, '${name}.[3]') ORDER BY t.timestamp DESC LIMIT ${String(LIMIT)}`;
        expect([list, await idsOf(sql)]).toEqual([list, wanted.slice(-LIMIT).reverse()]);
      }
    });

    test.each(INNER.map((name, k) => [name, k] as const))('sorted by %s', async (name, k) => {
      const wanted = ROWS.filter((_, i) => (i * (k + 1)) % 7 === 6).map(({ id }) => id);
      for (const list of shown) {
        const sql = `SELECT t.id, ${list} FROM ${from} ORDER BY ${inner}.${name} DESC, t.timestamp LIMIT ${String(LIMIT)}`;
        expect([list, await idsOf(sql)]).toEqual([list, wanted.slice(0, LIMIT)]);
      }
    });
  });
});
