/** Completions: each resolves where it is offered, and none comes from rows. */
import { analyseConsumer } from '../../src/consumer/analysis';
import { complete } from '../../src/consumer/completion/complete';
import type { Completion, Completions } from '../../src/consumer/completion/completion';
import { columnsOf } from '../../src/rest-schema';
import type { TableSchema } from '../../src/types';
import { fieldsOf } from '../../../duckdb-engine/test/fields';

const TABLES: readonly TableSchema[] = [
  {
    name: 'edge_logs',
    columns: columnsOf(
      fieldsOf(
        'id STRING, timestamp TIMESTAMP, event_message STRING, metadata RECORD*(level STRING, response RECORD*(status_code INT64, headers RECORD*(etag STRING))), select BOOL',
      ),
    ),
  },
  { name: 'auth_logs', columns: [...columnsOf(fieldsOf('id STRING')), { name: 'user id', type: { kind: 'STRING' } }] },
];
const PARAMETERS = [{ name: 'project', type: 'STRING' as const }];

interface Completed extends Completions {
  readonly text: string;
}

/** Completions at the `¦` of a text. */
function at(marked: string, language: 'sql' | 'lql' = 'sql'): Completed {
  const position = marked.indexOf('¦');
  const text = marked.replace('¦', '');
  return { ...complete({ language, text, position, tables: TABLES, parameters: PARAMETERS }), text };
}

const labels = ({ items }: Completions, ...kinds: Completion['kind'][]): string[] =>
  items.filter(({ kind }) => kinds.includes(kind)).map(({ label }) => label);

function applied({ text, span }: Completed, { insert, also }: Completion): string {
  const parts = [
    { at: span.start, end: span.end, insert },
    ...(also ? [{ at: also.at, end: also.at, insert: also.insert }] : []),
  ];
  return parts
    .sort((a, b) => b.at - a.at)
    .reduce((changed, part) => changed.slice(0, part.at) + part.insert + changed.slice(part.end), text);
}

const faultsOf = (text: string, language: 'sql' | 'lql'): string[] =>
  analyseConsumer({ language, text, tables: TABLES, parameters: PARAMETERS, now: 0n }).errors.map(
    (fault) => fault.message,
  );

describe('in SQL', () => {
  it('offers what is there, and nothing else', () => {
    expect(labels(at('SELECT ¦ FROM auth_logs'), 'column', 'field')).toEqual([
      'id',
      'user id',
      'auth_logs.id',
      'auth_logs.user id',
    ]);
    expect(labels(at('SELECT * FROM ¦'), 'table')).toEqual(['edge_logs', 'auth_logs']);
    expect(labels(at('WITH mine AS (SELECT 1 AS x) SELECT * FROM ¦'), 'table')).toEqual([
      'mine',
      'edge_logs',
      'auth_logs',
    ]);
    expect(labels(at('SELECT @¦ FROM edge_logs'), 'parameter')).toEqual(['project']);
    expect(labels(at('SELECT m.¦ FROM edge_logs CROSS JOIN UNNEST(metadata) AS m'), 'field')).toEqual([
      'level',
      'response',
    ]);
    expect(labels(at('SELECT 1 FROM edge_logs CROSS JOIN UNNEST(¦'), 'column', 'field')).toEqual(['metadata']);
    const counted = (later: string): string[] =>
      labels(at(`SELECT id AS k, COUNT(*) AS n FROM auth_logs GROUP BY k ${later}`), 'column');
    expect(counted('HAVING ¦ IS NOT NULL')).toEqual(['k', 'n', 'id']);
    expect(counted('ORDER BY MAX(¦)')).toEqual(['k', 'id', 'user id']);
  });

  it('offers a nested field with the joins that reach it', () => {
    const found = at('SELECT id, st¦ FROM edge_logs WHERE id IS NOT NULL');
    const field = found.items.find(({ label }) => label === 'metadata.response.status_code');
    if (field === undefined) throw new Error('It is not offered.');
    expect(field).toMatchObject({ kind: 'field', type: 'INT64', insert: 'r.status_code' });
    const text = applied(found, field);
    expect(text).toBe(
      'SELECT id, r.status_code FROM edge_logs CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.response) AS r WHERE id IS NOT NULL',
    );
    expect(faultsOf(text, 'sql')).toEqual([]);
  });

  it('goes on with texts that are no query yet', () => {
    for (const marked of [
      'SELECT COUNT(i¦ FROM edge_logs',
      'SELECT CASE WHEN i¦ FROM edge_logs',
      'SELECT CAST(i¦ FROM edge_logs',
    ])
      expect([marked, labels(at(marked), 'column')]).toEqual([marked, ['id', 'timestamp']]);
    expect(labels(at('SELECT * FROM edge_logs WHERE timestamp BETWEEN i¦'), 'column')).toContain('id');
    expect(labels(at('WITH a AS (SELECT i¦ FROM auth_logs'), 'column')).toEqual(['id', 'user id']);
  });

  it('offers keywords that may follow, and aggregates where there may be some', () => {
    expect(labels(at('¦'), 'keyword')).toEqual(['SELECT', 'FROM', 'WITH']);
    expect(labels(at('SELECT * FROM edge_logs ¦'), 'keyword')).toEqual(
      expect.arrayContaining(['WHERE', 'GROUP BY', 'LEFT JOIN']),
    );
    expect(labels(at('SELECT * FROM edge_logs ¦'), 'keyword')).not.toContain('THEN');
    expect(labels(at('SELECT cou¦ FROM edge_logs'), 'function')).toContain('COUNT');
    expect(labels(at('SELECT id FROM edge_logs WHERE cou¦'), 'function')).not.toContain('COUNT');
    expect(at('SELECT substr¦ FROM edge_logs').items.find(({ label }) => label === 'SUBSTR')?.detail).toMatch(
      /^SUBSTR\(STRING, INT64/,
    );
  });

  it('offers nothing within texts, comments and numbers', () => {
    for (const marked of ["SELECT 'i¦' FROM edge_logs", 'SELECT 1 -- i¦', 'SELECT /* i¦ */ 1', 'SELECT 1; ¦'])
      expect([marked, at(marked).items]).toEqual([marked, []]);
  });

  it('is bounded, whatever the text', () => {
    expect(at(`SELECT ¦${'('.repeat(3000)}`).items.length).toBeLessThanOrEqual(300);
    expect(at(`SELECT ${'x, '.repeat(10_000)}¦`).items).toEqual([]);
    expect(at(`${'CASE '.repeat(500)}¦`).items.length).toBeLessThanOrEqual(300);
  });
});

describe('in LQL', () => {
  it('knows the fields of the table that the line names', () => {
    expect(labels(at('f:auth_logs ¦', 'lql'), 'column', 'field')).toEqual(['id']);
    expect(labels(at('f:edge_logs m.st¦', 'lql'), 'field')).toEqual(['m.response.status_code']);
    expect(at('f:edge_logs "a ¦', 'lql').items).toEqual([]);
  });
});
