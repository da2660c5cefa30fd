/** What a key with pins is answered where a query fails on a value: nothing that depends on the order of evaluation. */
import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDbEngine } from '../../packages/duckdb-engine/src/engine/engine';
import { EXECUTION_FAULTS, SEVERAL_CAN_FAIL } from '../../packages/duckdb-engine/src/contract/execution-faults';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';
import { Consumer, FIXTURE_END } from '../sandbox/consumer';

const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-faults-'));
let fenced: Consumer;
let plain: Consumer;
beforeAll(async () => {
  const open = (): ReturnType<typeof openDuckDbEngine> =>
    openDuckDbEngine({
      declared: LOG_SCHEMA,
      dataDir: join(__dirname, '../fixture'),
      cacheDir,
      now: FIXTURE_END,
      log: silentLog,
    });
  fenced = await Consumer.over(await open(), { fenced: true });
  plain = await Consumer.over(await open());
});
afterAll(async () => {
  await Promise.all([fenced.close(), plain.close()]);
  rmSync(cacheDir, { recursive: true });
});

const faultOf = (consumer: Consumer, sql: string): Promise<unknown> =>
  consumer.sql(sql).then(
    () => null,
    (error: unknown) => {
      const { message, details } = error as { message: string; details: Record<string, unknown> };
      return { message, ...details };
    },
  );

test('one expression that can fail: its kind, and its place in the text that was sent', async () => {
  const sql = "select id\nfrom edge_logs where div(1, if(id = '', 1, 0)) = 1";
  expect(await faultOf(fenced, sql)).toEqual({
    message: EXECUTION_FAULTS.division,
    line: 2,
    column: 22,
    near: "div(1, if(id = '', 1, 0))",
  });
});

const CAST = "cast(concat('x', id) as int64)";
const DIVISION = 'div(1, 0)';

test.each([
  ['side by side', `select ${CAST} as a, ${DIVISION} as b from edge_logs`],
  [
    'in subqueries',
    `select (select count(${CAST}) from edge_logs) as a, (select sum(${DIVISION}) from edge_logs) as b`,
  ],
  ['within each other', `select div(1, cast(if(id = '', 'x', '0') as int64)) as a from edge_logs`],
  ['an array with a NULL element', `select array_agg(nullif(id, id)) as a, ${DIVISION} as b from edge_logs`],
])('several, %s: one text, without a place', async (_where, sql) => {
  expect(await faultOf(fenced, sql)).toEqual({ message: SEVERAL_CAN_FAIL });
});

test('a key without pins learns the kind', async () => {
  expect(await faultOf(plain, `select ${CAST} as a, ${DIVISION} as b from edge_logs where id = ''`)).toBeNull();
  const fault = await faultOf(plain, `select ${CAST} as a, length(id) / 2 as b from edge_logs`);
  expect(fault).toMatchObject({ message: EXECUTION_FAULTS.cast });
});
