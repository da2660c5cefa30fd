/** docs/sandbox.md, held to the gate: every example gets the verdict that it shows, every bound is the one in force. */
import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDuckDbEngine } from '../../packages/duckdb-engine/src/engine/engine';
import { MAX_STEPS, MAX_TEXT } from '../../packages/duckdb-engine/src/translate/context';
import { ServiceError } from '../../src/errors';
import { MOST_PATTERN_COST } from '../../packages/googlesql/src/pattern-cost';
import { QUERY_BOUNDS, TRANSLATED_BOUNDS } from '../../packages/googlesql/src/bounds';
import { MAX_COLUMNS, MAX_FIELDS } from '../../packages/googlesql/src/resolver/session';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';
import { Consumer, FIXTURE_END } from '../sandbox/consumer';

const PAGE = readFileSync(join(__dirname, '../../docs/sandbox.md'), 'utf8');

/** A line of SQL, what it is answered, and at which words. */
const EXAMPLES = [...PAGE.matchAll(/```sql\n([^]*?)```/g)]
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .map((line) => {
    const [, sql, verdict, near] = /^(.*) -- (\w+)(?: at (.*))?$/.exec(line) ?? [];
    if (sql === undefined || verdict === undefined) throw new Error(`No verdict: ${line}`);
    return { sql, verdict, near };
  });

describe('an example', () => {
  const folder = mkdtempSync(join(tmpdir(), 'logquay-page-'));
  let consumer: Consumer;

  beforeAll(async () => {
    const dataDir = join(__dirname, '../fixture');
    consumer = await Consumer.over(
      await openDuckDbEngine({ declared: LOG_SCHEMA, dataDir, cacheDir: folder, now: FIXTURE_END, log: silentLog }),
    );
  }, 60_000);

  afterAll(async () => {
    await consumer.close();
    rmSync(folder, { recursive: true });
  });

  test('has each kind of verdict', () => {
    const verdicts = new Set(EXAMPLES.map(({ verdict }) => verdict));
    expect([...verdicts].sort()).toEqual(['accepted', 'invalidQuery', 'sandboxViolation', 'unknownField']);
    expect(EXAMPLES.length).toBeGreaterThan(30);
  });

  test.each(EXAMPLES)('$sql is $verdict', async ({ sql, verdict, near }) => {
    const answer = await consumer.sql(sql).then(
      () => ({ verdict: 'accepted', near: undefined }),
      (error: unknown) => {
        if (!(error instanceof ServiceError)) throw error;
        return { verdict: error.reason, near: error.details.near };
      },
    );
    expect(answer).toEqual({ verdict, near });
  });
});

test('the bounds are those in force', () => {
  const section = PAGE.slice(PAGE.indexOf('## Bounds'), PAGE.indexOf('## The walls'));
  const rows = [...section.matchAll(/^\| ([^|]+?) +\| ([\d,]+)(?: (KiB))? +\|$/gm)];
  const values = rows.map(([, , digits = '', unit]) => Number(digits.replace(/,/g, '')) * (unit === 'KiB' ? 1024 : 1));
  const { textBytes, tokens, nesting, ctes, pipes, treeHeight } = QUERY_BOUNDS;
  expect(values).toEqual([
    textBytes,
    TRANSLATED_BOUNDS.textBytes,
    tokens,
    nesting,
    ctes,
    pipes,
    treeHeight,
    MAX_COLUMNS,
    MAX_FIELDS,
    MAX_STEPS,
    MAX_TEXT,
    MOST_PATTERN_COST,
  ]);
});
