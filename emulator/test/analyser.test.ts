import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Analyser, type CatalogueDefinition } from '../src/analyser';
import { columnsOf, type TableField } from '../src/warehouse/schema';
import { caseFile, CASES, FIXTURE, test } from './harness';

/** The nine CTE tables, and beside them what no consumer may reach. */
function catalogue(): CatalogueDefinition {
  const schema = JSON.parse(readFileSync(join(FIXTURE, 'schema.json'), 'utf8')) as Record<
    string,
    { fields: TableField[] }
  >;
  const tables = Object.entries(schema).map(([raw, { fields }]) => {
    const name = raw.replace('raw_', '');
    return {
      fullName: name,
      paths: [[name]],
      columns: columnsOf(fields).filter((column) => column.name !== 'project'),
    };
  });
  const forbidden = {
    fullName: 'forbidden.billing_events',
    paths: [
      ['billing_events'],
      ['prod', 'billing_events'],
      ['acme-logs', 'prod', 'billing_events'],
      ['acme-logs.prod.billing_events'],
    ],
    columns: [{ name: 'id', type: { kind: 'STRING' as const } }],
  };
  return {
    tables: [...tables, forbidden],
    functions: [{ path: ['lib', 'send_away'], arguments: ['ANY'], result: { kind: 'STRING' } }],
    tableFunctions: [{ path: ['spill'], columns: [{ name: 'x', type: { kind: 'INT64' } }] }],
  };
}

let analyser: Analyser;
before(async () => {
  analyser = await Analyser.start(catalogue());
});
after(() => analyser.close());

const parameters = ['project', 'iso_timestamp_start', 'iso_timestamp_end'].map((name) => ({
  name,
  type: { kind: 'STRING' as const },
}));

async function tree(sql: string) {
  const analysis = await analyser.analyse(sql, { parameters });
  assert.ok(analysis.ok, JSON.stringify(analysis));
  return analysis.tree;
}

test('columns with their types', async () => {
  const { columns, statement } = await tree(
    'SELECT id, COUNT(*) AS n, [STRUCT(TRUE AS b, 1.5)] AS l FROM edge_logs GROUP BY id',
  );
  assert.equal(statement, 'query');
  assert.deepEqual(columns, [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'n', type: { kind: 'INT64' } },
    {
      name: 'l',
      type: {
        kind: 'ARRAY',
        element: {
          kind: 'STRUCT',
          fields: [
            { name: 'b', type: { kind: 'BOOL' } },
            { name: null, type: { kind: 'FLOAT64' } },
          ],
        },
      },
    },
  ]);
});

test('tables, functions, table functions and parameters that a text reads, in whatever corner', async () => {
  const found = await tree(`WITH unused AS (SELECT 1 FROM auth_logs)
    SELECT e.id, ARRAY(SELECT b.id FROM billing_events AS b WHERE b.id = @project) FROM edge_logs AS e
    WHERE EXISTS (SELECT 1 FROM spill()) AND lib.send_away(e.id) = UPPER('x')`);
  assert.deepEqual([...new Set(found.reads.map((read) => read.table))].sort(), [
    'auth_logs',
    'edge_logs',
    'forbidden.billing_events',
  ]);
  assert.deepEqual([...found.functions].sort(), ['$and', '$equal', 'lib.send_away', 'upper']);
  assert.deepEqual(found.others, ['table function spill']);
  assert.deepEqual([...found.parameters], [['project', { kind: 'STRING' }]]);
});

test('a forbidden table by each of its names, and a name that hides one', async () => {
  for (const name of [
    'billing_events',
    'prod.billing_events',
    '`acme-logs`.prod.billing_events',
    '`acme-logs.prod.billing_events`',
  ])
    assert.deepEqual(
      (await tree(`SELECT 1 FROM ${name}`)).reads.map((read) => read.table),
      ['forbidden.billing_events'],
    );
  const hidden = await tree('WITH billing_events AS (SELECT id FROM edge_logs) SELECT id FROM billing_events');
  assert.deepEqual(
    hidden.reads.map((read) => read.table),
    ['edge_logs'],
  );
});

test('where a table stands, in bytes, with its alias and the columns read', async () => {
  const sql = "SELECT 'ü', x.id FROM edge_logs AS x";
  const [read] = (await tree(sql)).reads;
  assert.equal(Buffer.from(sql).toString('utf8', read?.range?.start, read?.range?.end), 'edge_logs');
  assert.deepEqual([read?.alias, read?.columns], ['x', [1]]);
});

test('refusals: syntax or meaning, and where', async () => {
  const refusal = async (sql: string) => {
    const analysis = await analyser.analyse(sql, { parameters });
    return analysis.ok ? null : [analysis.refusal.syntax, analysis.refusal.line, analysis.refusal.column];
  };
  assert.deepEqual(await refusal('SELECT 1,\n  FROM'), [true, 2, 7]);
  assert.deepEqual(await refusal('SELECT nope'), [false, 1, 8]);
  assert.deepEqual(await refusal('SELECT @nope'), [false, 1, 8]);
  assert.deepEqual(await refusal('SELECT 1; SELECT 2'), [true, 1, 11]);
  assert.deepEqual(await refusal('SELECT\t@nope'), [false, 1, 9]);
  assert.equal(await refusal('SELECT 1;'), null);
});

test('parsing alone asks nothing about names', async () => {
  assert.equal(await analyser.parse('SELECT nope(x.y) FROM away.place'), null);
  assert.deepEqual((await analyser.parse('SELECT 1 FRO'))?.syntax ?? null, null);
  assert.equal((await analyser.parse('SELECT (1'))?.line, 1);
});

test('what BigQuery has and what it does not', async () => {
  for (const sql of [
    'SELECT id FROM edge_logs GROUP BY ROLLUP(id)',
    'SELECT id, COUNT(*) FROM edge_logs GROUP BY GROUPING SETS (id, ())',
    'SELECT CAST(1 AS BIGINT), CAST(1 AS NUMERIC(5, 2)), INT64(JSON "1"), JSON_ARRAY(1), RANGE(DATE "2020-01-01", NULL)',
    'SELECT id FROM edge_logs QUALIFY ROW_NUMBER() OVER (ORDER BY timestamp) = 1',
    'SELECT * FROM edge_logs TABLESAMPLE SYSTEM (10 PERCENT)',
  ])
    assert.ok((await analyser.analyse(sql)).ok, sql);
  for (const sql of [
    'SELECT ZEROIFNULL(1)',
    'SELECT ARRAY_FIND([1], e -> e = 1)',
    'SELECT CAST(1 AS INT32)',
    'SELECT PI()',
  ])
    assert.ok(!(await analyser.analyse(sql)).ok, sql);
});

test('all log queries and all accepted examples are read, many at a time', async () => {
  const sandbox = JSON.parse(readFileSync(join(CASES, 'sandbox.json'), 'utf8')) as {
    id: string;
    kind: string;
    consumer: string;
  }[];
  const accepted = sandbox.filter(({ id, kind }) => kind === 'accept' && id !== 'acc-column-session-user');
  const texts = [
    ...accepted.map(({ consumer }) => consumer),
    ...caseFile('log-queries.jsonl').map((entry) => String(entry['sql'])),
  ];
  const answers = await analyser.analyseAll(texts, { parameters });
  assert.equal(answers.length, texts.length);
  answers.forEach((answer, i) => {
    assert.ok(answer.ok, `${texts[i]}: ${JSON.stringify(answer)}`);
    assert.ok(
      answer.tree.reads.every((read) => !read.table.startsWith('forbidden')),
      texts[i],
    );
  });
});

test('an engine that dies is started again, its catalogue with it', async () => {
  const own = await Analyser.start(catalogue());
  try {
    const { pid } = own;
    process.kill(pid, 'SIGKILL');
    const answers = await Promise.all(Array.from({ length: 8 }, () => own.analyse('SELECT id FROM edge_logs')));
    // A call that the death met is refused; from then on all is as before.
    assert.ok(answers.length === 8);
    assert.ok((await own.analyse('SELECT id FROM edge_logs')).ok);
    assert.notEqual(own.pid, pid);
  } finally {
    await own.close();
  }
});

test('texts that would hurt a lesser parser', async () => {
  const deep = `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}`;
  for (const sql of [
    deep,
    'SELECT 1 -- \0',
    'SELECT "\ud800"',
    '',
    ' '.repeat(100_000),
    `SELECT '${'x'.repeat(1_000_000)}'`,
  ])
    await analyser.analyse(sql);
  assert.ok((await analyser.analyse('SELECT 1')).ok);
});
