import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../src/errors';
import { LQL_CODES } from '../../packages/googlesql/src/lql/lql-error';
import { openLql } from '../../src/run/lql-text';
import { openDuckDbEngine } from '../../packages/duckdb-engine/src/engine/engine';
import { silentLog } from '../../packages/duckdb-engine/test/silent-log';
import { LOG_SCHEMA } from '../../src/engines/log-schema';
import { Consumer, FIXTURE_END } from '../sandbox/consumer';
import { DEFAULT_NOW } from './case-file';

const DOCS = readFileSync(join(__dirname, '..', '..', 'docs', 'lql.md'), 'utf8');
const [GUIDE = '', ERRORS = ''] = DOCS.split('\n## Errors\n');
const TABLES = ['edge_logs', 'auth_logs'];

/** The guide's examples leave the table out where its name is not the point. */
const translate = (text: string, tables = TABLES) => openLql(text, { tables, now: DEFAULT_NOW })?.translate(null);
const example = (text: string) => translate(/(^|\s)f:/.test(text) ? text : `f:edge_logs ${text}`);

/** The code in the first cell of each row of each table of the guide. */
const tableExamples = [...GUIDE.matchAll(/^\| `(.+?)` +\|/gm)].map(([, text = '']) => text.replaceAll('\\|', '|'));
const sqlExamples = [...GUIDE.matchAll(/```lql\n([^`]*?)\n```\n\n```sql\n(.*?)\n```/gs)].map(
  ([, text = '', sql = '']) => ({ text, sql }),
);
const errorRows = [...ERRORS.matchAll(/^\| `([a-z_]+)` +\|.*?\|(?: `([^|]+)`)? +\|$/gm)].map(([, code = '', text]) => ({
  code,
  text,
}));

describe('docs/lql.md', () => {
  test('has the examples that the tests below run', () => {
    expect([tableExamples.length, sqlExamples.length].every((count) => count >= 5)).toBe(true);
  });

  test.each(tableExamples)('%s is LQL', (text) => expect(example(text)?.sql).toMatch(/^SELECT /));

  test.each(sqlExamples)('$text is translated as shown', ({ text, sql }) => expect(example(text)?.sql).toBe(sql));

  test('has examples that find rows in the samples', async () => {
    const cacheDir = mkdtempSync(join(tmpdir(), 'logquay-lql-docs-'));
    const engine = await openDuckDbEngine({
      declared: LOG_SCHEMA,
      dataDir: null,
      cacheDir,
      now: FIXTURE_END,
      log: silentLog,
    });
    const consumer = await Consumer.over(engine);
    try {
      const examples = [...GUIDE.matchAll(/```lql\n([^`]*?)\n```/g)].map(([, text = '']) => text);
      expect(examples.length).toBeGreaterThan(4);
      for (const text of examples) {
        const lql = /(^|\s)f:/.test(text) ? text : `f:edge_logs ${text}`;
        const { rows } = await consumer.ask({ language: 'lql', text: lql });
        expect({ lql, found: rows.length > 0 }).toEqual({ lql, found: true });
      }
    } finally {
      await consumer.close();
      rmSync(cacheDir, { recursive: true });
    }
  }, 60_000);

  test('explains every code once and no other', () => {
    expect(errorRows.map(({ code }) => code).sort()).toEqual([...LQL_CODES].sort());
  });

  test.each(errorRows.filter(({ text }) => text !== undefined))('$text is $code', ({ code, text = '' }) => {
    let thrown: unknown;
    try {
      // Only the choice of the table needs several.
      translate(text, code === 'table_required' ? TABLES : TABLES.slice(0, 1));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ServiceError);
    expect(thrown).toMatchObject({ reason: 'invalidLql', details: { code } });
  });
});
