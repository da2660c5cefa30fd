import assert from 'node:assert/strict';
import { Harness, test } from './harness';

const eager = new Harness({ eager: true });
const ordered = new Harness();

/** Rows of one project, and a condition that holds on rows of another alone. */
const ROWS = `e AS (SELECT id, event_message, metadata, project = 'default' AS shown FROM raw_edge_logs WHERE project = 'default')`;
const HIDDEN = `STRPOS(event_message, 'abcdefghijklmnopqrst') > 0`;
const FAILS = `DIV(1, IF(${HIDDEN}, 0, 1)) = 1`;

const moved = {
  WHERE: `SELECT COUNT(*) FROM e WHERE ${FAILS}`,
  'WHERE of a derived table': `SELECT COUNT(*) FROM (SELECT event_message FROM e WHERE id IS NOT NULL) WHERE ${FAILS}`,
  'select list': `SELECT ${FAILS} FROM e`,
  'a column that WHERE reads': `SELECT COUNT(*) FROM (SELECT ${FAILS} AS x FROM e) WHERE x`,
  'JOIN ON': `SELECT COUNT(*) FROM e JOIN (SELECT id AS other FROM e) ON id = other AND ${FAILS}`,
  HAVING: `SELECT event_message, COUNT(*) FROM e GROUP BY event_message HAVING ${FAILS}`,
  QUALIFY: `SELECT id FROM e QUALIFY ROW_NUMBER() OVER (ORDER BY id) > 0 AND ${FAILS}`,
  'an aggregate': `SELECT COUNTIF(${FAILS}) FROM e`,
  'an array of the row': `SELECT COUNT(*) FROM e, UNNEST(metadata) AS m WHERE ${FAILS} AND m IS NOT NULL`,
  'a subquery': `SELECT COUNT(*) FROM e WHERE EXISTS (SELECT 1 FROM UNNEST(metadata) AS m WHERE ${FAILS})`,
  'a branch of UNION': `SELECT COUNT(*) FROM (SELECT event_message FROM e UNION ALL SELECT 'x') WHERE ${FAILS}`,
};

for (const [place, query] of Object.entries(moved)) {
  test(`${place} is evaluated before the filter below it, and only with --eager`, async () => {
    const sql = `WITH ${ROWS} ${query}`;
    assert.equal((await ordered.query(sql)).status, 200);
    const { status, json } = await eager.query(sql);
    assert.equal(status, 400);
    assert.match(String(json['error']?.['message']), /division by zero/);
  });
}

test('a branch of IF or CASE is not evaluated where the condition does not take it', async () => {
  const branches = [
    `IF(shown, ${FAILS}, FALSE)`,
    `CASE WHEN shown THEN ${FAILS} END`,
    `COALESCE(NOT shown, FALSE) OR TRUE`,
  ];
  for (const branch of branches) {
    const rows = await eager.rows(`WITH ${ROWS} SELECT COUNT(*) FROM e WHERE ${branch}`);
    assert.deepEqual(rows, [['78']]);
  }
});

test('what stands above a LIMIT is not moved', async () => {
  assert.equal(
    (await eager.query(`WITH ${ROWS} SELECT ${FAILS} FROM (SELECT event_message FROM e LIMIT 3)`)).status,
    200,
  );
});

test('a dry run reports the text as it was sent', async () => {
  const { status } = await eager.query(`WITH ${ROWS} SELECT COUNT(*) FROM e WHERE ${FAILS}`, { dryRun: true });
  assert.equal(status, 200);
});
