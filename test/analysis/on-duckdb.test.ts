import { StoredAnalyses } from '../../src/analysis/stored-analyses';
import { DataFolder, ndjson } from '../../packages/duckdb-engine/test/data-folder';
import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { analysisSuite } from './analyse';
import { endpointOf, storedAnalysisSuite } from './stored';
import { within } from '../../packages/duckdb-engine/test/queries';

analysisSuite('the embedded engine', openFixture);
storedAnalysisSuite('the embedded engine', openFixture);

describe('Columns that rows of a table have made, where a query', () => {
  let folder: DataFolder;
  let analyses: StoredAnalyses;
  beforeAll(async () => {
    const declared = JSON.stringify({ declared: { fields: [{ name: 'id', type: 'STRING' }] } });
    const row = ndjson({ id: 'a', r: { b: 1 }, l: [{ c: 1 }] });
    folder = await DataFolder.make({ 'free.ndjson': row, 'declared.ndjson': row, 'schema.json': declared });
    analyses = new StoredAnalyses(await folder.open(), { columns: () => Promise.reject(new Error('No gate.')) });
  });
  afterAll(() => folder.remove());

  it.each([
    ['SELECT * FROM free', true],
    ['SELECT t.* EXCEPT (id) FROM declared JOIN free AS t USING (id)', true],
    ['WITH a AS (SELECT * FROM free), b AS (SELECT * FROM a) SELECT * FROM b', true],
    ['FROM free |> WHERE id IS NOT NULL', true],
    ['SELECT TO_JSON_STRING(t) AS row FROM free AS t', true],
    ['SELECT ARRAY(SELECT AS STRUCT * FROM free) AS all_rows', true],
    ['SELECT id, r, l FROM free UNION ALL SELECT * FROM free', true],
    ['SELECT * FROM `fre*`', true],
    ['WITH a AS (SELECT * FROM free) SELECT id, r FROM a', true],
    ['SELECT r.* FROM free', true],
    ['SELECT l FROM free', true],
    ['SELECT IF(id IS NULL, NULL, STRUCT(e AS one)) AS one FROM `fre*`, UNNEST(l) AS e', true],
    ['SELECT LENGTH(TO_JSON_STRING(r)) AS n FROM free', true],
    ["SELECT id FROM free WHERE FORMAT('%T', ARRAY(SELECT r)) = ''", true],
    ['WITH a AS (SELECT * FROM free) SELECT id, r.b, ARRAY_LENGTH(l) AS n, r IS NULL AS none FROM a', false],
    ['SELECT e.c FROM free, UNNEST(l) AS e', false],
    ['SELECT COUNT(*) AS n, ANY_VALUE(r.b) AS b FROM free', false],
    ['SELECT d.* FROM declared AS d JOIN free USING (id)', false],
    ['SELECT * FROM (SELECT id FROM free)', false],
  ])('is %s: seen %s', async (sql, isSeen) => {
    const { errors, showsInferred } = await analyses.of(endpointOf(sql), within(30_000));
    expect([errors, showsInferred]).toEqual([[], isSeen]);
  });
});
