/**
 * DuckDB fetches wide columns late where rows are sorted and cut off. A field that is filtered or sorted by, of a record that is shown,
 * is the one that was asked for, whatever place it has in its record.
 */
import type { Engine } from '../../src/engines/contract';
import { DataFolder, FORMS, ndjson } from './data-folder';

const text = (name: string): object => ({ name, type: 'STRING' });
const record = (name: string, mode: string, fields: readonly object[]): object => ({
  name,
  type: 'RECORD',
  mode,
  fields,
});

const INNER = ['p0', 'p1', 'p2', 'p3', 'p4'];
const OUTER = ['host', 'other'];
const fieldsIn = (mode: string): object[] => [...OUTER.map(text), record('parsed', mode, INNER.map(text))];
const FIELDS = [
  text('id'),
  { name: 'timestamp', type: 'TIMESTAMP' },
  record('metadata', 'REPEATED', fieldsIn('REPEATED')),
  record('plain', 'NULLABLE', fieldsIn('NULLABLE')),
];

const COUNT = 4000;
/** The values of every field are of its own, and each of them comes in one row of seven. */
const valuesOf = (names: readonly string[], i: number): Record<string, string> =>
  Object.fromEntries(names.map((name, k) => [name, `${name} ${String((i * (k + 1)) % 7)}`]));
const ROWS = Array.from({ length: COUNT }, (_, i) => {
  const [outer, inner] = [valuesOf(OUTER, i), valuesOf(INNER, i)];
  const second = Math.floor(i / 60) % 60;
  const timestamp = `2026-01-01T${String(Math.floor(i / 3600)).padStart(2, '0')}:${String(second).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}Z`;
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

  async function idsOf(sql: string): Promise<string[]> {
    const query = {
      sql,
      parameters: [],
      fence: null,
      maxRows: 1000,
      hideBytes: false,
      maxBytesBilled: null,
      labels: {},
    };
    const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };
    const { rows } = await engine.run(query, limits);
    return rows.map((row) => (JSON.parse(row) as { id: string }).id);
  }

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
