/**
 * Texts that repeat are stored with a dictionary, on whose values DuckDB evaluates a function of that one column at once: those
 * of other projects' rows are among them.
 */
import type { Engine } from '../../src/engines/contract';
import { Random } from '../sandbox/fuzz/random';
import { acceptedText, failingText, TEXT_KINDS } from '../tenants/data/value-kinds';
import { BY_KIND } from '../tenants/sql/fallible';
import { DataFolder, FORMS, ndjson } from './data-folder';

/** More than DuckDB works on at once, of a few values for each column. */
const ROWS = 6_000;
/** Different rows of each project. */
const DIFFERENT = 12;

const CASES = TEXT_KINDS.flatMap((kind) => BY_KIND[kind].map(([, , sql]) => sql.replaceAll('{c}', `t.${kind}`)));

const inWhere = (sql: string): string => `SELECT COUNT(*) AS n FROM logs AS t WHERE (${sql}) IS NOT NULL`;
const inSelect = (sql: string): string =>
  `SELECT COUNT(x) AS n FROM (SELECT TO_JSON_STRING(${sql}) AS x FROM logs AS t) AS d`;
const inUnion = (sql: string): string =>
  `SELECT COUNT(*) AS n FROM (SELECT * FROM logs UNION ALL SELECT * FROM logs) AS t WHERE (${sql}) IS NOT NULL`;
const ofRecord = (sql: string): string =>
  `SELECT COUNT(*) AS n FROM logs AS l, UNNEST(l.metadata) AS t WHERE (${sql}) IS NOT NULL`;
const inAggregate = (sql: string): string => `SELECT MAX(TO_JSON_STRING(${sql})) AS x FROM logs AS t`;
/** In arguments of a window and of UNNEST, and in a sort key. */
const inOthers = (sql: string): string =>
  `SELECT COUNT(x) AS n FROM (SELECT MAX(TO_JSON_STRING(${sql})) OVER () AS x FROM logs AS t, UNNEST([TO_JSON_STRING(${sql})]) ORDER BY TO_JSON_STRING(${sql}) LIMIT 5) AS d`;

const PLACES = [inWhere, inSelect, inUnion, ofRecord, inAggregate, inOthers];

describe.each(FORMS)('%s', (_form, options) => {
  let folder: DataFolder;
  let engine: Engine;
  beforeAll(async () => {
    const random = new Random(7);
    const valuesOf = (mine: boolean): object[] =>
      Array.from({ length: DIFFERENT }, () => {
        const texts = Object.fromEntries(
          TEXT_KINDS.map((kind) => [kind, mine ? acceptedText(kind, random) : failingText(kind, random)]),
        );
        return { project: mine ? 'mine' : 'other', ...texts, metadata: [texts] };
      });
    const [mine, others] = [valuesOf(true), valuesOf(false)];
    const texts = TEXT_KINDS.map((name) => ({ name, type: 'STRING' }));
    const metadata = { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: texts };
    const fields = [{ name: 'project', type: 'STRING' }, ...texts, metadata];
    folder = await DataFolder.make({
      'raw.ndjson': ndjson(
        ...Array.from({ length: ROWS }, (_, i) => (i % 3 === 0 ? mine : others)[Math.floor(i / 3) % DIFFERENT]!),
      ),
      'alone.ndjson': ndjson(...Array.from({ length: ROWS / 3 }, (_, i) => mine[i % DIFFERENT]!)),
      'schema.json': JSON.stringify({ raw: { fields }, alone: { fields } }),
    });
    engine = await folder.open(options);
  }, 300_000);
  afterAll(() => folder.remove());

  /** @param table `raw`, or `alone`: without other projects' rows */
  async function answer(table: string, consumer: string, fenced: boolean): Promise<string> {
    const stored = `WITH logs AS (SELECT * FROM ${table} WHERE project = 'mine')\n`;
    const sql = stored + consumer;
    const fence = fenced ? { consumer: { start: stored.length, end: sql.length }, instants: [] } : null;
    const limits = { deadline: performance.now() + 60_000, signal: new AbortController().signal };
    const query = { sql, parameters: [], fence, maxRows: 10, hideBytes: false, maxBytesBilled: null, labels: {} };
    return engine.run(query, limits).then(
      ({ rows }) => rows.join('\n'),
      (error: unknown) => `failed: ${(error as Error).message}`,
    );
  }

  test.each(CASES)('%s', async (sql) => {
    for (const place of PLACES) {
      expect(await answer('raw', place(sql), true)).toBe(await answer('alone', place(sql), true));
    }
  });

  const ENOUGH = 5;

  test('without the fence they differ', async () => {
    const differing: string[] = [];
    for (const sql of CASES) {
      const query = inUnion(sql);
      if ((await answer('raw', query, false)) !== (await answer('alone', query, false))) differing.push(sql);
      if (differing.length === ENOUGH) break;
    }
    expect(differing).toHaveLength(ENOUGH);
  }, 120_000);
});
